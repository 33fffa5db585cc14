"""The site of the docs: how Sphinx makes it, and what is checked of it."""
