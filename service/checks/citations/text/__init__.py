"""Reading a text: folding, words, outline and marks."""
