"""Integrity of the audit log, pure: records and their hashes."""
