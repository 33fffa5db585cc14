"""Records become provable: sequencer, signing, witnesses, self-check."""
