"""What code finds, pure: citations, coverage, consensus, critique, overlap, injection, output schema."""
