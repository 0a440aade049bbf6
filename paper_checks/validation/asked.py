"""``validate`` as a function of Python, with the options of the verb as keyword arguments."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from os import PathLike
from pathlib import Path
from typing import Any, TYPE_CHECKING

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError, unknown
from bounds.showing.command_line import Report
from bounds.showing.loading import load
from bounds.showing.usage import UsageError
from empirics.problems.own_problem import given_or_own
from empirics.problems.problem import FederatedProblem
from empirics.progress import progress

from ..runs.can import can
from ..runs.methods import demands, takes
from . import validate as validated, VALIDATIONS
from .comparison import Comparison
from .every import Survey, survey
from .options import ASKED, DRAWS, EXACT, LOG, MANY, Options, RUNS

if TYPE_CHECKING:
    from empirics.federation.split import Split
    from empirics.problems.tasks import Task

OWN_DATA = ("csv", "frame", "target", "group", "leave_out", "kind", "model")


def validate(
    bound: Bound | str = "",
    *words: str,
    problem: str | Task | FederatedProblem | None = None,
    measured: Path | str | None = None,
    clients: int | Sequence[int] | None = None,
    cohort: int | None = None,
    partition: str | Split | None = None,
    seed: int | None = None,
    client_weight: str | None = None,
    samples: int | None = None,
    rounds: int | None = None,
    local_steps: int | None = None,
    step_size: float | None = None,
    step_offset: float | None = None,
    batch: int | None = None,
    sampling: str | None = None,
    seeds: int | None = None,
    algorithm: str | None = None,
    instances: int | None = None,
    dim: int | None = None,
    noise: float | None = None,
    relaxation: float | None = None,
    regularisation: float | None = None,
    concentration: float | None = None,
    workers: int | None = None,
    csv: str | PathLike[str] | None = None,
    frame: Any = None,
    target: str = "",
    group: str = "",
    leave_out: str | Sequence[str] = (),
    kind: str = "",
    model: str = "",
) -> Comparison | Survey | Report:
    """Compare a bound with a measurement; without a bound, list those that this works for.

    With a problem (or data of your own) the bound is compared with training, with measured with a log of yours, and
    otherwise with what there is for this bound: exact expectations, or draws of one averaging round.

    Args:
        bound: A bound of the list, or path/file.py:variable; all or a pattern such as fedinit.* measures many, in one
            table, with --problem and --workers.
        words: Constants that a problem or a log does not know, as quantity=value or @file.json.
        problem: What to train, such as "softmax(digits)".
        measured: A CSV file of your own runs; seed and round may be columns too.
        clients: Number of clients (10; by_group(): all groups; exact: 4), or several (draws: 1,2,5,10,20,50).
        cohort: Clients per round (half, or all where the theorem asks for it).
        partition: How the data are split over the clients (iid).
        seed: Seed of the partition (0).
        client_weight: Weights of the clients in the average: uniform or samples (uniform).
        samples: Samples of each client (draws: 20), or draws per client for population risks (50).
        rounds: Rounds (10, or 1 where the theorem is about one; exact: 5).
        local_steps: Local steps per round (5; exact: 3).
        step_size: Step size (the largest that meets the conditions, halved from 1/L).
        step_offset: The step size of iteration t, from 0, is G/(G + t) of the first (what the theorem says, or 10).
        batch: Minibatch size (32).
        sampling: without_replacement, with_replacement or bernoulli (what is assumed).
        seeds: Runs (5), or independent draws (120 for ridge, 60 for softmax).
        algorithm: Train this instead of the algorithm of the bound.
        instances: Random quadratic problems (3).
        dim: Parameters of the quadratic problems (2).
        noise: Size of the gradient noise (0.3).
        relaxation: FedInit's beta (0.06).
        regularisation: L2 penalty (draws: 0.5; data of your own: 0.01).
        concentration: Of the Dirichlet class priors of label-skewed clients (0.3).
        workers: Threads of draws, processes of many bounds (2).
        csv: A CSV file of your own with a header, in place of a problem; a fifth of its lines is held out for tests.
        frame: a pandas DataFrame, in place of ``csv``.
        target: The column to predict; all others are features and hold numbers.
        group: The column whose values are the clients, in place of partition.
        leave_out: Columns that are not features, separated by commas.
        kind: What the target holds: numbers or classes (numbers with ridge; else text and few integers are classes).
        model: ridge, logistic, softmax, svm or a network (ridge for numbers, logistic for two classes, else softmax).

    Raises:
        BoundsError: where the plan cannot be held, or an option changes nothing for this bound.
    """
    if bound == "":
        return Report(usage(), usage())
    given = {name: x for name, x in locals().items() if x is not None and not (isinstance(x, str | tuple) and not x)}
    del given["bound"]
    if isinstance(bound, str) and (bound == "all" or (not {*"*?["}.isdisjoint(bound) and ":" not in bound)):
        if idle := [name for name in given if name not in ASKED[MANY]]:
            raise unknown(f"option of a validation of {bound}", idle[0], ["problem", "workers"])
        return survey(bound, **given)
    own = {name: given.pop(name) for name in OWN_DATA if name in given}
    if own.keys() & {"csv", "frame"} and "regularisation" in given:
        own["regularisation"] = given.pop("regularisation")
    found, split = given_or_own(given.pop("problem", None), given.pop("partition", "iid"), **own)
    given |= {} if found is None else {"problem": found}
    given |= {} if partition is None and split == "iid" else {"partition": split}
    given |= {} if measured is None else {"measured": Path(measured)}
    held, spoken = load(bound) if isinstance(bound, str) else bound, list(given.pop("words", ()))
    evidence = evidence_of(held, given.keys() & {"problem", "measured"})
    quantities = {"clients", *(q.name for q in held.quantities)}
    for name in [name for name in given if name in quantities and name not in ASKED[evidence]]:
        if evidence in (LOG, RUNS):  # a constant, and no option
            spoken.append(f"{name}={given.pop(name)}")
    for name in (*given, *(spoken if evidence not in (RUNS, LOG) else ())):
        if name not in ASKED[evidence]:
            raise unknown(f"option of this validation of {held.name}", name, ASKED[evidence])
    _refuse_idle(held, evidence, given)
    if isinstance(found, FederatedProblem):
        given = {"clients": found.clients, "client_weight": found.client_weight, **given}
    if "clients" in given and evidence == DRAWS:
        given["clients"] = tuple(sorted({clients} if isinstance(clients, int) else set(clients or ())))
    with progress() as bar:
        return validated(held, evidence, Options.of(evidence, **given, words=tuple(spoken)), bar)


def usage() -> list[str]:
    """One line per bound that can be measured."""
    names = sorted(name for name, bound in BOUNDS.items() if name in VALIDATIONS or not can(bound, RUNS))
    return [f"fedbounds validate {n}{'' if n in VALIDATIONS else ' --problem MODEL(DATA)'}" for n in names]


def evidence_of(bound: Bound, given: Set[str]) -> str:
    """Which evidence the options that are ``given`` mean: ``problem``, ``measured``, or none of them."""
    if {"measured", "problem"} <= given:
        raise UsageError("--problem trains runs, --measured reads runs of yours: leave one of the two out")
    if "measured" in given:
        return LOG
    if bound.name in VALIDATIONS and not given:
        return VALIDATIONS[bound.name]
    reason, exact = can(bound, RUNS), not can(bound, EXACT)
    if reason and not exact:
        raise BoundsError(f"{bound.name} cannot be measured: {reason}; fedbounds validate lists what can be")
    if not given and not exact:
        more = 'give --problem "softmax(digits)", or any other, to train; or --measured runs.csv'
        raise UsageError(f"{bound.name} is measured on a problem: {more}")
    return RUNS if given else EXACT


def _refuse_idle(bound: Bound, evidence: str, given: Collection[str]) -> None:
    """Refuse an option that was given and would change nothing for this bound."""
    uses, asked = {q.name for q in bound.quantities}, demands(bound)
    idle = {}
    if evidence in (EXACT, RUNS):
        idle = {name: f"{bound.name} is on {number}" for name, number in asked.plan.items()}
        if asked.quiet:
            idle["noise" if evidence == EXACT else "batch"] = f"{bound.name} is on exact gradients"
    if evidence == EXACT and "relaxation" not in uses and not takes(bound.about, "relaxation"):
        idle["relaxation"] = f"{bound.name} is about {bound.about}, which does not take it"
    if evidence == RUNS and "samples" in given:
        from .reading import fresh, needs_population  # here: they bring torch, which --help does without

        if fresh(bound):
            idle["samples"] = f"{bound.name} is on new samples in every round, --local-steps * --batch"
        elif not needs_population(bound):
            idle["samples"] = f"{bound.name} has no population risk"
    for name in (name for name in idle if name in given):
        raise UsageError(f"--{name.replace('_', '-')} changes nothing: {idle[name]}; leave it out")
