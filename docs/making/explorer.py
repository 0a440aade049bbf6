"""The explorer, written into the built site by the command that readers have too, and the curves of single bounds."""

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
    """The page open at one bound, from the root of the site."""
    return PAGE + fragment(name)


def frame(name: str, root: str) -> list[str]:
    """A bound with its sliders and its curve as part of a page, from which ``root`` leads to the root of the site."""
    return [
        "```{raw} html",
        f'<iframe name="curve" title="The bound, with sliders" src="{root}{ALONE}{fragment(name)}" loading="lazy" '
        'sandbox="allow-scripts" width="100%" height="700" style="border:0"></iframe>',
        "```",
        "",
    ]


def write(app: Sphinx, error: Exception | None) -> None:
    """The pages, of which one holds the whole catalogue and the other is shown in frames."""
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / ALONE).write_text(page(entries(()), alone=True), encoding="utf-8")
        status = main(["explore", "-o", str(Path(app.outdir) / PAGE)])
        if status:
            logging.getLogger(__name__).warning("fedbounds explore wrote no page")
