"""The terminal: progress while a debate runs, and the page of its result.

Texts of documents, callers and models are cleaned before they are shown (`service.cli.terminal_text`), and enter rich
as text, never as markup.
"""
