"""How Sphinx makes the site of the docs: the files stay as a code host shows them, and nothing comes from outside."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from docs.site.fences import sources  # noqa: E402
from service import __version__  # noqa: E402 - Sphinx starts this file without the repository on its path

project = "Gainsay"
version = release = __version__
root_doc = "README"
include_patterns = [page.relative_to(ROOT).as_posix() for page in sources()]
extensions = ["myst_parser", "docs.site.navigation", "docs.site.access", "docs.site.checked"]

myst_heading_anchors = 6  # with the anchors of a code host
suppress_warnings = ["misc.highlighting_failure"]  # shortened JSON has no colours, which is no fault
nitpicky = True

html_theme = "furo"
html_title = f"Gainsay {version}"
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["index.html"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
