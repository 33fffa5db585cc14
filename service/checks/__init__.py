"""The checks, pure: citations, coverage, consensus, critique, overlap, injection, question type, output schema."""
