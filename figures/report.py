"""The report: every figure and table from the cards beside them, by paper, with what it says of the paper."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError
from bounds.papers import PAPERS

from .catalogue import NAMES

Card = Mapping[str, Any]

TITLE = "# Figures and tables beside what the papers report"
READING = """\
Tau is Kendall's rank correlation between the reported numbers and ours, with 90 % of it when both move by their noise.
A conclusion is *reproduced* when every comparison it consists of is surely so, *contradicted* when one is surely the
other way (95 %, simultaneously; wrong where differences over seeds are far from normal or of unequal variance), *equal
within delta* when every difference is surely smaller than a stated delta, and otherwise *undecided*. It is not judged
where our runs did not reach the *regime* that it speaks of. Ours at a smaller scale says nothing about the paper's own
setting: it says whether the ordering is already there.""".splitlines()
EARLIER = """\
{} of the artefacts were judged before there were regimes and deltas: until their runs are made again, *contradicted*
stands there for what was called not reproduced, *undecided* for what was called not decidable at this scale.\
"""


WORDS = {"name", "title", "source", "kind", "scale", "unavailable", "ran", "runs", "keys", "agreement", "conclusions"}
"""Of a card, those that the report is made of."""


def read(folder: Path) -> list[Card]:
    """The cards in a folder, in the order of the catalogue; a file that is none is left out with a warning."""
    found = []
    for path in (folder / f"{name}.json" for name in NAMES):
        try:
            found += [card(path)] if path.exists() else []
        except BoundsError as error:
            warnings.warn(f"{error} and left out of the report: delete or rename it", stacklevel=2)
    return found


def card(path: Path) -> Card:
    """The card in a file; refused where it is none of a figure or table."""
    try:
        read: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        read = None
    if isinstance(read, dict) and set(read) >= WORDS and read["name"] == path.stem:
        return read
    raise BoundsError(f"{path} is not the card of a figure")


def text(cards: Sequence[Card], folder: str = ".") -> str:
    """The report as Markdown; ``folder`` is where its links find the files."""
    scales = sorted({c["scale"] for c in cards})
    count = Counter(j["verdict"] for c in cards for j in c["conclusions"])
    earlier = sum("verdicts" not in c for c in cards if c["conclusions"])
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(count.items()))
    lines = [
        TITLE,
        "",
        f"Made by `fedbounds figure all --scale {' '.join(scales)}`. {len(cards)} artefacts from "
        f"{len({k for c in cards for k in c['keys']})} runs, {minutes(cards):.0f} minutes inside them.",
        *READING,
        *(EARLIER.format(earlier).splitlines() if earlier else ()),
        "",
        f"Conclusions: {verdicts or 'none'}.",
        "",
    ]
    for paper in dict.fromkeys(c["name"].partition(".")[0] for c in cards):
        title = PAPERS[paper].short if paper in PAPERS else "Ours, which no paper has"
        lines += [f"## {title}", "", "| | what | what ran | runs | tau | conclusions |", "|---|---|---|---|---|---|"]
        lines += [_row(c, folder) for c in cards if c["name"].partition(".")[0] == paper]
        lines += [""]
    return "\n".join(lines).rstrip() + "\n"


def minutes(cards: Sequence[Card]) -> float:
    """On the clock, for all runs one after another; a run that several artefacts read counts once."""
    each = {key: took for card in cards for key, took in card["keys"].items()}
    return sum(each.values())


def _row(card: Card, folder: str) -> str:
    runs = card["runs"]
    there = f"{runs['there']}" + (f" of {runs['wanted']}" if runs["there"] < runs["wanted"] else "")
    taus = "<br>".join(f"{a['column']}: {a['tau']:+.2f} [{a['low']:+.2f}, {a['high']:+.2f}]" for a in card["agreement"])
    conclusions = "<br>".join(f"**{j['verdict']}**: {j['words']} ({j['why']})" for j in card["conclusions"])
    conclusions = "<br>".join(filter(None, (card["unavailable"], conclusions)))
    ending = "md" if card["kind"] == "table" else "json" if card["unavailable"] else "svg"
    where = f"[{card['source'] or card['name']}]({folder}/{card['name']}.{ending})"
    ran = "<br>".join(one["words"] for one in card["ran"])
    cells = (where, card["title"], ran, there, taus, conclusions)
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
