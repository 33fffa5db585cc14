"""A recorded debate as the JSON of its result."""
