"""Write the report: figures and tables by paper, from their JSON cards, with the verdicts on the paper's findings."""

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
from .comparing import Reproduction
from .writing import markdown_row

Card = Mapping[str, Any]

TITLE = "# Figures and tables beside what the papers report"
READING = """\
A finding is *reproduced* when every comparison it consists of is surely so, *contradicted* when one is
surely the other way (95 %, simultaneously; wrong where differences over seeds are far from normal or of unequal
variance), *equal within delta* when all that is not surely so differs surely by less than a stated delta, and
otherwise *undecided*. It is *not judged* where our runs miss one of its guards: the problem that a remedy cures
is absent or less than half of the paper's, runs are shorter than half of the paper's local work and have not
levelled off, FedAvg is more than five points from the paper's where a size is claimed, or above it where a gain
is claimed, methods were not trained in the same way, or the statistic is another. The guard that is missed is
shown with its number. The least difference is that of the comparison that is least surely so, with half the
width of its interval. *More* is what further seeds take of one core until that interval would no longer reach
zero, were the difference as seen.""".splitlines()
MOST = 1000.0
"""Core-hours of further seeds beyond which more seeds are no realistic way to decide a finding."""
TAU = """\
Tau is Kendall's rank correlation between the reported numbers and ours, with 90 % of it when both move by their noise.\
"""
EXPERIMENTS, FORMULAS, OURS = "the papers' experiments", "the papers' formulas, settings and costs", "ours"
KEYS = {"name", "title", "source", "kind", "scale", "unavailable", "ran", "runs", "keys", "agreement", "findings"}
FINDING_KEYS = {"words", "verdict", "effect", "least", "counted", "guards"}
"""The keys that the report needs of a card, and of a finding on it."""


def read_cards(*folders: Path) -> list[Card]:
    """Return the cards in the folders in the order of the catalogue; warn of other files and of older cards.

    Of several cards on a figure the one that judges most findings is taken, then one with all its runs, then the first.
    """
    selected: list[Card] = []
    for name in NAMES:
        cards: list[Card] = []
        for path in (path for folder in folders if (path := folder / f"{name}.json").exists()):
            try:
                card = read_card(path)
            except BoundsError as error:
                warnings.warn(f"{error} and left out of the report: delete or rename it", stacklevel=2)
                continue
            if all(set(finding) >= FINDING_KEYS for finding in card["findings"]):
                cards.append(card)
            else:
                words = "was made by another version and is left out of the report: make the figure again"
                warnings.warn(f"{path} {words}", stacklevel=2)
        selected += [max(cards, key=_worth)] if cards else []
    return selected


def _worth(card: Card) -> tuple[int, bool]:
    """Return how many findings of a card are judged, and whether all its runs exist."""
    judged = sum(finding["verdict"] != Reproduction.NOT_JUDGED for finding in card["findings"])
    return judged, card["runs"]["there"] == card["runs"]["wanted"]


def read_card(path: Path) -> Card:
    """Return the card in a JSON file; raise if the file is not the card of a figure or table."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None
    if isinstance(content, dict) and set(content) >= KEYS and content["name"] == path.stem:
        return content
    raise BoundsError(f"{path} is not the card of a figure")


@dataclass(frozen=True)
class ReportedFinding:
    """One finding with its verdict, the cards that state it, and its entry (``occurrences``) in each of them."""

    paper: str
    words: str
    verdict: str
    cards: tuple[Card, ...]
    occurrences: tuple[Mapping[str, Any], ...]

    @property
    def group(self) -> str:
        """The row of the summary: our own figures, the paper's experiments, or what is computed without measuring."""
        if self.paper not in PAPERS:
            return OURS
        measured = any(card["runs"]["wanted"] for card in self.cards)
        return EXPERIMENTS if measured and not self.occurrences[0]["counted"] else FORMULAS

    @property
    def effect(self) -> str:
        """The smallest difference behind the verdict, or what else was observed; several if the cards differ."""
        return "<br>".join(dict.fromkeys(one["effect"] for one in self.occurrences))

    @property
    def objection(self) -> str:
        """The guards that are missed; if none is, what differs from the paper's runs, the authors' likely objection."""
        missed = [guard for one in self.occurrences for guard in one["guards"] if guard["missed"]]
        if missed:
            first_by_subject = {guard["subject"]: guard["words"] for guard in missed[::-1]}
            return "<br>".join(first_by_subject.values())
        differences = (words for card in self.cards for one in card["ran"] for words in one["differences"])
        return "<br>".join(dict.fromkeys(differences))

    @property
    def more(self) -> float | None:
        """Core-hours of further seeds that would decide the finding if the smallest difference is as measured.

        The width of an interval falls like the square root of the number of seeds, so this is infinite if the
        difference is exactly zero. None if the finding is decided, or nothing was measured.
        """
        least = self.occurrences[0]["least"]
        if self.verdict != "undecided" or least is None:
            return None
        difference, half_width = least
        if not difference:
            return math.inf
        times = (half_width / difference) ** 2 - 1
        return max(times, 0.0) * minutes(self.cards) / 60


def reported_findings(cards: Sequence[Card]) -> list[ReportedFinding]:
    """Return the findings of all cards; a finding that several cards share appears once."""
    occurrences: dict[tuple[str, str, str], list[tuple[Card, Mapping[str, Any]]]] = {}
    for card in cards:
        for one in card["findings"]:
            key = card["name"].partition(".")[0], one["words"], one["verdict"]
            occurrences.setdefault(key, []).append((card, one))
    return [ReportedFinding(*key, *zip(*places, strict=True)) for key, places in occurrences.items()]


def audit_claim_counts(names: Sequence[str]) -> dict[str, int]:
    """Return the number of audited claims on each artefact, without zeros; their names begin with the artefact's."""
    from paper_checks.audit.running import CLAIMS

    patterns = {name: re.compile(re.escape(name) + r"(?![0-9a-z])") for name in names}
    counts = {name: sum(bool(pattern.match(claim)) for claim in CLAIMS) for name, pattern in patterns.items()}
    return {name: count for name, count in counts.items() if count}


def text(cards: Sequence[Card], claims: Mapping[str, int] | None = None) -> str:
    """Return the report as Markdown: a summary, then every finding by paper, then every figure and table.

    ``claims`` (from ``audit_claim_counts``) is given for the committed report only. It refers to the audit's report,
    and links to files in a folder per scale; other reports link to files beside them.
    """
    scales = sorted({c["scale"] for c in cards})
    changed = "".join(f", changed to {c}" for c in dict.fromkeys(c["changed"] for c in cards if "changed" in c))
    findings = reported_findings(cards)
    aside = claims is not None
    made = "all" if len(cards) == len(NAMES) else " ".join(c["name"] for c in cards)
    lines = [
        TITLE,
        "",
        f"Made by `fedbounds figure {made} --scale {' '.join(scales)}`{changed}. "
        f"{len(cards)} figures and tables from {len({k for c in cards for k in c['keys']})} runs, "
        f"{minutes(cards):.0f} minutes inside them.",
        "",
        *_summary(findings),
        *READING,
        "",
    ]
    for paper in dict.fromkeys(c["name"].partition(".")[0] for c in cards):
        lines += [f"## {_title(paper)}", ""]
        if mine := [one for one in findings if one.paper == paper]:
            lines += [
                "| finding | verdict | least difference, or what was seen | missed guard, or likely objection "
                "| what ran | where |",
                "|---|---|---|---|---|---|",
            ]
            lines += [_finding_row(one, aside) for one in mine] + [""]
        counted = {name: n for name, n in (claims or {}).items() if name.partition(".")[0] == paper}
        if counted:
            counts, page = ", ".join(f"`{name}` {n}" for name, n in counted.items()), f"reports/{paper}.md"
            lines += [f"Claims of [the audit](../paper_checks/{page}) on the printed numbers: {counts}.", ""]
    lines += ["## What lies here", "", TAU, "", "| | what | what ran | runs | tau |", "|---|---|---|---|---|"]
    lines += [_row(c, aside) for c in cards]
    return "\n".join(lines).rstrip() + "\n"


def _title(paper: str) -> str:
    return PAPERS[paper].short if paper in PAPERS else "Ours, which no paper has"


def _summary(findings: Sequence[ReportedFinding]) -> list[str]:
    """Return the table of verdicts by group of findings, and the decided findings of each paper as text."""
    lines = ["## What was learned", ""]
    shown = [v for v in Reproduction if any(one.verdict == v for one in findings)]
    if not shown:
        return [*lines, "No finding is judged.", ""]
    lines += [f"| findings on | {' | '.join(shown)} |", "|---|" + "--:|" * len(shown)]
    for group in (EXPERIMENTS, FORMULAS, OURS):
        count = Counter(one.verdict for one in findings if one.group == group)
        lines += [f"| {group} | {' | '.join(str(count[v]) for v in shown)} |"] if count else []
    lines += [""]
    for paper in dict.fromkeys(one.paper for one in findings):
        for verdict in ("reproduced", "contradicted", "equal within delta"):
            mine = [o.words for o in findings if (o.paper, o.verdict, o.group) == (paper, verdict, EXPERIMENTS)]
            if mine:
                lines += [f"* **{_title(paper)}, {verdict}**: {'; '.join(mine)}."]
    return [*lines, ""]


def _finding_row(one: ReportedFinding, aside: bool) -> str:
    info = dict.fromkeys(made["words"] for card in one.cards for made in card["ran"])
    where = "<br>".join(_where(card, aside) for card in one.cards)
    verdict = f"**{one.verdict}**"
    if one.more is not None:
        verdict += f", {duration(3600 * one.more)} more" if one.more <= MOST else ", no matter of seeds"
    return markdown_row([one.words, verdict, one.effect, one.objection, "<br>".join(info), where])


def minutes(cards: Sequence[Card]) -> float:
    """Return the total wall-clock minutes of the runs behind these cards, each run counted once."""
    minutes_by_run = {key: took for card in cards for key, took in card["keys"].items()}
    return sum(minutes_by_run.values())


def _where(card: Card, aside: bool) -> str:
    """Return a link to the picture or table, or to the card that gives the reason why there is none."""
    ending = "md" if card["kind"] == "table" else "json" if card["unavailable"] else "svg"
    folder = card["scale"] if aside else "."
    return f"[{card['source'] or card['name']}]({folder}/{card['name']}.{ending})"


def _row(card: Card, aside: bool) -> str:
    runs = card["runs"]
    there = f"{runs['there']}" + (f" of {runs['wanted']}" if runs["there"] < runs["wanted"] else "")
    taus = "<br>".join(f"{a['column']}: {a['tau']:+.2f} [{a['low']:+.2f}, {a['high']:+.2f}]" for a in card["agreement"])
    info = card["unavailable"] or "<br>".join(one["words"] for one in card["ran"])
    return markdown_row([_where(card, aside), card["title"], info, there, taus])
