"""The forms in which a report is handed out, and the sizes of paper on which it is printed."""

from __future__ import annotations

from typing import Literal, get_args

Form = Literal["markdown", "html", "pdf"]
Paper = Literal["a4", "letter"]
PAPERS: tuple[Paper, ...] = get_args(Paper)
