"""What runs a debate: worker, leases, runner, state, attempts, backoff."""
