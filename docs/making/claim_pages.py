"""The reference of claims: every verdict with its evidence, from the audit's own report."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from bounds.papers import Paper
from paper_checks.audit.reporting import Record, records
from paper_checks.audit.reporting.text import page_of, tally
from paper_checks.audit.running import audit, CLAIMS, REVIEWS

from .text import slug

REPORT = "FEDBOUNDS_AUDIT"
"""Names the ``report.json`` of an audit that has just been made; without it, the build makes one."""


def verdicts() -> list[Record]:
    """The records of the audit, which is run once per build at most."""
    given = os.environ.get(REPORT)
    if given:
        return [Record(**told) for told in json.loads(Path(given).read_text(encoding="utf-8"))]
    return records(audit([claim for claim in CLAIMS.values() if not claim.deep]))


def of_paper(paper: Paper, found: Sequence[Record]) -> str:
    """The page of one paper: its headings moved up, the claims left out of the list beside the page."""
    told = "\n".join(page_of(paper.key, [r for r in found if r.paper == paper.key], REVIEWS[paper.key]))
    told = told.replace(f"# {paper.short}: {paper.title}", f"# Claims of {paper.short}\n\n*{paper.title}*", 1)
    told = re.sub(r"^## (.*)$", r"**\1**", told, flags=re.MULTILINE)  # headings are the claims alone
    told = re.sub(r"^####? ", "## ", told, flags=re.MULTILINE)
    told = re.sub(r"`([a-z_0-9.]+)` \((?=[A-Z]+\))", lambda m: f"[{m[1]}](#{slug(m[1])}) (", told)
    return f"---\ntocdepth: 1\n---\n\n{told}\n"


def overview(found: Sequence[Record]) -> list[str]:
    """Claims by verdict and paper."""
    return tally(found)
