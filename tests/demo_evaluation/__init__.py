"""Simulated models with known faults, measured over the shipped sets (`make demo-evaluation`)."""
