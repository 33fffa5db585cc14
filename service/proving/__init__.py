"""What makes records provable: sequencer, signing, witnesses, self-check."""
