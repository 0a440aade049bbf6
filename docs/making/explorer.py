"""The explorer, written into the built site by the command that readers have too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from fedbounds import main


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx, error: Exception | None) -> None:
    """``_static/explorer.html``, which a page holds in a frame."""
    if error is None and app.builder.format == "html":
        status = main(["explore", "-o", str(Path(app.outdir) / "_static" / "explorer.html")])
        if status:
            logging.getLogger(__name__).warning("fedbounds explore wrote no page")
