"""The reference, written from the catalogues before Sphinx reads its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.display import progress_message

from bounds.papers import PAPERS
from figures.catalogue import FILES
from paper_checks.audit.reporting import Record

from . import algorithm_pages, bound_pages, claim_pages, command_page, figure_pages
from .text import page

FOLDER = "reference"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", renew)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def renew(app: Sphinx) -> None:
    """Write the pages that changed, so that Sphinx reads only these again."""
    with progress_message("the audit"):
        found = claim_pages.verdicts()
    with progress_message("the reference"):
        write(Path(app.srcdir) / FOLDER, found)


def write(folder: Path, found: Sequence[Record]) -> None:
    """The reference into ``folder``; pages of an earlier one that are no more are removed."""
    for part in ("bounds", "claims", "figures"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    written = pages(folder, found)
    for name, text in written.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in written:
            path.unlink()


def pages(folder: Path, found: Sequence[Record]) -> dict[str, str]:
    """Every page by its name."""
    bounds = {f"bounds/{p.key}.md": bound_pages.of_paper(p, found) for p in PAPERS.values()}
    claims = {f"claims/{p.key}.md": claim_pages.of_paper(p, found) for p in PAPERS.values()}
    figures = {f"figures/{paper}.md": figure_pages.of_paper(paper, folder / "figures") for paper in FILES}
    others = {"algorithms.md": algorithm_pages.algorithms(), "command.md": command_page.command()}
    indices = {
        "bounds/index.md": _index("Bounds", "The card of every bound of the catalogue.", bounds),
        "claims/index.md": _index("Claims", "\n".join(claim_pages.overview(found)), claims),
        "figures/index.md": _index("Figures and tables", figure_pages.gallery(), figures),
    }
    whole = {**bounds, **claims, **figures, **others, **indices}
    said = "Written from the catalogues when this site was built."
    return {**whole, "index.md": _index("Reference", said, [*indices, *others])}


def _index(title: str, words: str, below: Mapping[str, str] | Sequence[str]) -> str:
    """A page that lists others; names are given from the reference's folder."""
    names = [name if title == "Reference" else name.partition("/")[2] for name in below]
    return page(f"# {title}", words, ["```{toctree}", ":maxdepth: 1", "", *names, "```"])
