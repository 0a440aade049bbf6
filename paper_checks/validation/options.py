"""What a validation is told: one record for every kind of evidence, and the one place where words become numbers."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bounds.core import Bound
from bounds.showing.numbers import MOST_WORKERS, real_word, whole_number, whole_word
from bounds.showing.usage import bare_parser, UsageError
from empirics.experiments.command import path_word
from empirics.numbers import check_options
from empirics.problems.own_problem import OWN

from ..runs.demands import demands
from ..runs.methods import takes

DRAWS, EXACT, RUNS, LOG = "draws", "exact", "runs", "log"
"""Evidence: one averaging round drawn again and again, exact moments on quadratics, training, a log of the user's."""
MANY = "many"
"""In its place: many bounds, each with the evidence there is."""


@dataclass(frozen=True)
class Options:
    """The plan of a validation; an evidence reads those that it asks for, None is left to what the bound allows.

    ``problem`` and ``partition`` are text, or the objects that it names.
    ``words`` are ``quantity=value`` or ``@file.json``; ``clients`` of draws are several numbers to compare.
    """

    words: tuple[str, ...] = ()
    problem: Any = ""
    measured: Path = Path()
    clients: Any = None
    cohort: int | None = None
    partition: Any = "iid"
    seed: int = 0
    client_weight: str = "uniform"
    samples: int = 50
    rounds: int | None = None
    local_steps: int = 5
    step_size: float | None = None
    step_offset: float | None = None
    batch: int = 32
    sampling: str | None = None
    seeds: int | None = None
    algorithm: str | None = None
    instances: int = 3
    dim: int = 2
    noise: float = 0.3
    relaxation: float = 0.06
    regularisation: float = 0.5
    concentration: float = 0.3
    workers: int = 2
    out: Path = Path("out")

    @classmethod
    def of(cls, evidence: str, **told: Any) -> Options:
        """The plan for an evidence: what is told, and the usual for the rest; refuses numbers that are nonsense."""
        made = cls(**{**{name: asked.usual for name, asked in ASKED[evidence].items()}, **told})
        if evidence == RUNS and made.clients is None and not str(made.partition).startswith("by_group"):
            made = replace(made, clients=10)
        for count in made.clients if evidence == DRAWS else [made.clients]:
            given = {**vars(made), "clients": count}
            check_options({name: value for name, value in given.items() if value is not None})
        return made


@dataclass(frozen=True)
class Asked:
    """An option: what it is without a word of the user's, its help, how it is read and named there."""

    usual: Any
    help: str
    type: Callable[[str], Any] = whole_word
    metavar: str | None = None
    required: bool = False


def counts(text: str) -> tuple[int, ...]:
    """Numbers of clients from a list such as ``1,2,5``, in increasing order."""
    try:
        return tuple(sorted({whole_word(part.strip()) for part in text.split(",")}))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"must be whole numbers separated by commas; got {text!r}") from None


COHORT = "clients per round (half, or all where the theorem asks for it)"
FALLS = "the step size of iteration t, from 0, is G/(G + t) of the first (where it falls: what the theorem says, or 10)"
USUAL = "softmax(digits, regularisation=0.5)"
"""What is trained where one of many bounds needs a problem and none is named: its data come with scikit-learn."""
CARD = Asked(Path("out"), "folder of the CSV and the JSON card (./out)", path_word, "DIR")
ASKED: Mapping[str, Mapping[str, Asked]] = {
    DRAWS: {
        "clients": Asked((1, 2, 5, 10, 20, 50), "numbers of clients to compare", counts, "K,K,..."),
        "seeds": Asked(None, "independent draws (default: 120 for ridge, 60 for softmax)"),
        "samples": Asked(20, "samples of each client (default 20)"),
        "regularisation": Asked(0.5, "L2 penalty, which is mu (default 0.5)", real_word),
        "concentration": Asked(0.3, "of the Dirichlet class priors of label-skewed clients (default 0.3)", real_word),
        "workers": Asked(2, "threads; the numbers do not depend on it (default 2)"),
        "out": Asked(Path("out"), "folder of the results (./out)", path_word, "DIR"),
    },
    EXACT: {
        "instances": Asked(3, "random problems (3)"),
        "clients": Asked(4, "quadratic clients (4)"),
        "cohort": Asked(None, COHORT),
        "dim": Asked(2, "parameters (2)"),
        "noise": Asked(0.3, "size of the gradient noise (0.3)", real_word),
        "rounds": Asked(5, "rounds (5)"),
        "local_steps": Asked(3, "local steps (3)"),
        "relaxation": Asked(0.06, "FedInit's beta (0.06)", real_word),
        "step_size": Asked(None, "step size (the largest that meets the conditions, halved from 1/L)", real_word),
        "step_offset": Asked(None, FALLS, real_word, "G"),
        "out": Asked(Path("out"), "folder of the CSV (./out)", path_word, "DIR"),
    },
    RUNS: {
        "problem": Asked("", "what to train, such as softmax(digits)", str, "MODEL(DATA)", required=True),
        "clients": Asked(None, "number of clients (10; with by_group(): all groups)", metavar="N"),
        "cohort": Asked(None, COHORT, metavar="M"),
        "partition": Asked("iid", "who holds what (iid)", str, "CALL"),
        "seed": Asked(0, "seed of the partition (0)", metavar="N"),
        "client_weight": Asked("uniform", "uniform or samples (uniform)", str),
        "samples": Asked(50, "draws per client, for population risks (50)", metavar="N"),
        "rounds": Asked(None, "rounds (10, or 1 where the theorem is about one)", metavar="R"),
        "local_steps": Asked(5, "local steps (5)", metavar="K"),
        "step_size": Asked(None, "step size (1/L, halved until the conditions hold)", real_word, "X"),
        "step_offset": Asked(None, FALLS, real_word, "G"),
        "batch": Asked(32, "minibatch size (32)", metavar="N"),
        "sampling": Asked(None, "without_replacement, with_replacement, bernoulli (what is assumed)", str, "WORD"),
        "seeds": Asked(5, "runs (5)", metavar="S"),
        "algorithm": Asked(None, "train this instead of what the bound is about", str, "CALL"),
        "out": CARD,
    },
    LOG: {
        "measured": Asked(None, "CSV; seed and round may be columns too", path_word, "FILE", required=True),
        "out": CARD,
    },
    MANY: {
        "problem": Asked("", f"train what can be trained there (what has to be: {USUAL})", str, "MODEL(DATA)"),
        "workers": Asked(2, "processes (2)", whole_number(1, MOST_WORKERS), "N"),
        "out": Asked(None, "CSV with one row per bound", path_word, "FILE"),
    },
}
"""What each evidence asks for."""
WORDS = {RUNS: "constants that the problem does not know", LOG: "values that hold for all rows, or @file.json"}
AS_JSON = "--json"
VALIDATE_JSON = """\
--json prints one object: bound, source, statistic, relation, command, lines (what tells them apart, such as round; then
measured, standard_error, bound, bound_error, low, high, outside, ratio, verdict, why, parts), violated (how many lines
are), conditions, findings, error_rate, versions, wrote, and what the plan was, as in the JSON card of -o."""
DRAWN = "handwritten digits, ridge and softmax regression, iid and label-skewed clients, one exact averaging round"
QUADRATIC = "exact expectations on random quadratic clients, inside the conditions"


def described(bound: Bound, evidence: str) -> str:
    """What a validation by this evidence does, in a line."""
    return {
        DRAWS: DRAWN,
        EXACT: QUADRATIC,
        RUNS: f"{bound.name} against training: {bound.about}, {bound.statistic or 'every round'}",
        LOG: f"{bound.name} against your own log; its columns are words, {bound.target.name} a must",
    }[evidence]


def parsed(bound: Bound, evidence: str, arguments: Sequence[str]) -> Options | None:
    """The plan that command-line arguments ask for; None after --help."""
    below = [*([OWN] if evidence == RUNS else []), VALIDATE_JSON]
    found = typed(evidence, arguments, bound.name, described(bound, evidence), below)
    if found is None:
        return None
    del found["json"]  # how it is told, and no part of the plan
    refuse_idle(bound, evidence, found)
    return Options.of(evidence, **{**found, "words": tuple(found.get("words", ()))})


def typed(evidence: str, arguments: Sequence[str], name: str, what: str, below: Sequence[str]) -> dict[str, Any] | None:
    """The options that command-line arguments give, by name; None after --help, which says ``what`` is done."""
    parser = bare_parser("validate", what, below=below)
    parser.prog = f"fedbounds validate {shlex.quote(name)}"
    if evidence in WORDS:
        parser.add_argument("words", nargs="*", metavar="quantity=value", help=WORDS[evidence])
    for name, asked in ASKED[evidence].items():
        parser.add_argument(
            "-o" if name == "out" else f"--{name.replace('_', '-')}",
            dest=name,
            default=argparse.SUPPRESS,
            help=asked.help,
            type=asked.type,
            metavar=asked.metavar,
            required=asked.required,
        )
    parser.add_argument(AS_JSON, dest="json", action="store_true", help="print JSON, described below")
    try:
        return vars(parser.parse_intermixed_args(list(arguments)))
    except SystemExit:
        return None


def refuse_idle(bound: Bound, evidence: str, typed: Collection[str]) -> None:
    """Refuse an option that was given and would change nothing for this bound."""
    if reason := _idle(bound, evidence, typed):
        raise UsageError(f"{reason}; leave it out")


def _idle(bound: Bound, evidence: str, typed: Collection[str]) -> str:
    """Why an option that was typed would change nothing for this bound; empty if all of them count."""
    uses = {q.name for q in bound.quantities}
    asked = demands(bound)
    if evidence in (EXACT, RUNS) and (fixed := [name for name in asked.plan if name in typed]):
        return f"--{fixed[0].replace('_', '-')} changes nothing: {bound.name} is on {asked.plan[fixed[0]]}"
    if asked.quiet and (loud := {EXACT: "noise", RUNS: "batch"}.get(evidence)) in typed:
        return f"--{loud} changes nothing: {bound.name} is on exact gradients"
    if (
        evidence == EXACT
        and "relaxation" in typed
        and "relaxation" not in uses
        and not takes(bound.about, "relaxation")
    ):
        return f"--relaxation changes nothing: {bound.name} is about {bound.about}, which does not take it"
    if evidence == RUNS and "samples" in typed:
        from .reading import fresh, needs_population  # here: they bring torch, which --help does without

        if fresh(bound):
            return f"--samples changes nothing: {bound.name} is on new samples in every round, --local-steps * --batch"
        if not needs_population(bound):
            return f"--samples changes nothing: {bound.name} speaks of no population risk"
    return ""
