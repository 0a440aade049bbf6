"""The report: every figure and table from the cards beside them, by paper, with what it says of the paper."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError
from bounds.papers import PAPERS
from empirics.progress import duration

from .catalogue import NAMES
from .comparing import Reproduction, SEEN

Card = Mapping[str, Any]

TITLE = "# Figures and tables beside what the papers report"
READING = """\
A conclusion is *reproduced* when every comparison it consists of is surely so, *contradicted* when one is surely the
other way (95 %, simultaneously; wrong where differences over seeds are far from normal or of unequal variance),
*equal within delta* when all that is not surely so differs surely by less than a stated delta, and otherwise
*undecided*. It is *not judged* where our runs miss its regime: the problem that a remedy cures is absent or less than
half of the paper's, runs are shorter than half of the paper's local work and have not levelled off, FedAvg is more than
five points from the paper's where a size is claimed, or above it where a gain is claimed, methods were not trained
in the same way, or the statistic is another. The guard that fails is shown with its number. The least difference is
that of the comparison that is least surely so, with half the width of its interval. *More* is what further seeds take
of one core until that interval would no longer reach zero, were the difference as seen.""".splitlines()
DIFFERENCE = re.compile(r"([+-][\d.]+(?:e[+-]?\d+)?) ± ([\d.]+(?:e[+-]?\d+)?)")
MOST = 1000.0
"""Core-hours beyond which it is not a matter of seeds."""
TAU = """\
Tau is Kendall's rank correlation between the reported numbers and ours, with 90 % of it when both move by their noise.\
"""
VERDICTS = ("reproduced", "contradicted", "equal within delta", "undecided", str(Reproduction.REGIME))
EXPERIMENTS, FORMULAS, OURS = "the papers' experiments", "the papers' formulas, settings and costs", "ours"
WORDS = {"name", "title", "source", "kind", "scale", "unavailable", "ran", "runs", "keys", "agreement", "conclusions"}
"""Of a card, those that the report is made of."""


def read(*folders: Path) -> list[Card]:
    """The cards in a folder, in the order of the catalogue; a file that is none is left out with a warning.

    Of several folders the first in which all runs of a figure or table are there counts, else the last that has it.
    """
    found: list[Card] = []
    for name in NAMES:
        cards: list[Card] = []
        for path in (folder / f"{name}.json" for folder in folders):
            try:
                cards += [card(path)] if path.exists() else []
            except BoundsError as error:
                warnings.warn(f"{error} and left out of the report: delete or rename it", stacklevel=2)
        found += [one for one in cards if one["runs"]["there"] == one["runs"]["wanted"]][:1] or cards[-1:]
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


@dataclass(frozen=True)
class Conclusion:
    """A conclusion with its verdict: once, with every card that draws it and what it says there."""

    paper: str
    words: str
    verdict: str
    cards: tuple[Card, ...]
    said: tuple[Mapping[str, Any], ...]

    @property
    def group(self) -> str:
        """What it is about: nothing is measured where no run is needed, or where nothing varies over seeds."""
        if self.paper not in PAPERS:
            return OURS
        measured = any(card["runs"]["wanted"] for card in self.cards)
        return EXPERIMENTS if measured and not self.said[0]["counted"] else FORMULAS

    @property
    def effect(self) -> str:
        """The least difference behind it, or what else was seen, place by place where places differ."""
        seen = (one["why"].partition(SEEN)[2] or one["why"] for one in self.said)
        return "<br>".join(dict.fromkeys(why.partition("least: ")[2] or why for why in seen))

    @property
    def objection(self) -> str:
        """Why it is not judged; else what the authors would object to first: what ran in place of their own."""
        missed = [regime["words"] for one in self.said for regime in one["regimes"] if regime["missed"]]
        if missed:
            kinds = {words.partition(":")[0].partition(" (")[0]: words for words in missed[::-1]}
            return "<br>".join(kinds.values())  # of each guard the first setup that misses it
        made = [one["words"] for card in self.cards for one in card["ran"]]
        return "<br>".join(dict.fromkeys(part for words in made for part in words.split(", ") if " for " in part))

    @property
    def more(self) -> float | None:
        """Core-hours of further seeds that would decide it if the smallest difference is as measured.

        The width of an interval falls like the square root of the number of seeds, so this is infinite where the
        difference is exactly zero. None where the conclusion is decided, or nothing was measured.
        """
        found = DIFFERENCE.search(self.said[0]["why"].partition("least: ")[2])
        if self.verdict != "undecided" or found is None:
            return None
        if not float(found[1]):
            return math.inf
        times = (float(found[2]) / float(found[1])) ** 2 - 1
        return max(times, 0.0) * minutes(self.cards) / 60


def conclusions(cards: Sequence[Card]) -> list[Conclusion]:
    """Of all cards; what several of them share comes once."""
    found: dict[tuple[str, str, str], list[tuple[Card, Mapping[str, Any]]]] = {}
    for card in cards:
        for one in card["conclusions"]:
            key = card["name"].partition(".")[0], one["words"], one["verdict"]
            found.setdefault(key, []).append((card, one))
    return [Conclusion(*key, *zip(*places, strict=True)) for key, places in found.items()]


def audited(names: Sequence[str]) -> dict[str, int]:
    """How many claims of the audit are about each of these figures and tables: their names begin with its name."""
    from paper_checks.audit.running import CLAIMS

    about = {name: re.compile(re.escape(name) + r"(?![0-9a-z])") for name in names}
    count = {name: sum(bool(pattern.match(claim)) for claim in CLAIMS) for name, pattern in about.items()}
    return {name: n for name, n in count.items() if n}


def text(cards: Sequence[Card], claims: Mapping[str, int] | None = None) -> str:
    """The report as Markdown: what was learned first, then every conclusion, then every figure and table.

    ``claims`` is what ``audited`` counts, for the report that lies beside that of the audit; its links find the files
    of each card in the folder of its scale, those of another report beside it.
    """
    scales = sorted({c["scale"] for c in cards})
    changed = "".join(f", changed to {c}" for c in dict.fromkeys(c["changed"] for c in cards if "changed" in c))
    drawn = conclusions(cards)
    aside = claims is not None
    lines = [
        TITLE,
        "",
        f"Made by `fedbounds figure all --scale {' '.join(scales)}`{changed}. {len(cards)} figures and tables from "
        f"{len({k for c in cards for k in c['keys']})} runs, {minutes(cards):.0f} minutes inside them.",
        "",
        *_learned(drawn),
        *READING,
        "",
    ]
    for paper in dict.fromkeys(c["name"].partition(".")[0] for c in cards):
        lines += [f"## {_title(paper)}", ""]
        if mine := [one for one in drawn if one.paper == paper]:
            lines += [
                "| conclusion | verdict | least difference, or what was seen | failing guard, or likely objection "
                "| what ran | where |",
                "|---|---|---|---|---|---|",
            ]
            lines += [_conclusion(one, aside) for one in mine] + [""]
        counted = {name: n for name, n in (claims or {}).items() if name.partition(".")[0] == paper}
        if counted:
            said = ", ".join(f"`{name}` {n}" for name, n in counted.items())
            lines += [f"Claims of [the audit](../paper_checks/reports/{paper}.md) on the printed numbers: {said}.", ""]
    lines += ["## What lies here", "", TAU, "", "| | what | what ran | runs | tau |", "|---|---|---|---|---|"]
    lines += [_row(c, aside) for c in cards]
    return "\n".join(lines).rstrip() + "\n"


def _title(paper: str) -> str:
    return PAPERS[paper].short if paper in PAPERS else "Ours, which no paper has"


def _learned(drawn: Sequence[Conclusion]) -> list[str]:
    """Numbers of conclusions by what they are about, and the papers' decided ones in words."""
    lines = ["## What was learned", ""]
    shown = [v for v in VERDICTS if any(one.verdict == v for one in drawn)]
    if not shown:
        return [*lines, "No conclusion is drawn.", ""]
    lines += [f"| conclusions on | {' | '.join(shown)} |", "|---|" + "--:|" * len(shown)]
    for group in (EXPERIMENTS, FORMULAS, OURS):
        count = Counter(one.verdict for one in drawn if one.group == group)
        lines += [f"| {group} | {' | '.join(str(count[v]) for v in shown)} |"] if count else []
    lines += [""]
    for paper in dict.fromkeys(one.paper for one in drawn):
        for verdict in ("reproduced", "contradicted", "equal within delta"):
            mine = [o.words for o in drawn if (o.paper, o.verdict, o.group) == (paper, verdict, EXPERIMENTS)]
            if mine:
                lines += [f"* **{_title(paper)}, {verdict}**: {'; '.join(mine)}."]
    return [*lines, ""]


def _conclusion(one: Conclusion, aside: bool) -> str:
    ran = dict.fromkeys(made["words"] for card in one.cards for made in card["ran"])
    where = "<br>".join(_where(card, aside) for card in one.cards)
    verdict = f"**{one.verdict}**"
    if one.more is not None:
        verdict += f", {duration(3600 * one.more)} more" if one.more <= MOST else ", no matter of seeds"
    return _cells(one.words, verdict, one.effect, one.objection, "<br>".join(ran), where)


def minutes(cards: Sequence[Card]) -> float:
    """On the clock, for all runs one after another; a run that several figures read counts once."""
    each = {key: took for card in cards for key, took in card["keys"].items()}
    return sum(each.values())


def _where(card: Card, aside: bool) -> str:
    """A link to the picture or table, or to the card that says why there is none."""
    ending = "md" if card["kind"] == "table" else "json" if card["unavailable"] else "svg"
    folder = card["scale"] if aside else "."
    return f"[{card['source'] or card['name']}]({folder}/{card['name']}.{ending})"


def _row(card: Card, aside: bool) -> str:
    runs = card["runs"]
    there = f"{runs['there']}" + (f" of {runs['wanted']}" if runs["there"] < runs["wanted"] else "")
    taus = "<br>".join(f"{a['column']}: {a['tau']:+.2f} [{a['low']:+.2f}, {a['high']:+.2f}]" for a in card["agreement"])
    ran = card["unavailable"] or "<br>".join(one["words"] for one in card["ran"])
    return _cells(_where(card, aside), card["title"], ran, there, taus)


def _cells(*cells: str) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
