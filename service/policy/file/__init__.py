"""The policy file as it is read: its lines, and what depends on this machine or on addresses."""
