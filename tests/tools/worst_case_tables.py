"""Tables of worst cases that come with the project, anew: ``python tests/tools/worst_case_tables.py NAME``.

Options are those of ``fedbounds tightness``: ``-o paper_checks/worst_case/tables --certify`` renews a table with its
proofs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT), str(ROOT / "tests")]

from bounds.catalog import get
from bounds.core import Bound
from bounds.showing.command_line import read_line
from bounds.showing.tables import to_json
from bounds.showing.verb_table import VERBS
from paper_checks.runs.methods import takes
from paper_checks.runs.origins import on_local_iterations
from paper_checks.worst_case.grid_point import GridPoint
from paper_checks.worst_case.tightness import make_table, TableRequest
from paper_checks.worst_case.tightness_table import grid as places


def full(bound: Bound) -> list[GridPoint]:
    """The grid of the tables that come with the project: up to 16 gradients per client, and a few of 20.

    The condition number varies where the bound knows a strong convexity or PL constant, the heterogeneity where it
    knows any. Bounds at virtual averages take twice the unknowns: 8 gradients there, and 16 with relaxed starts.
    """
    asked = {q.name for q in bound.quantities}
    spans: dict[str, Sequence[float]] = {"step_share": (0.5, 0.9)}
    if asked & {"strong_convexity", "pl_constant"}:
        spans["condition_number"] = (10.0, 100.0)
    if asked & {"heterogeneity", "dissimilarity_offset"}:
        spans["heterogeneity"] = (0.1, 10.0)
    anywhere = bound.statistic is None or bound.statistic.kind == "every"  # any round is the second
    rounds = (1, 2) if anywhere else (1, 2, 4)
    shared = not takes(bound.about, "relaxation")
    most = 16 if on_local_iterations(bound) else 32
    found = [p for p in places({"rounds": rounds, "local_steps": (1, 2, 3, 4, 8), **spans}) if p.work <= most]
    if shared and not on_local_iterations(bound) and not anywhere and "condition_number" not in spans:
        found += places({"rounds": (4,), "local_steps": (5,), **spans, "step_share": (0.9,)})
    return found


def main(arguments: Sequence[str]) -> int:
    line = read_line("tightness", VERBS["tightness"], arguments)
    if line is None:
        return 0
    name, *words = line.arguments
    if words:
        raise SystemExit("a table that comes with the project has a grid of its own: give no quantity=value")
    request = TableRequest(name, (), "python tests/tools/worst_case_tables.py", **line.options)
    found = make_table(request, full(get(name)))
    print(to_json(found.as_json()) if line.json else found)
    return found.status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
