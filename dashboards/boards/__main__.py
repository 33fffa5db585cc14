"""Write every dashboard: `python -m dashboards.boards` or `make dashboards`."""

from __future__ import annotations

import sys

from dashboards.boards.writing import FOLDER, texts

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, "utf-8")
        sys.stdout.write(f"wrote dashboards/grafana/{name}\n")
