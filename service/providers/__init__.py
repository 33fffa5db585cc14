"""Vendors' wire formats: a port, one adapter for each wire, and their common parts."""
