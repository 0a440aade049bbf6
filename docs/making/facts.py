"""Facts about bounds and quantities for the templates of the reference, gathered from several catalogues."""

from __future__ import annotations

import inspect
import io
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import fields, is_dataclass, MISSING
from functools import cache
from typing import Any
from unittest.mock import patch

import bounds
import fedbounds
from bounds.assumptions import (
    ASSUMPTIONS,
    CONVEX,
    GLOBALLY_STRONGLY_CONVEX,
    POLYAK_LOJASIEWICZ,
    SMOOTH,
    STRONGLY_CONVEX,
)
from bounds.bounded_quantity import BoundedQuantity, mismatch
from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.identities import KNOBS, METHODS
from bounds.papers import Paper, PAPERS
from bounds.scenario import Scenario
from bounds.scenario_values import ADMISSIBLE, Role, role_of
from bounds.showing.cards import letters_of
from bounds.vocabulary import strong_convexity
from empirics.algorithms.algorithm import Algorithm
from figures.catalogue import artefact, NAMES
from figures.explorer import optima, verdicts
from paper_checks.runs.obstacles import obstacle
from paper_checks.runs.origins import ATOMS, CURVES, EXACT, QUADRATICS, RUNS, WORST
from paper_checks.validation import VALIDATIONS

from .claim_report import claim_entries, Entry, homes
from .pictures import MADE

RELATIONS = {
    "<=": "An upper bound on the {}",
    "<~": "An upper bound up to a constant factor, so that slopes can be compared and levels cannot, on the {}",
    ">=": "A lower bound on the {}",
    "=": "A formula for the {}",
}
"""By relation: the sentence about a bound; the meaning of its target is inserted."""
BEST = {
    "local_steps": ("best K", "optimal K", "best number of local steps", "optimal number of local steps"),
    "step_size": ("best step size", "best learning rate", "optimal step size", "optimal learning rate"),
}
"""By quantity: search terms for its best value."""
MEANT = {
    "grad_norm_sq": ("convergence", "stationary point", "gradient norm"),
    "optimality_gap": ("convergence", "suboptimality", "optimality gap"),
    "generalization_gap": ("generalization bound", "generalisation"),
    "stability": ("uniform stability",),
    "divergence": ("client drift", "divergence of clients"),
}
"""By bounded quantity: the usual terms that readers type into the search field."""
KIN = re.compile(r"_(printed|appendix|v1|v2|repaired|sharp|order|derived|capped|cap|claimed|counted|joined)$")
"""Endings of the names of different forms of one statement."""
GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "chosen": (
        "What a run chooses",
        "The knobs of a method, and the free constants of proofs.",
        (Role.DESIGN, Role.FREE),
    ),
    "constants": ("Constants of a problem", "What a theorem assumes to be known of it.", (Role.DEFINED, *ADMISSIBLE)),
    "costs": ("Times and sizes", "What a round costs.", (Role.COST,)),
    "outcomes": ("What is bounded", "The left sides of the bounds.", (Role.OUTCOME,)),
    "measured": ("What is measured", "Outcomes of a run on the right sides of bounds.", (Role.OUTCOME,)),
}
"""Tables of symbols by file: the title, a sentence, and the roles of the quantities on the page."""
REACHING = {
    "validate": "exact expectations, no sampling",
    "validate --problem": "training on data",
    "falsify": "a search for a violation",
    "tightness": "the exact worst case",
    "compare": "a rank among theorems on the same number",
}
"""Verbs that compare a bound with something, and what that is."""
OTHER = {"fedinit": 0.1, "fedcog": 0.5, "fedals": 2}
"""By method: a value of its parameter at which it is not FedAvg."""
CATALOGUES = {
    "ASSUMPTIONS": "the assumptions by name: [who assumes what](../assumptions/index.md)",
    "BOUNDS": "every bound by name: [bounds](../bounds/index.md)",
    "PAPERS": "the papers by their short names",
}
"""Descriptions of mappings, which have no docstring."""
PYTHON_VERBS = tuple(sorted({*dir(fedbounds), *fedbounds.OBJECTS}))
PYTHON_OBJECTS = tuple(name for name in bounds.__all__ if name not in CATALOGUES)


def of_paper(paper: Paper) -> list[Bound]:
    """The bounds of a paper."""
    return [bound for bound in BOUNDS.values() if bound.source.paper == paper.key]


@cache
def minimisers() -> frozenset[str]:
    """The names of bounds that state where another bound is smallest."""
    stated = (found for bound in BOUNDS.values() for found in optima.stated(bound).values())
    return frozenset(best.name for found in stated for best in found)


def search_words(bound: Bound) -> list[str]:
    """Search terms for a bound that the catalogue does not use: for its target, its losses, and best values."""
    assumed = {c.assumption for c in bound.conditions}
    terms = [*BEST[bound.target.name]] if bound.name in minimisers() else []
    if bound.relation in ("<=", "<~"):
        terms += MEANT.get(bound.target.name, ())
        if STRONGLY_CONVEX in assumed or GLOBALLY_STRONGLY_CONVEX in assumed:
            terms.append("strongly convex")
        elif CONVEX in assumed:
            terms.append("convex")
        elif SMOOTH in assumed and strong_convexity not in bound.quantities:
            terms.append("non-convex")
        if POLYAK_LOJASIEWICZ in assumed:
            terms.append("Polyak-Lojasiewicz")
    return terms


def kin(bound: Bound) -> list[Bound]:
    """Other forms of the same statement."""
    return [b for b in BOUNDS.values() if b is not bound and _stem(b) == _stem(bound)]


def _stem(bound: Bound) -> tuple[str, str]:
    name, before = bound.name, ""
    while name != before:
        before, name = name, KIN.sub("", name)
    return name, bound.target.name


@cache
def claims_by_bound() -> dict[str, tuple[list[Entry], list[Entry]]]:
    """By bound: the claims that use or mention it, and separately those of them that are steps of a proof."""
    all_claims = {name: entry for paper in PAPERS for name, entry in claim_entries(paper).items()}
    by_bound = {}
    for name, claims in verdicts.by_bound(BOUNDS).items():
        entries = [all_claims[claim.name] for claim in claims if claim.name in homes()]
        steps = [entry for entry in entries if entry.kind.partition(",")[0] == "proof step"]
        by_bound[name] = [entry for entry in entries if entry not in steps], steps
    return by_bound


@cache
def figures_by_bound() -> dict[str, list[str]]:
    """By bound: the figures and tables whose code or committed numbers contain its name."""
    figures: dict[str, list[str]] = defaultdict(list)
    for name in NAMES:
        numbers = MADE / f"{name}.csv"
        text = inspect.getsource(inspect.getmodule(artefact(name).data) or artefact)
        text += numbers.read_text(encoding="utf-8") if numbers.exists() else ""
        for bound in sorted({*re.findall(r"[a-z][a-z_0-9]*(?:\.[a-z_0-9]+)+", text)} & set(BOUNDS)):
            figures[bound].append(name)
    return figures


def cited(bound: Bound) -> list[Paper]:
    """The paper that a bound is from, in a list; empty for a collection of several works."""
    paper = PAPERS[bound.source.paper]
    work = next((w for w in paper.works if bound.source.version in (w.key, w.short)), paper)
    return [] if work.works else [work]


def needs(bound: Bound) -> list[str]:
    """The names of the assumptions of a bound, in the order of the list of all."""
    assumed = {c.assumption.name for c in bound.conditions if c.assumption is not None}
    return [name for name in ASSUMPTIONS if name in assumed]


def assumed_by(found: Iterable[Bound]) -> dict[str, str]:
    """The assumptions that at least one of these bounds makes, with their descriptions."""
    names = {name for bound in found for name in needs(bound)}
    return {name: one.words for name, one in ASSUMPTIONS.items() if name in names}


def assumptions_counted() -> list[tuple[str, list[int]]]:
    """Every assumption with the number of bounds per paper that make it, the most frequent first."""
    count = {
        name: [sum(name in needs(b) for b in of_paper(paper)) for paper in PAPERS.values()] for name in ASSUMPTIONS
    }
    return sorted(count.items(), key=lambda item: -sum(item[1]))


def theorems() -> list[Bound]:
    """The inequalities on a number of a run, without single steps of recursions."""
    inequalities = [
        b
        for b in BOUNDS.values()
        if b.relation in ("<=", "<~")
        and b.statistic is not None
        and b.about is not None
        and role_of(b.target.name) == Role.OUTCOME
        and not b.target.name.startswith("next_")
        and needs(b)
    ]
    return sorted(inequalities, key=lambda b: (b.target.name, len(needs(b))))


@cache
def reach(bound: Bound) -> dict[str, str]:
    """By verb: the tool's reason why it does not take the bound; empty if it does."""
    searched = [obstacle(bound, family) for family in (QUADRATICS, CURVES, ATOMS)]
    return {
        "validate": "" if bound.name in VALIDATIONS else obstacle(bound, EXACT),
        "validate --problem": obstacle(bound, RUNS),
        "falsify": searched[0] if all(searched) else "",
        "tightness": obstacle(bound, WORST),
        "compare": _unranked(bound),
    }


def _unranked(bound: Bound) -> str:
    """Why ``compare`` does not rank the bound in any federation that runs its algorithm; empty if it does."""
    if bound.relation == "<~":
        return "it hides a constant: slopes can be compared, levels cannot"
    if bound.relation != "<=":
        return f"it states {bound.relation!r}, not an upper bound"
    kind = BoundedQuantity.of(bound)
    if kind.reading not in ("", "intended"):  # another variant of the algorithm; plans exist that rank it
        return ""
    knobs = [f"{knob}={OTHER[name]}" for name, knob, _ in KNOBS if name == kind.algorithm]
    base = [f"algorithm={kind.algorithm}"] if kind.algorithm in METHODS else []
    return mismatch(kind, Scenario.of(*knobs, *base))


@cache
def letters_by_word() -> dict[str, dict[str, list[str]]]:
    """By quantity and by paper: its letters, the most frequent first."""
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for bound in BOUNDS.values():
        for quantity, letter in letters_of(bound).items():
            count = counts.setdefault(quantity.name, {}).setdefault(bound.source.paper, {})
            count[letter] = count.get(letter, 0) + 1
    return {
        word: {paper: sorted(count, key=lambda letter: -count[letter]) for paper, count in papers.items()}
        for word, papers in sorted(counts.items())
    }


def shared_letters() -> dict[str, dict[str, list[str]]]:
    """By letter that stands for several quantities: these, with the papers."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for word, papers in letters_by_word().items():
        for paper, several in papers.items():
            for letter in several:
                meanings.setdefault(letter, {}).setdefault(word, []).append(PAPERS[paper].short)
    return {letter: words for letter, words in sorted(meanings.items()) if len(words) > 1}


def words_of_group(file: str) -> list[str]:
    """The quantities on one page of symbols."""
    bounded = {bound.target.name for bound in BOUNDS.values()}
    return [
        word
        for word in letters_by_word()
        if role_of(word) in GROUPS[file][2]
        and (role_of(word) != Role.OUTCOME or (word in bounded) == (file == "outcomes"))
    ]


def call_of(name: str, made: Callable[..., Any]) -> str:
    """The call of an algorithm with its default arguments, as text."""

    def written(parameter: inspect.Parameter) -> str:
        default = parameter.default
        if default is parameter.empty:
            return parameter.name
        return f"{parameter.name}={default if isinstance(default, Algorithm) else repr(default)}"

    return f"{name}({', '.join(map(written, inspect.signature(made).parameters.values()))})"


def fields_of(item: type) -> str:
    """The arguments of a dataclass with defaults, without types, as text; empty for other classes."""
    if not is_dataclass(item):
        return ""
    arguments = []
    for field in (field for field in fields(item) if field.init):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        arguments.append(field.name if default is MISSING else f"{field.name}={default!r}")
    return f"({', '.join(arguments)})"


def help_of(verb: str) -> str:
    """The help of a verb as the command prints it, 100 columns wide."""
    with patch.dict(os.environ, COLUMNS="100"), redirect_stdout(io.StringIO()) as printed:
        fedbounds.main([verb, "--help"])
    return printed.getvalue()
