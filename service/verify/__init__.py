"""Verification of a bundle or an export from its bytes and pinned keys alone. Pure: no I/O, no clock, no database.

The verifier trusts no stored value. It recomputes every hash, proof, signature, request, verdict, charge and move from
its sources and compares. It shares definitions with the writer (formats, rules, prices, engines), but no code that
writes. `docs/verification.md` says what each step proves and what it does not.
"""
