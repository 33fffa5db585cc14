"""A debate being run: worker, leases, runner, state, attempt, backoff."""
