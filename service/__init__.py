"""Effective challenge for high-stakes answers, under a cost ceiling, with a record that can be verified."""

__version__ = "0.1.0"
