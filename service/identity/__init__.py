"""Who calls, and what they may do: callers, roles, credentials."""
