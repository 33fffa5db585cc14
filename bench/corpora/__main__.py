"""Print the open items of the named corpora, one JSON object a line: `python -m bench.corpora critiques`."""

from __future__ import annotations

import sys

import msgspec

from bench.corpora import CORPORA, shown

for name in sys.argv[1:] or CORPORA:
    for item in shown(CORPORA[name]()):
        sys.stdout.write(msgspec.json.encode(item).decode() + "\n")
