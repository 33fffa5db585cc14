"""Known truths, simulated many times and put through scoring and statistics: how often is what is concluded wrong."""
