"""The Python function behind ``fedbounds validate``; its keyword arguments are the options of the command."""

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
from empirics.problems.own_problem import OWN_DATA, resolve_problem
from empirics.problems.problem import FederatedProblem
from empirics.progress import progress

from ..runs.methods import demands, takes
from ..runs.obstacles import obstacle
from ..runs.origins import EXACT, RUNS
from . import validate as validate_by, VALIDATIONS
from .comparison import Comparison
from .options import DRAWS, LOG, MANY, OPTION_NAMES, Options
from .survey import Survey, survey

if TYPE_CHECKING:
    from empirics.federation.partitions import Split
    from empirics.problems.tasks import Task


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
    """Compare a bound with a measurement. Without a bound, list the bounds this works for.

    With a problem (or data of your own) the measurement is training, with --measured a log of your own runs, and
    otherwise exact expectations or draws of one averaging round, whichever is available for this bound.

    Args:
        bound: A bound by name, or path/file.py:variable; "all" or a pattern such as "fedinit.*" measures many in one
            table (options: --problem and --workers).
        words: Constants that neither problem nor log determines, as quantity=value or @file.json.
        problem: What to train, such as "softmax(digits)".
        measured: A CSV file of your own runs; seed and round may be columns too.
        clients: Number of clients (10; by_group(): all groups; exact: 4), or several (draws: 1,2,5,10,20,50).
        cohort: Clients per round (half, or all if the theorem assumes it).
        partition: How the data are split over the clients (iid).
        seed: Seed of the partition (0).
        client_weight: Weights of the clients in the average: uniform or samples (uniform).
        samples: Samples of each client (draws: 20), or draws per client for population risks (50).
        rounds: Rounds (10, or 1 if the theorem is about one round; exact: 5).
        local_steps: Local steps per round (5; exact: 3).
        step_size: Step size (the largest that meets the conditions, halved from 1/L).
        step_offset: The step size of iteration t, from 0, is G/(G + t) of the first (as in the theorem, or 10).
        batch: Minibatch size (32).
        sampling: without_replacement, with_replacement or bernoulli (as the theorem assumes).
        seeds: Runs (5), or independent draws (120 for ridge, 60 for softmax).
        algorithm: Train this instead of the algorithm of the bound.
        instances: Random quadratic problems (3).
        dim: Parameters of the quadratic problems (2).
        noise: Size of the gradient noise (0.3).
        relaxation: FedInit's beta (0.06).
        regularisation: L2 penalty (draws: 0.5; data of your own: 0.01).
        concentration: Concentration of the Dirichlet class priors of label-skewed clients (0.3).
        workers: Threads for draws, processes for many bounds (2).
        csv: A CSV file of your own with a header, in place of a problem; a fifth of its lines is held out for tests.
        frame: A pandas DataFrame, in place of ``csv``.
        target: The column to predict; all other columns are features and contain numbers.
        group: The column whose values are the clients, in place of partition.
        leave_out: Columns that are not features, separated by commas.
        kind: Kind of the target: numbers or classes (numbers with ridge; else text and few integers are classes).
        model: ridge, logistic, softmax, svm or a network (ridge for numbers, logistic for two classes, else softmax).

    Raises:
        BoundsError: if the plan cannot be run, or an option has no effect for this bound.
    """
    if bound == "":
        return Report(usage(), usage())
    given = {name: x for name, x in locals().items() if x is not None and not (isinstance(x, str | tuple) and not x)}
    del given["bound"]
    if isinstance(bound, str) and (bound == "all" or (not {*"*?["}.isdisjoint(bound) and ":" not in bound)):
        if idle := [name for name in given if name not in OPTION_NAMES[MANY]]:
            raise unknown(f"option of a validation of {bound}", idle[0], ["problem", "workers"])
        return survey(bound, **given)
    has_table = not {"csv", "frame"}.isdisjoint(given)  # otherwise regularisation is an option of draws
    names_of_own = [name for name in OWN_DATA if name in given and (has_table or name != "regularisation")]
    own = {name: given.pop(name) for name in names_of_own}
    own_problem, split = resolve_problem(given.pop("problem", None), given.pop("partition", "iid"), **own)
    if own_problem is not None:
        given["problem"] = own_problem
    if partition is not None or split != "iid":
        given["partition"] = split
    if measured is not None:
        given["measured"] = Path(measured)
    bound, constants = load(bound), list(given.pop("words", ()))
    evidence = evidence_of(bound, given.keys() & {"problem", "measured"})
    names = OPTION_NAMES[evidence]
    if evidence in (LOG, RUNS):  # a quantity that is not an option of this evidence is a constant
        quantities = {"clients", *(q.name for q in bound.quantities)}
        constants += [f"{name}={given.pop(name)}" for name in list(given) if name in quantities and name not in names]
    for name in (*given, *(() if evidence in (LOG, RUNS) else constants)):
        if name not in names:
            raise unknown(f"option of this validation of {bound.name}", name, names)
    _refuse_idle(bound, evidence, given)
    if isinstance(own_problem, FederatedProblem):
        given = {"clients": own_problem.clients, "client_weight": own_problem.client_weight, **given}
    if "clients" in given and evidence == DRAWS:
        given["clients"] = tuple(sorted({clients} if isinstance(clients, int) else set(clients or ())))
    with progress() as bar:
        return validate_by(bound, evidence, Options.of(evidence, **given, words=tuple(constants)), bar)


def usage() -> list[str]:
    """Return one command per bound that can be measured."""
    names = sorted(name for name, bound in BOUNDS.items() if name in VALIDATIONS or not obstacle(bound, RUNS))
    return [f"fedbounds validate {n}{'' if n in VALIDATIONS else ' --problem MODEL(DATA)'}" for n in names]


def evidence_of(bound: Bound, given: Set[str]) -> str:
    """The kind of evidence that the ``given`` options choose: ``problem``, ``measured``, or none of them."""
    if {"measured", "problem"} <= given:
        raise UsageError("--problem trains runs, --measured reads your own runs: leave one of the two out")
    if "measured" in given:
        return LOG
    if bound.name in VALIDATIONS and not given:
        return VALIDATIONS[bound.name]
    reason, exact = obstacle(bound, RUNS), not obstacle(bound, EXACT)
    if reason and not exact:
        raise BoundsError(f"{bound.name} cannot be measured here: {reason}; compare your own runs: --measured runs.csv")
    if not given and not exact:
        more = 'give --problem "softmax(digits)", or any other, to train; or --measured runs.csv'
        raise UsageError(f"{bound.name} is measured on a problem: {more}")
    return RUNS if given else EXACT


def _refuse_idle(bound: Bound, evidence: str, given: Collection[str]) -> None:
    """Raise if an option was given that has no effect for this bound."""
    names, required = {q.name for q in bound.quantities}, demands(bound)
    idle = {}  # by option: why
    if evidence in (EXACT, RUNS):
        idle = {name: f"{bound.name} is on {number}" for name, number in required.plan.items()}
        if required.quiet:
            idle["noise" if evidence == EXACT else "batch"] = f"{bound.name} is on exact gradients"
    if evidence == EXACT and "relaxation" not in names and not takes(bound.about, "relaxation"):
        idle["relaxation"] = f"{bound.name} is about {bound.about}, which does not take it"
    if evidence == RUNS and "samples" in given:
        from .measurement_plan import fresh, needs_population  # loads torch, which --help does not need

        if fresh(bound):
            idle["samples"] = f"{bound.name} is on new samples in every round, --local-steps * --batch"
        elif not needs_population(bound):
            idle["samples"] = f"{bound.name} has no population risk"
    for name in (name for name in idle if name in given):
        raise UsageError(f"--{name.replace('_', '-')} changes nothing: {idle[name]}; leave it out")
