"""Write the reference from the catalogues, by ``templates``, before Sphinx reads its sources."""

from __future__ import annotations

import inspect
import re
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sphinx.application import Sphinx
from sphinx.util.display import progress_message

import fedbounds
from bounds.assumptions import ASSUMPTIONS, follows
from bounds.catalog import BOUNDS
from bounds.papers import PAPERS
from bounds.points import POINTS
from bounds.scenario_values import QUANTITIES
from bounds.showing import cards, printing
from bounds.showing.verb_table import VERBS
from empirics.algorithms import ALGORITHMS
from figures.catalogue import artefact, BY_PAPER, NAMES
from figures.explorer import optima, verdicts
from figures.writing import notes
from paper_checks.audit.records import OF_PAPER, OURS
from paper_checks.audit.running import CLAIMS, REVIEWS
from paper_checks.comparing.audit_status import AUDIT_STATUS

from . import claim_report, explorer, facts, pictures, text

FOLDER = "reference"
FENCED = re.compile(r"(^```.*?^```$)|\n{3,}", re.MULTILINE | re.DOTALL)
"""A code block (group 1), which is kept, or more than one empty line."""


def _environment() -> Environment:
    """The Jinja environment with the catalogues, functions and filters that templates use."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for module in (claim_report, facts, pictures):
        environment.globals.update({name: item for name, item in vars(module).items() if not name.startswith("_")})
    environment.globals |= {
        "ALGORITHMS": ALGORITHMS, "ASSUMPTIONS": ASSUMPTIONS, "AUDIT_STATUS": AUDIT_STATUS, "BOUNDS": BOUNDS,
        "BREAK": text.BREAK, "CLAIMS": CLAIMS, "BY_PAPER": BY_PAPER,
        "OF_PAPER": OF_PAPER, "OURS": OURS,
        "PAPERS": PAPERS, "POINTS": POINTS, "QUANTITIES": QUANTITIES, "REVIEWS": REVIEWS, "VERBS": VERBS,
        "about_claim": verdicts.about, "artefact": artefact, "as_json": cards.as_json, "derived": optima.derived,
        "curve": explorer.curve, "explorer_link": explorer.link, "follows": follows, "latex": printing.latex,
        "latex_parts": cards.latex_parts, "letters_of": cards.letters_of, "notes": notes, "page_of": text.page_of,
        "public": lambda name: getattr(fedbounds, name), "stated": optima.stated, "words": printing.words,
    }  # fmt: skip
    environment.filters |= {
        "cell_math": text.cell_math, "counted": text.counted, "docstring": text.docstring, "e": escape,
        "fields_of": facts.fields_of, "first_paragraph": text.first_paragraph, "plain": text.plain,
        "reach": facts.reach, "repr": repr, "values": lambda found: list(found.values()),
    }  # fmt: skip
    environment.tests |= {"assuming": facts.needs, "class": inspect.isclass, "drawn": pictures.drawn}
    return environment


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", renew)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def renew(app: Sphinx) -> None:
    """Write the pages that changed, so that Sphinx reads only these again."""
    with progress_message("the reference"):
        write(Path(app.srcdir) / FOLDER)


def write(folder: Path) -> None:
    """Write the reference into ``folder`` and remove pages of an earlier build that no longer exist."""
    written = pages()
    for name, words in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != words:
            path.write_text(words, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in written:
            path.unlink()
    pictures.write(folder)


def pages() -> dict[str, str]:
    """The text of every page by name; hand-written pages include those in ``parts``."""
    pages_by_name: dict[str, str] = {}
    environment = _environment()

    def add(page: str, template: str, **context: Any) -> None:
        words = environment.get_template(f"{template}.jinja").render(context)
        pages_by_name[f"{page}.md"] = FENCED.sub(lambda m: m[1] or "\n\n", words).strip("\n") + "\n"

    for key, paper in PAPERS.items():
        add(f"bounds/{key}", "bounds_of_paper", paper=paper)
        add(f"assumptions/{key}", "assumptions_of_paper", paper=paper)
        add(f"evidence/{key}", "evidence_of_paper", paper=paper)
        add(f"claims/{key}", "claims_of_paper", paper=paper)
        add(f"claims/{key}_review", "claims_review", paper=paper)
        for file, (title, entries) in claim_report.groups(key).items():
            add(f"claims/{key}/{file}", "claims", paper=paper, title=title, entries=entries)
    for name, bound in BOUNDS.items():
        add(f"bounds/{text.page_of(name, '')[:-1]}", "bound", bound=bound, paper=PAPERS[bound.source.paper])
    for name in NAMES:
        add(f"figures/{text.page_of(name, '')[:-1]}", "figure", name=name)
    for name, made in ALGORITHMS.items():
        add(f"algorithms/{name}", "algorithm", name=name, made=made, parameters=inspect.signature(made).parameters)
    for name in (*facts.PYTHON_VERBS, *facts.PYTHON_OBJECTS):
        add(f"python/{name}", "python_name", name=name)
    for name in VERBS:
        add(f"command/{name}", "command", name=name)
    for file in facts.GROUPS:
        add(f"symbols/{file}", "symbols_of_group", file=file)
    titles = {file: title for file, (title, _) in pictures.notebook_parts().items() if file}
    for file, title in titles.items():
        add(f"notebook/{file}", "notebook_part", file=file, title=title)
    for group in BY_PAPER:
        add(f"figures/{group}", "figures_of_paper", paper=group)
    for name in ("counted", "found", "shelf"):
        add(f"parts/{name}", name)
    listed = {
        "which": "which", "best": "best", "symbols/index": "symbols", "assumptions/index": "assumptions",
        "evidence/index": "evidence", "bounds/index": "bounds", "claims/index": "claims_index",
        "figures/index": "figures", "algorithms/index": "algorithms", "notebook/index": "notebook",
        "python/index": "python", "command/index": "commands",
    }  # fmt: skip
    for name, template in listed.items():
        add(name, template, titles=titles, shown=facts.theorems())
    add("index", "index", below=[f"{name}.md" for name in listed])
    return pages_by_name
