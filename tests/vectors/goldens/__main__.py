"""Write every golden anew, on purpose: ``python -m tests.vectors.goldens``."""

from __future__ import annotations

import sys

from tests.vectors.goldens import registry, write

if __name__ == "__main__":
    try:
        changed = write(registry())
    except ValueError as refused:
        sys.exit(str(refused))
    sys.stdout.write("".join(f"{name}\n" for name in changed) or "nothing has changed\n")
