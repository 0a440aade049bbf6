"""What stands below the table of a comparison: who is silent and why, runs beside it, formulas, one bound in detail."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import Any

from bounds.showing.tables import aligned, number

from .compare_rows import Beside, Failed, RANKED, Recommended, Row, SILENT

FEW, MOST = 3, 17
"""Digits of a number in the table, and those that tell any two apart."""


def three(value: float) -> str:
    """A number with three digits, its power of ten where those of others in a column are; a dash for none."""
    if math.isnan(value):
        return "-"
    short = number(value, FEW)
    return f"{value:.{FEW - 1}e}" if "e" in short else short


def power(rounds: float) -> str:
    """So many rounds or a few more, as 25, 700, 1.3e4: what speaks from 12,245 on says nothing at 12,000."""
    if not math.isfinite(rounds):
        return "never"
    unit = 10 ** max(math.floor(math.log10(max(rounds, 1))) - 1, 0)
    enough = math.ceil(rounds / unit) * unit
    if enough < 1000:
        return str(enough)
    digits, _, exponent = f"{enough:.1e}".partition("e")
    return f"{float(digits):g}e{int(exponent)}"


def beside_lines(runs: Iterable[Beside]) -> Iterator[str]:
    """Runs at the server model, a line each, under a head."""

    def cell(read: tuple[float, float] | None) -> str:
        if read is None or math.isnan(read[0]):
            return "-"
        return three(read[0]) + (f" ± {number(read[1], 1)}" if read[1] else "")

    if body := [[run.label, *map(cell, (run.least, run.mean, run.last, run.gap))] for run in runs]:
        head = ("server model, beside them", "min over rounds", "mean over rounds", "last", "f-gap")
        yield from aligned(body, head, gap=2)


def formula_lines(found: Iterable[Recommended]) -> list[list[str]]:
    """A line for every formula: its number, its ends over uncertain constants, where it stands."""
    return [
        [one.formula, f"{one.word} {number(one.value, FEW)}",
         "" if math.isclose(one.low, one.high, rel_tol=1e-6) else f"[{number(one.low, FEW)}, {number(one.high, FEW)}]",
         "as printed" if one.printed else "derived", one.source]
        for one in found
    ]  # fmt: skip


def details(rows: Iterable[Row]) -> Iterator[str]:
    """Bound by bound: its state, every condition that fails with both sides, what is trusted, its price."""
    seen = set()
    for row in rows:
        if row.bound in seen or row.state not in (*RANKED, SILENT):
            continue
        seen.add(row.bound)
        yield f"{', '.join((row.bound, *tails(row.alias)))}: {row.state}; {row.source}"
        yield from (f"  met: {words}" for words in row.met)
        yield from (f"  NOT met: {failure(one)}" for one in row.failed)
        yield from (f"  taken on trust: {words}" for words in row.trusted)
        if row.price is not None:
            price = row.price
            at = f" with K = {price.local_steps}, step size {number(price.step_size, FEW)}, cohort {price.cohort:g}"
            yield f"  speaks from R = {power(price.rounds)} on{at}" if math.isfinite(price.rounds) else (
                "  speaks at no plan within reach")  # fmt: skip


def failure(one: Failed) -> str:
    """Its words with both sides, to as many digits as tell them apart; a strict one may fail for equal sides."""
    if math.isnan(one.left):
        return one.words
    digits = next((n for n in range(FEW, MOST + 1) if number(one.left, n) != number(one.right, n)), FEW)
    sign = "=" if one.left == one.right else ">" if one.left > one.right else "<"
    return f"{one.words}: {number(one.left, digits)} {sign} {number(one.right, digits)}"


def tails(names: Iterable[str]) -> list[str]:
    return [name.partition(".")[2] or name for name in names]


def section(title: str, rows: Iterable[list[str]]) -> Iterator[str]:
    if table := list(rows):
        yield title
        yield from (f"  {line}" for line in aligned(table, gap=2))


def silent(rows: Iterable[Row]) -> list[list[str]]:
    """Names that fail for the same reasons in one line: the first condition with both sides, then how many others."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.state == SILENT:
            by_reason.setdefault(reason(row), []).append(row.bound)
    return [[together(names), why] for why, names in by_reason.items()]


def reason(row: Row) -> str:
    if not row.failed:
        return "it has no value here"
    first, *others = row.failed
    counted = sum(not math.isnan(f.left) for f in others)
    named = [f.words for f in others if math.isnan(f.left)]
    return "; ".join([failure(first), *([f"+{counted}"] if counted else []), *named])


def together(names: list[str]) -> str:
    """``fedcog.theorem, corollary``: what belongs to one paper is named once."""
    said = []
    for paper, group in groupby(names, key=lambda name: name.partition(".")[0]):
        first, *others = group
        said.append(", ".join([first, *(name.removeprefix(f"{paper}.") for name in others)]))
    return ", ".join(said)


def by_reason(rows: Iterable[Row], state: str) -> list[list[str]]:
    by_why: dict[str, list[str]] = {}
    for row in rows:
        if row.state == state:
            by_why.setdefault(row.why, []).append(row.bound)
    return [[together(names), why] for why, names in by_why.items()]


def trusted(rows: Iterable[Row]) -> list[list[str]]:
    by_words: dict[str, list[str]] = {}
    for row in rows:
        for words in row.trusted:
            names = by_words.setdefault(words, [])
            names += [row.bound] if row.bound not in names else []
    return [[together(names), words] for words, names in by_words.items()]


def flat(row: Row) -> dict[str, Any]:
    """A row with one number or word to a column."""
    found = row.as_json()
    nested = {f"trivial_{name}": x for name, x in found.pop("trivial").items()}
    kind = {name: word for name, word in found.pop("class").items()}
    joined = {
        name: "; ".join(item["words"] if isinstance(item, dict) else str(item) for item in value)
        for name, value in found.items()
        if isinstance(value, list)
    }
    simple = {name: value for name, value in found.items() if not isinstance(value, (list, dict))}
    return {**kind, **simple, **nested, **joined}


def html_row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
