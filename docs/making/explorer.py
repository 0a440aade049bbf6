"""The explorer, written into the built site by the command that readers have too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from fedbounds import main
from figures.explorer.opening import fragment

PAGE = "_static/explorer.html"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def link(name: str) -> str:
    """The page open at one bound, from the root of the site."""
    return PAGE + fragment(name)


def write(app: Sphinx, error: Exception | None) -> None:
    """The page, which a page holds in a frame."""
    if error is None and app.builder.format == "html":
        status = main(["explore", "-o", str(Path(app.outdir) / PAGE)])
        if status:
            logging.getLogger(__name__).warning("fedbounds explore wrote no page")
