"""Recompute a bundle or an export from nothing but its bytes and pinned keys. Pure: no I/O, no clock, no database.

It trusts nothing that is stored: every hash, proof, signature, request, verdict, charge and move is computed again from
what it should follow from, and compared. It shares with the writer the definitions alone (formats, rules, prices,
engines), none of the code that writes. `docs/verification.md` says of each step what it proves and what it does not.
"""
