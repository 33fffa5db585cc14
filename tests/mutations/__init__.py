"""Edits of recorded bundles without any key, and hostile files: what the verifier makes of each."""
