"""What ``rate`` answers: a place in words, or a table of several."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bounds.showing.files import whole
from bounds.showing.tables import aligned
from bounds.showing.tabular import Tabular

from .after_rounds import After, after, Begun
from .lyapunov import NotCertified
from .rate_search import above, Case, certified, Rate, Statement
from .rate_words import WORDS
from .theorem_rates import Published, published

LEAST, ROUNDS = "-least", "-rounds"
BESIDE = (LEAST, ROUNDS)
"""What files are called whose names nobody typed, beside the one that was."""


@dataclass(frozen=True, eq=False)
class Place:
    """One place of a table: the words it was asked with, and its rate, or why there is none."""

    method: str
    asked: dict[str, float]
    rate: Rate | None
    why: str = ""
    after: After | None = None
    """What is left after the rounds asked for, where all it needs is given."""

    @property
    def statement(self) -> Statement | None:
        return None if self.rate is None else self.rate.fastest

    @cached_property
    def published(self) -> Published | None:
        """The best rate that a theorem of the catalogue states here, of methods in which all clients take part."""
        if self.rate is None or self.rate.case.program.cohort is not None:
            return None
        return next(iter(published(self.rate.case)), None)

    def record(self) -> dict[str, Any]:
        said, least = self.statement, self.rate and self.rate.least
        row: dict[str, Any] = {"method": self.method} | {w: _whole(self.asked.get(w)) for w in WORDS}
        row |= {"contraction": self.rate and self.rate.contraction, "quadratics": self.rate and self.rate.slowest}
        row["stated"] = said and said.contraction
        for word in ("start_distance", "start_dissimilarity", "floor", "noise_floor", "half"):
            row[word] = None if said is None else getattr(said, word)
        row["proved"] = None if said is None else said.proof is not None
        for word in ("contraction", "floor", "noise_floor"):
            row[f"least_{'stated' if word == 'contraction' else word}"] = (
                None if least is None else getattr(least, word)
            )
        row |= {"theorem": self.published and self.published.bound}
        row |= {"theorem_contraction": self.published and self.published.contraction}
        row |= {word: self.after and getattr(self.after, word) for word in ("bound", "worst_case", "instance")}
        row["bound_proved"] = self.after and self.after.proved
        return row | {"why": self.why or (said.why if said else "") or None}

    def files(self) -> Iterator[tuple[str, Statement]]:
        """What is stated, and what its file is called beside the name."""
        if self.rate is not None:
            yield from zip(("", LEAST), self.rate.statements, strict=False)
        if self.after is not None:
            yield ROUNDS, self.after.statement

    def lines(self) -> Iterator[str]:
        """The place in words."""
        asked, rate = self.asked, self.rate
        yield (
            f"{self.method}, {asked['local_steps']:g} local steps of {asked['step_size']:g}; "
            f"{asked['smoothness']:g}-smooth, {asked['strong_convexity']:g}-strongly convex losses"
        )
        if rate is None:
            yield self.why
            return
        noisy, case = bool(asked.get("gradient_variance")), rate.case
        many = f"{case.clients} clients" if case.clients and (noisy or not case.plain) else "any number of clients"
        part = "all take part" if case.program.cohort is None else f"{case.cohort} of them drawn a round"
        kind = "gradients with noise of variance sigma^2" if noisy else "full gradients"
        yield f"{many}, {part}, {kind}, every number T of rounds:"
        for said in rate.statements:
            yield f"  {self._in_words(said)}   {'proved in fractions' if said.proof else 'in floats'}"
        yield f"above its floor the bound halves every {rate.fastest.half} rounds"
        yield (
            f"smallest contraction certified, in floats: {rate.contraction:.6f}; "
            f"two quadratics contract by no less than {rate.slowest:.6f}"
        )
        if self.published is not None:
            yield f"the best theorem that speaks here states {self.published.contraction:.6f}: {self.published.bound}"
        if not rate.case.program.floored:
            yield "no floor: heterogeneity alone keeps no distance from the minimiser"
        if self.after is not None:
            yield from self._after(self.after)
        elif "rounds" in asked:
            needed = [w for w in ("initial_distance_sq", "optimum_dissimilarity") if w not in asked]
            yield f"after {asked['rounds']:g} rounds: give {', '.join(f'{w}=...' for w in needed)} too"
        yield "w*: the minimiser of the mean loss; zeta^2: the clients' mean squared gradient there"
        if rate.fastest.why:
            yield f"not proved in fractions: {rate.fastest.why}"

    def _after(self, after: After) -> Iterator[str]:
        how = "proved in fractions" if after.proved else "in floats"
        yield f"after {self.asked['rounds']:g} rounds {self._left} <= {after.bound:.6g}   {how}"
        if after.worst_case is not None:
            quiet = " without noise" if self.asked.get("gradient_variance") else ""
            yield f"  exact worst case{quiet}: {after.worst_case:.6g}"
        if after.instance is not None:
            yield f"  reached by clients with quadratics on a line: {after.instance:.6g}"

    @property
    def _left(self) -> str:
        """What is bounded: an expectation where anything is drawn."""
        return "E|w_T - w*|^2" if self.rate and not self.rate.case.plain else "|w_T - w*|^2"

    def _in_words(self, said: Statement) -> str:
        start = "|w_0 - w*|^2" if said.start_distance == 1 else f"{said.start_distance:.6g} |w_0 - w*|^2"
        if said.start_dissimilarity:
            start = f"({start} + {above(said.start_dissimilarity, 4):.4g} zeta^2)"
        more = f" + {above(said.floor, 4):.4g} zeta^2" if said.floor else ""
        more += f" + {above(said.noise_floor, 4):.4g} sigma^2" if said.noise_floor else ""
        return f"{self._left} <= {said.contraction!r}^T {start}{more}"


@dataclass(frozen=True, eq=False)
class Rates(Tabular):
    """The places asked for, in order; ``str`` is what the shell prints."""

    places: tuple[Place, ...]

    @property
    def found(self) -> bool:
        """Whether every place has a rate."""
        return all(place.rate is not None for place in self.places)

    def records(self) -> list[dict[str, Any]]:
        return [place.record() for place in self.places]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """One place in words, several as a table."""
        if len(self.places) == 1:
            yield from self.places[0].lines()
            return
        rows = self.records()
        varied = [w for w in WORDS if len({row[w] for row in rows}) > 1]
        shown = [
            "contraction",
            "quadratics",
            "floor",
            "noise_floor",
            "least_floor",
            "half",
            "bound",
            "worst_case",
            "instance",
        ]
        head = [*varied, *(w for w in shown if any(row[w] for row in rows)), "proved"]
        body = [[_short(row[w]) for w in head] for row in rows]
        yield self.places[0].method
        yield from aligned([head, *body])
        yield from dict.fromkeys(place.why for place in self.places if place.why)

    def write(self, path: Path) -> list[Path]:
        """The proofs, in the files that ``names`` says: all of them, or none and nothing is changed."""
        proofs: dict[Path, dict[str, Any]] = {}
        for at, place in zip(names(path, len(self.places)), self.places, strict=True):
            proofs |= {at[which]: said.proof for which, said in place.files() if said.proof is not None}
        with ExitStack() as all_of_them:
            for file, proof in proofs.items():
                beside = all_of_them.enter_context(whole(file))
                beside.write_text(json.dumps(proof, separators=(",", ":")) + "\n", encoding="utf-8")
        return list(proofs)


def names(path: Path, places: int) -> list[dict[str, Path]]:
    """Where the proofs of each of so many places go, by what they are called beside the name; several are numbered.

    ``NAME.json``, ``NAME-least.json`` (of the least floor), ``NAME-rounds.json`` (after the rounds asked for).
    """
    stems = [path.stem + (f"-{number}" if places > 1 else "") for number in range(1, places + 1)]
    return [{w: path.with_name(stem + w + (path.suffix or ".json")) for w in ("", *BESIDE)} for stem in stems]


def place(case: Case, asked: dict[str, float], step: Any) -> Place:
    """The rate of a case, or why there is none."""
    try:
        rate = certified(case, step)
    except NotCertified as error:
        return Place(case.algorithm.name, asked, None, str(error))
    begun = _begun(rate, asked)
    return Place(case.algorithm.name, asked, rate, after=None if begun is None else after(rate, begun, step))


def _begun(rate: Rate, asked: dict[str, float]) -> Begun | None:
    """The rounds and the start that are asked about; None where not all is given that they need."""
    needs = any(s.floor or s.start_dissimilarity for s in rate.statements)
    if not {"rounds", "initial_distance_sq"} <= set(asked) or (needs and "optimum_dissimilarity" not in asked):
        return None
    facts = (asked.get(w, 0.0) for w in ("initial_distance_sq", "optimum_dissimilarity", "gradient_variance"))
    return Begun(int(asked["rounds"]), *facts)


def _whole(x: float | None) -> float | int | None:
    return int(x) if x is not None and float(x).is_integer() else x


def _short(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
