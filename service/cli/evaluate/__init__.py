"""``gainsay evaluate``: measuring the challenge."""
