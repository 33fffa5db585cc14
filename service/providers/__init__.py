"""Vendors' wire formats, and the models that need no network."""
