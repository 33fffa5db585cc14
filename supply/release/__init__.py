"""Makes a release: refuses what is not ready, builds every part twice the same, signs the checksums."""
