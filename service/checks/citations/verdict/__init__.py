"""Whether a difference matters: changes, marks, negations, location."""
