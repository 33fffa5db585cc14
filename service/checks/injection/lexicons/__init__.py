"""Words by concept, a module for each language, and one for what all of them share."""
