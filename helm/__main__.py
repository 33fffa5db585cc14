"""Write what the chart has from elsewhere: `python -m helm` or `make chart`."""

from __future__ import annotations

import sys

from helm.written import CHART, texts

if __name__ == "__main__":
    for name, text in texts().items():
        place = CHART / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        sys.stdout.write(f"wrote helm/gainsay/{name}\n")
