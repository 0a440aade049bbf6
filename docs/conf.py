"""The documentation site: ``make docs`` builds it; nothing it shows is loaded from a network."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

project = "fedbounds"
version = release = installed("fedbounds")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.making.mathml",
    "docs.making.reference",
    "docs.making.explorer",
    "docs.making.offline",  # after the explorer, which it looks at too
]
exclude_patterns = ["_build", "reference/parts", "reference/sessions"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other libraries, whose pages lie elsewhere
autodoc_typehints_format = "short"
maximum_signature_line_length = 80
python_display_short_literal_types = True

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "fedbounds"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("copy.js", {"defer": "defer"})]
html_copy_source = False
html_use_index = False  # one page with every entry; the search field knows them all
html_domain_indices = False
html_show_copyright = False
html_show_sphinx = False
html_show_search_summary = False  # read from pages, which a browser refuses to a site on disk
