"""Measuring whether the challenge is any good."""
