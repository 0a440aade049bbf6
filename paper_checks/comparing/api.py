"""The Python functions ``fedbounds.compare`` and ``fedbounds.advise``, and the help texts of their commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple, TYPE_CHECKING

from bounds.catalog import with_own
from bounds.core import Bound
from bounds.errors import BoundsError, MissingQuantityError
from bounds.letters import by_quantity, quantity_named
from bounds.papers import PAPERS
from bounds.scenario import Scenario
from bounds.scenario_values import QUANTITIES
from bounds.showing.loading import load
from bounds.showing.numbers import read_number
from bounds.showing.process import remark
from bounds.showing.usage import refuse_unused
from bounds.trivial_bounds import trivial
from empirics.numbers import check_options
from empirics.progress import progress

from .goal import CHOOSABLE, Goal, not_fedavg, OVER
from .rows import EvidenceSet, rank_rows, RANKED, State
from .table import ComparisonTable

if TYPE_CHECKING:  # they load torch, which bounds do without
    from empirics.federation.partitions import Split
    from empirics.problems.problem import FederatedProblem
    from empirics.problems.tasks import Task

    from .advice_table import AdviceTable

Known = Scenario | Mapping[str, Any] | str | Sequence[str] | None
"""A federation and a plan: a ``Scenario``, constants by name, ``"@file.json"``, or several texts as in the shell."""
Own = Bound | str | Sequence[Bound | str]
OF_PROBLEM = ("partition", "seed", "measure", "schedules")
"""Options that have no effect without a problem."""
COMPARE_WORDS = """\
quantity=value: one number (0.5, 1e-3, 1/3), or a list 1,2,3 where it varies over clients; client_weight=uniform;
@file.json has constants (fedbounds constants writes them), which quantity=value overrides. What follows from other
quantities is left out: iterations from local_steps and rounds, rounds from runtime and the times, initial_gap from two
losses. sampling=with_replacement draws clients by their weights; relaxation=0.1 makes the method FedInit, otherwise it
is FedAvg; algorithm=scaffold is SCAFFOLD with zero initial controls.
Rows are ranked by "to", the value that holds for all admissible constants; "from" is the value with every uncertain
constant at its other end, "via" names the conversions to the row's quantity, "x start" is "to" over the value before
training."""
ADVISE_WORDS = """\
A budget is runtime=20, rounds=50, iterations=400 or communicated_bytes=1e6 of a participant; or of all participants
--within bytes=4e7 or --within gradients=1e5. Fix a quantity by giving its value, step_size=0.028: formulas for the
others are evaluated there. A runtime needs communication_time and minibatch_time, seconds of a round and of a step;
where clients differ, client_minibatch_time (a list), or client_download_rate and client_upload_rate with model_size: a
round then takes as long as its slowest participant. Bounds and formulas need constants only (@file.json, which
fedbounds constants writes). The surrogate, schedules and training need the federation: --problem or --csv."""


def compare(
    quantity: str,
    scenario: Known = None,
    *,
    own: Own = (),
    of: str | Sequence[str] = (),
    exact: bool = False,
    worst_case: float | None = None,
    problem: str | Task | FederatedProblem | None = None,
    clients: int | None = None,
    partition: str | Split = "iid",
    client_weight: str | Sequence[float] | None = None,
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
    how: bool = False,
    **words: Any,
) -> ComparisonTable:
    """Compare all bounds on one quantity of your federation: the verb ``fedbounds compare``.

    Args:
        quantity: what the bounds are on: ``grad_norm_sq``, ``optimality_gap``, ``divergence``, ``distance_sq``, ...
        scenario: the federation: a ``Scenario``, a mapping (``fedbounds.constants`` returns one) or ``"@file.json"``.
        own: bounds of your own beside the papers', or ``"file.py:name"``.
        of: restrict the table to these papers or bounds (also own ones), and add the minimum number of rounds at which
            each is informative and the papers' formulas for plans; of a single one every condition.
        exact: compare with exact values of quadratics that satisfy each theorem's premises.
        worst_case: seconds for solving exact worst cases (0: use committed ones; None: none).
        problem: the federation with its data, for its quadratic surrogate and for training, as in ``fedbounds.train``.
        clients: number of clients of the problem (None: one per group), or of the scenario without a problem.
        partition: how the data are split over the clients.
        client_weight: weights in the problem's global loss, ``uniform`` (by default) or ``samples``; or the scenario's.
        seed: seed of the partition.
        batch: samples of a minibatch.
        measure: number of seeds to train the problem with by this plan (0: no training).
        csv: a CSV file of your own, in place of ``problem``.
        frame: a pandas DataFrame, in place of ``csv``.
        target: the column of your own data to predict.
        group: the column whose values are the clients.
        leave_out: columns that are not features.
        kind: of the target, ``numbers`` or ``classes`` ("": as its values are, numbers with ``ridge``).
        model: for your own data (by default chosen by the kind of the target).
        regularisation: L2 penalty of a linear model of your own data (None: 0.01).
        how: show the source of every value.
        words: quantities by name, such as ``cohort=10, local_steps=16``; they override the scenario.

    Raises:
        BoundsError: if no bound is on this quantity, or two sources of one quantity disagree.
    """
    names = (of,) if isinstance(of, str) and of else tuple(of)
    with progress("comparing", brief=not measure) as bar:
        inputs = _inputs(
            scenario, words, own, names, measure, problem=problem, partition=partition, clients=clients, seed=seed,
            client_weight=client_weight, batch=batch, csv=csv, frame=frame, target=target, group=group, kind=kind,
            leave_out=leave_out, model=model, regularisation=regularisation,
            example=f"fedbounds compare {quantity} {{}} local_steps=4 step_size=0.01 rounds=100",
        )  # fmt: skip
        scenario, federation = inputs.scenario, inputs.problem
        quantity, book, rows = rank_rows(quantity, scenario, inputs.book, names)
        evidence: list[EvidenceSet] = []
        if exact:
            from .evidence import exact_evidence

            bar.doing("exact moments of quadratics")
            evidence.append(exact_evidence(scenario, book))
        if federation is not None:
            from .evidence import surrogate_evidence

            bar.doing("the quadratic surrogate")
            evidence.append(surrogate_evidence(scenario, quantity, federation, batch))
        if worst_case is not None:
            from .worst_evidence import worst_case_evidence

            bar.doing("exact worst cases")
            evidence.append(worst_case_evidence(scenario, rows, book, worst_case))
        if measure and federation is not None:
            from .evidence import training_evidence

            evidence.append(training_evidence(scenario, quantity, federation, batch, measure, bar))
        start = trivial(quantity, scenario)
        table = ComparisonTable(quantity, scenario, tuple(rows), start, of=names, how=how).beside(evidence)
        if not names:
            return table
        from .bound_advice import formula_values, minimum_rounds

        fewest = {}
        for name in dict.fromkeys(row.bound for row in table.rows if row.state in (*RANKED, State.NOT_MET)):
            bar.doing(f"rounds until {name} is informative")
            fewest[name] = minimum_rounds(book[name], scenario, quantity)
        with_rounds = tuple(replace(row, minimum_rounds=fewest.get(row.bound)) for row in table.rows)
        return replace(table, rows=with_rounds, formulas=tuple(formula_values(scenario, quantity, names)))


def advise(
    goal: str,
    scenario: Known = None,
    *,
    over: Sequence[str] | str | None = None,
    within: Mapping[str, float] | Sequence[str] = (),
    to: str | tuple[str, float] | None = None,
    worst_case: float = 0.0,
    schedules: bool = False,
    problem: str | Task | FederatedProblem | None = None,
    clients: int | None = None,
    partition: str | Split = "iid",
    client_weight: str | Sequence[float] | None = None,
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
    **words: Any,
) -> AdviceTable:
    """Recommend a plan by bounds, formulas, the quadratic surrogate and training: the verb ``fedbounds advise``.

    Args:
        goal: the quantity to minimise within a budget (``optimality_gap``, ``grad_norm_sq``, ``distance_sq``), or with
            ``to`` what is spent until the target (``rounds``, ``iterations``, ``seconds``, ``bytes``, ``gradients``).
        scenario: the federation and its costs, as in ``compare``.
        over: what to optimise of ``local_steps``, ``step_size`` and ``cohort`` (if more participants cost more).
            None: local steps and step size, except the one that ``words`` give.
        within: the budget, if the scenario has none: ``{"runtime": 20}``, or ``["bytes=1e6"]``.
        to: a target and its level: ``"optimality_gap=0.001"`` or ``("optimality_gap", 0.001)``.
        worst_case: seconds for exact worst cases of plans of at most 16 gradients (0: none).
        schedules: follow the papers' schedules even if the surrogate is so large that this takes minutes.
        problem: the federation with its data, for the surrogate and for training, as in ``fedbounds.train``.
        clients: number of clients of the problem (None: one per group), or of the scenario without a problem.
        partition: how the data are split over the clients.
        client_weight: weights in the problem's global loss, ``uniform`` (by default) or ``samples``; or the scenario's.
        seed: seed of the partition.
        batch: samples of a minibatch.
        measure: fresh seeds with which the last candidates are trained (0: no training).
        own: bounds of your own beside the papers'.
        csv: a CSV file of your own, in place of ``problem``.
        frame: a pandas DataFrame, in place of ``csv``.
        target: the column to predict.
        group: the column whose values are the clients.
        leave_out: columns that are not features.
        kind: of the target, ``numbers`` or ``classes`` ("": as its values are, numbers with ``ridge``).
        model: for your own data (by default chosen by the kind of the target).
        regularisation: L2 penalty of a linear model of your own data (None: 0.01).
        words: quantities by name, such as ``runtime=20, step_size=0.028``.

    Raises:
        BoundsError: if the goal cannot be computed or the problem is another federation than the scenario.
    """
    from .advice_table import AdviceTable
    from .advising import judge_plans, sorted_rows, worst_case_plan
    from .bound_advice import of_bounds, of_formulas

    if "=" in goal:
        raise BoundsError(f"the goal comes first, such as optimality_gap; got {goal!r} there")
    names = _optimised(over, scenario, words)
    free = tuple(word for word in CHOOSABLE if word in names)
    budget = within if isinstance(within, Mapping) else dict(_level("--within", text) for text in within)
    with progress("advising", brief=not measure) as bar:
        inputs = _inputs(
            scenario, words, own, (), measure, problem=problem, partition=partition, clients=clients, seed=seed,
            client_weight=client_weight, batch=batch, csv=csv, frame=frame, target=target, group=group, kind=kind,
            leave_out=leave_out, model=model, regularisation=regularisation,
            example=f"fedbounds advise {goal} {{}} {'iterations=2000' if to is None else f'--to {to}'}",
        )  # fmt: skip
        level = _level("--to", to) if isinstance(to, str) else to
        target_goal = Goal.of(inputs.scenario, goal, level, batch, budget, names)
        if measure and (why := not_fedavg(inputs.scenario)):
            raise BoundsError(f"nothing is measured here: {why}")
        rows, no_advice = of_bounds(target_goal, free, inputs.book, bar)
        rows += of_formulas(target_goal, free)
        if worst_case:
            rows += worst_case_plan(target_goal, free, worst_case, no_advice, bar)
        race, known = None, inputs.problem is not None
        if inputs.problem is not None:
            rows, race = judge_plans(rows, no_advice, inputs.problem, target_goal, free, measure, schedules, bar)
        return AdviceTable(target_goal, free, sorted_rows(rows), tuple(no_advice), race, known, inputs.typed)


def _optimised(over: Sequence[str] | str | None, scenario: Known, words: Mapping[str, Any]) -> Sequence[str]:
    """The quantities to optimise; those given by value are fixed, those in a file or a scenario are not."""
    texts = [scenario] if isinstance(scenario, str) else scenario if isinstance(scenario, Sequence) else ()
    typed = {quantity_named(text.partition("=")[0], QUANTITIES, *PAPERS) for text in (*words, *texts)}
    if over is None:
        if not (free := [word for word in OVER if word not in typed]):
            raise BoundsError(f"{' and '.join(OVER)} are given, so nothing is optimised: leave one of them out")
        return free
    names = over.split(",") if isinstance(over, str) else over
    if not over:
        raise BoundsError(f"over must name what is optimised: {', '.join(CHOOSABLE)}")
    for word in (word for word in names if word in typed):
        raise BoundsError(f"{word} is given, and over names it: leave {word}=NUMBER out, or {word} out of over")
    return names


def check_compare(options: Mapping[str, Any]) -> None:
    """Raise if an option of ``compare`` has a value that is not admissible, or no effect."""
    check(options, (*OF_PROBLEM, "batch"))


def check(options: Mapping[str, Any], of_problem: Sequence[str] = OF_PROBLEM) -> None:
    """Raise if an option has a value that is not admissible, or no effect without a problem (``of_problem``)."""
    if options.get("problem") is None and options.get("csv") is None:
        unused = {name: value for name, value in options.items() if name in of_problem}
        refuse_unused("without --problem nothing is trained and there is no surrogate", **unused)
    check_options({name: options[name] for name in ("clients", "batch", "seed") if name in options})
    if not 0 <= options.get("worst_case", 0) <= 86_400:  # False for NaN
        raise BoundsError(f"worst_case must be seconds from 0 to 86400; got {options['worst_case']:g}")


class Inputs(NamedTuple):
    """All bounds by name, the scenario with the constants of the problem, and the federation if a problem is given.

    ``typed`` are the options of ``fedbounds train`` for this federation; empty if it was not given as text.
    """

    book: dict[str, Bound]
    scenario: Scenario
    problem: FederatedProblem | None = None
    typed: tuple[str, ...] = ()


def _inputs(
    known: Known,
    words: Mapping[str, Any],
    own: Own,
    of: Sequence[str],
    measure: int,
    *,
    problem: str | Task | FederatedProblem | None,
    partition: str | Split,
    clients: int | None,
    client_weight: Any,
    seed: int,
    batch: int,
    **own_data: Any,
) -> Inputs:
    """The bounds and the federation that the arguments of ``compare`` or ``advise`` describe."""
    from empirics.problems.own_problem import resolve_problem

    if measure and measure < 2:
        raise BoundsError(f"measure needs 2 seeds or more, for a standard error; got {measure}")
    problem, partition = resolve_problem(problem, partition, **own_data)
    of_clients = {"clients": clients, "client_weight": client_weight}
    of_clients = {name: given for name, given in of_clients.items() if given is not None}
    if problem is None:
        words = {**words, **of_clients}
    bounds = list(map(load, [own] if isinstance(own, (str, Bound)) else own))
    book = with_own(bounds)
    papers = [name.partition(".")[0] for name in of] or PAPERS
    if isinstance(known, Scenario):
        scenario = known.at(**by_quantity(words, lambda word: quantity_named(word, QUANTITIES, *papers)))
    else:
        sources = () if known is None else (known,) if isinstance(known, (str, Mapping)) else known
        also = [quantity for bound in bounds for quantity in bound.quantities]
        scenario = Scenario.of(*sources, also=also, papers=papers, **words)
    if problem is None:
        if measure:
            raise MissingQuantityError("measuring trains the federation: give a problem")
        return Inputs(book, scenario)
    from empirics.problems.tasks import deal, describe_problem, task

    from .evidence import with_constants

    source = task(problem) if isinstance(problem, str) else problem
    federation: FederatedProblem = deal(source, partition, clients, seed, client_weight or "uniform")
    remark(describe_problem(source, federation, batch))
    scenario = with_constants(scenario, federation, batch)
    if not isinstance(problem, str) or not isinstance(partition, str) or seed:  # train partitions with seed 0
        return Inputs(book, scenario, federation)
    options = {"problem": problem, "partition": partition, "batch": batch, **of_clients}
    defaults = {"partition": "iid", "client_weight": "uniform", "batch": 32}
    typed = ((f"--{name.replace('_', '-')}", str(x)) for name, x in options.items() if x != defaults.get(name))
    return Inputs(book, scenario, federation, tuple(word for pair in typed for word in pair))


def _level(option: str, text: str) -> tuple[str, float]:
    name, _, level = text.partition("=")
    try:
        return name, read_number(level)
    except BoundsError as error:
        example = "gradients=1e5" if option == "--within" else "optimality_gap=0.001"
        raise BoundsError(f"{option} must be NAME=NUMBER, such as {example}; got {text!r}") from error
