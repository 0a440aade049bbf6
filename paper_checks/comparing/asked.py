"""``compare`` and ``advise`` as functions of Python, with the words of the verbs as arguments; the verbs call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TYPE_CHECKING

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.quantities import Quantity
from bounds.scenario import Scenario
from bounds.showing.loading import load
from bounds.showing.numbers import number
from bounds.showing.process import remark
from empirics.progress import progress

from .compare import compare as compared
from .compare_table import Compared
from .goals import OVER

if TYPE_CHECKING:  # they load torch, which --help does without
    from empirics.federation.split import Split
    from empirics.problems.problem import FederatedProblem
    from empirics.problems.tasks import Task

    from .advised import Advised

Known = Scenario | Mapping[str, Any] | str | Sequence[str] | None
"""A federation and a plan: a ``Scenario``, constants by word, ``"@file.json"``, or several texts as the shell has."""
Own = Sequence[Bound | str]


def compare(
    what: str,
    scenario: Known = None,
    *,
    own: Own = (),
    of: str | Sequence[str] = (),
    exact: bool = False,
    worst_case: float | None = None,
    problem: str | Task | FederatedProblem | None = None,
    clients: int | None = None,
    partition: str | Split = "iid",
    client_weight: str = "uniform",
    seed: int = 0,
    batch: int = 32,
    measure: int = 0,
    csv: str | PathLike[str] | None = None,
    frame: Any = None,
    target: str = "",
    group: str = "",
    leave_out: str | Sequence[str] = (),
    kind: str = "",
    model: str = "",
    regularisation: float | None = None,
    **words: Any,
) -> Compared:
    """What every bound says of one number of one federation, side by side: the verb ``fedbounds compare``.

    Args:
        what: what is bounded, such as ``grad_norm_sq``, ``optimality_gap``, ``divergence`` or ``distance_sq``.
        scenario: the federation: a ``Scenario``, a mapping (``fedbounds.constants`` returns one) or ``"@file.json"``.
        own: bounds of your own beside the papers', or ``"file.py:name"``.
        of: papers or bounds, own ones too, that alone are meant, each with its price: the least rounds at which it
            says anything; with the papers' formulas for plans, and of a single one with every condition.
        exact: exact numbers of quadratics that meet each theorem's premises.
        worst_case: seconds that exact worst cases may be solved for (0: kept ones alone; None: none).
        problem: the federation itself, for its twin and for training, as in ``fedbounds.train``.
        clients: their number, of the problem (None: one per group); the scenario's where there is no problem.
        partition: who holds what.
        client_weight: what the global loss of the problem weighs by, ``uniform`` or ``samples``.
        seed: of the partition.
        batch: samples of a minibatch.
        measure: seeds with which the problem is trained at this plan (0: nothing is trained).
        csv: a CSV file of your own, in place of ``problem``.
        frame: a pandas DataFrame, in place of ``csv``.
        target: the column of your own data to predict.
        group: the column whose values make the clients.
        leave_out: columns that are no features.
        kind: what the target holds, ``numbers`` or ``classes`` ("": as its values are, numbers with ``ridge``).
        model: of your own data (by the kind of the target).
        regularisation: L2 penalty of a linear model of your own data (None: 0.01).
        words: quantities by name, such as ``cohort=10, local_steps=16``; they go before what the scenario says.

    Raises:
        BoundsError: in one line, where nothing is about such a number, or two sources of one word disagree.
    """
    from empirics.problems.own_problem import given_or_own

    asked = {"csv": csv, "frame": frame, "target": target, "group": group, "leave_out": leave_out, "model": model}
    asked |= {"kind": kind, "regularisation": regularisation}
    problem, partition = given_or_own(problem, partition, **asked)
    if problem is None and clients is not None:
        words = {**words, "clients": clients}
    with progress("comparing", brief=not measure) as bar:
        beside = _loaded(own)
        known = scenario_of(scenario, words, beside)
        held = _held(problem, partition, clients, seed, client_weight, batch)
        return compared(
            known, what, beside, of=of, exact=exact, problem=held, batch=batch, measure=measure,
            worst_case=worst_case, bar=bar,
        )  # fmt: skip


def advise(
    goal: str,
    scenario: Known = None,
    *,
    over: Sequence[str] | str = OVER,
    within: Mapping[str, float] | Sequence[str] = (),
    to: str | tuple[str, float] | None = None,
    worst_case: float = 0.0,
    schedules: bool = False,
    problem: str | Task | FederatedProblem | None = None,
    clients: int | None = None,
    partition: str | Split = "iid",
    client_weight: str = "uniform",
    seed: int = 0,
    batch: int = 32,
    measure: int = 0,
    own: Own = (),
    csv: str | PathLike[str] | None = None,
    frame: Any = None,
    target: str = "",
    group: str = "",
    leave_out: str | Sequence[str] = (),
    kind: str = "",
    model: str = "",
    regularisation: float | None = None,
    hear: Callable[[str], None] | None = None,
    **words: Any,
) -> Advised:
    """What to run, by bounds, formulas, the quadratic twin and training: the verb ``fedbounds advise``.

    Args:
        goal: what is to be small within a budget (``optimality_gap``, ``grad_norm_sq``, ``distance_sq``), or with
            ``to`` what is spent until then (``rounds``, ``iterations``, ``seconds``, ``bytes``, ``gradients``).
        scenario: the federation and its costs, as in ``compare``.
        over: what is free of ``local_steps``, ``step_size`` and ``cohort``, which is free where it has a price.
        within: the budget, where the scenario does not state it: ``{"runtime": 20}``, or ``["bytes=1e6"]``.
        to: a target and its level: ``"optimality_gap=0.001"`` or ``("optimality_gap", 0.001)``.
        worst_case: seconds for exact worst cases of plans of at most 16 gradients (0: none).
        schedules: replay the papers' schedules on a twin so large that this takes minutes, too.
        problem: the federation itself, for the twin and for training, as in ``fedbounds.train``.
        clients: their number, of the problem (None: one per group); the scenario's where there is no problem.
        partition: who holds what.
        client_weight: what the global loss weighs by, ``uniform`` or ``samples``.
        seed: of the partition.
        batch: samples of a minibatch.
        measure: fresh seeds with which the last candidates are trained (0: nothing is trained).
        own: bounds of your own beside the papers'.
        csv: a CSV file of your own, in place of ``problem``.
        frame: a pandas DataFrame, in place of ``csv``.
        target: the column to predict.
        group: the column whose values make the clients.
        leave_out: columns that are no features.
        kind: what the target holds, ``numbers`` or ``classes`` ("": as its values are, numbers with ``ridge``).
        model: of your own data (by the kind of the target).
        regularisation: L2 penalty of a linear model of your own data (None: 0.01).
        hear: is told the first line before anything is computed.
        words: quantities by name, such as ``runtime=20, step_size=0.028``.

    Raises:
        BoundsError: in one line, where the goal cannot be told or the problem is another federation.
    """
    from empirics.problems.own_problem import given_or_own

    from .advise import advise as advised  # with torch, which --help does without

    asked = {"csv": csv, "frame": frame, "target": target, "group": group, "leave_out": leave_out, "model": model}
    asked |= {"kind": kind, "regularisation": regularisation}
    problem, partition = given_or_own(problem, partition, **asked)
    if problem is None and clients is not None:
        words = {**words, "clients": clients}
    with progress("advising", brief=not measure) as bar:
        beside = _loaded(own)
        known = scenario_of(scenario, words, beside)
        held = _held(problem, partition, clients, seed, client_weight, batch)
        free = over.split(",") if isinstance(over, str) else over
        budget = within if isinstance(within, Mapping) else dict(_level("--within", text, BUDGET) for text in within)
        return advised(
            known, goal, free, within=budget, to=_reached(to), problem=held, batch=batch, measure=measure, own=beside,
            bar=bar, worst_case=worst_case, schedules=schedules, hear=hear,
        )  # fmt: skip


def scenario_of(scenario: Known, words: Mapping[str, Any], own: Iterable[Bound] = ()) -> Scenario:
    """The scenario with these words before what it says; the quantities of one's ``own`` bounds are words too."""
    also: list[Quantity] = [quantity for bound in own for quantity in bound.quantities]
    if isinstance(scenario, Scenario):
        return scenario.at(**words)
    if scenario is None:
        return Scenario.of(also=also, **words)
    if isinstance(scenario, (str, Mapping)):
        return Scenario.of(scenario, also=also, **words)
    return Scenario.of(*scenario, also=also, **words)


def _held(
    problem: Any, partition: Any, clients: int | None, seed: int, client_weight: str, batch: int
) -> FederatedProblem | None:
    """The federation of a problem, if one is given, which is described."""
    if problem is None:
        return None
    from empirics.problems.tasks import dealt, described, task

    what = task(problem) if isinstance(problem, str) else problem
    held: FederatedProblem = dealt(what, partition, clients, seed, client_weight)
    remark(described(what, held, batch))
    return held


def _loaded(own: Own) -> list[Bound]:
    return [load(one) if isinstance(one, str) else one for one in own]


BUDGET = "gradients=1e5"


def _reached(to: str | tuple[str, float] | None) -> tuple[str, float] | None:
    return _level("--to", to, "optimality_gap=0.001") if isinstance(to, str) else to


def _level(option: str, text: str, example: str) -> tuple[str, float]:
    name, _, level = text.partition("=")
    try:
        return name, number(level)
    except Exception as error:
        what = "TARGET=NUMBER" if option == "--to" else "WORD=NUMBER"
        raise BoundsError(f"{option} must be {what}, such as {example}; got {text!r}") from error
