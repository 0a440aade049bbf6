"""Write the explorer, as ``fedbounds explore`` makes it, and the curves of single bounds into the built site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from fedbounds import main
from figures.explorer.command import entries
from figures.explorer.opening import fragment
from figures.explorer.page import page

PAGE, ALONE = "_static/explorer.html", "_static/bounds.html"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def link(name: str) -> str:
    """The link, from the root of the site, that opens the explorer at one bound."""
    return PAGE + fragment(name)


def curve(name: str) -> str:
    """The link, from the root of the site, to the curve of one bound with sliders, for a frame."""
    return ALONE + fragment(name)


def write(app: Sphinx, error: Exception | None) -> None:
    """Write both pages: the explorer of the whole catalogue, and the page that is shown in frames."""
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / ALONE).write_text(page(entries(()), alone=True), encoding="utf-8")
        status = main(["explore", "-o", str(Path(app.outdir) / PAGE)])
        if status:
            logging.getLogger(__name__).warning("fedbounds explore wrote no page")
