"""The reference, written from the catalogues before Sphinx reads its sources."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.display import progress_message

from bounds.catalog import BOUNDS
from bounds.papers import PAPERS
from bounds.showing.verbs import VERBS
from empirics.algorithms import ALGORITHMS
from figures.catalogue import FILES, NAMES

from . import (
    algorithm_pages,
    assumption_pages,
    best_page,
    bound_pages,
    claim_pages,
    command_page,
    evidence_pages,
    figure_pages,
    landing,
    notebook_pages,
    python_pages,
    session_pictures,
    symbol_pages,
)
from .text import page

FOLDER = "reference"
PARTS = "parts"
"""Pieces that pages written by hand include, no pages themselves."""


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", renew)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def renew(app: Sphinx) -> None:
    """Write the pages that changed, so that Sphinx reads only these again."""
    with progress_message("the reference"):
        write(Path(app.srcdir) / FOLDER)


def write(folder: Path) -> None:
    """The reference into ``folder``; pages of an earlier one that are no more are removed."""
    written = pages()
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in written:
            path.unlink()
    figure_pages.pictures(folder / "figures")
    notebook_pages.pictures(folder / "notebook")
    session_pictures.pictures(folder / "sessions")


def pages() -> dict[str, str]:
    """Every page by its name."""
    bounds = {f"bounds/{p.key}.md": bound_pages.of_paper(p) for p in PAPERS.values()}
    claims = {f"claims/{p.key}.md": claim_pages.of_paper(p) for p in PAPERS.values()}
    figures = {f"figures/{paper}.md": figure_pages.of_paper(paper) for paper in FILES}
    indices = {
        "bounds/index.md": _index("Bounds", "A page for every bound of the catalogue, by paper.", bounds),
        "claims/index.md": _index("Claims", "\n".join(claim_pages.overview()), claims),
        "figures/index.md": _index("Figures and tables", figure_pages.gallery(), figures),
        "algorithms/index.md": algorithm_pages.algorithms(),
        "notebook/index.md": notebook_pages.notebook(),
        "python/index.md": python_pages.python(),
        "command/index.md": command_page.command(),
    }
    finding = {
        "which.md": assumption_pages.which(),
        "best.md": best_page.best(),
        "symbols/index.md": symbol_pages.overview(),
        "assumptions/index.md": assumption_pages.overview(),
        "evidence/index.md": evidence_pages.overview(),
    }
    tables = {
        **{f"symbols/{file}.md": symbol_pages.of_group(file) for file in symbol_pages.GROUPS},
        **{f"assumptions/{p.key}.md": assumption_pages.of_paper(p) for p in PAPERS.values()},
        **{f"evidence/{p.key}.md": evidence_pages.of_paper(p) for p in PAPERS.values()},
    }
    said = "Written from the catalogues when this site was built."
    single = {
        **{f"bounds/{bound_pages.path(name, '')}": bound_pages.of_bound(bound) for name, bound in BOUNDS.items()},
        **{
            f"claims/{p.key}/{file}.md": claim_pages.of_group(p, file)
            for p in PAPERS.values()
            for file in claim_pages.groups(p.key)
        },
        **{f"claims/{p.key}_review.md": claim_pages.review_of(p) for p in PAPERS.values()},
        **{f"figures/{figure_pages.page_of(name)}": figure_pages.of_figure(name) for name in NAMES},
        **{f"algorithms/{name}.md": algorithm_pages.of_algorithm(name) for name in ALGORITHMS},
        **{f"python/{name}.md": python_pages.of_name(name) for name in (*python_pages.VERBS, *python_pages.OBJECTS)},
        **{f"notebook/{part}.md": notebook_pages.of_part(part) for part in notebook_pages.parts() if part},
        **{f"command/{verb}.md": command_page.of_verb(verb) for verb in VERBS},
    }
    parts = {f"{PARTS}/{name}": text for name, text in landing.parts().items()}
    return {
        **bounds,
        **claims,
        **figures,
        **indices,
        **finding,
        **tables,
        **single,
        **parts,
        "index.md": _index("Reference", said, [*finding, *indices]),
    }


def _index(title: str, words: str, below: Iterable[str]) -> str:
    """A page that lists others; names are given from the reference's folder."""
    names = [name if title == "Reference" else name.partition("/")[2] for name in below]
    return page(f"# {title}", words, ["```{toctree}", ":maxdepth: 1", "", *names, "```"])
