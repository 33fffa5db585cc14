"""What a reader sees on a terminal: progress while a debate runs, and the page that tells what it came to.

Texts of documents, callers and models are cleaned before they are shown (`service.cli.terminal_text`), and enter rich
as text, never as markup.
"""
