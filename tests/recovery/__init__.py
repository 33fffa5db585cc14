"""Known truths, simulated many times, and put through scoring and statistics: what is concluded, and how often wrongly."""
