"""How a text is read: folded, cut into words, its outline and marks."""
