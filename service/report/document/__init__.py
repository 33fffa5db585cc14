"""A result as a document: HTML, PDF, Markdown."""
