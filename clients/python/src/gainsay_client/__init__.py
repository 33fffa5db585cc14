"""The client of Gainsay."""

__version__ = "0.1.0"
