"""``validate`` as a function of Python, with the words of the verb as keyword arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TYPE_CHECKING

from bounds.core import Bound
from bounds.errors import unknown
from bounds.showing.loading import load
from empirics.problems.own_problem import given_or_own
from empirics.problems.problem import FederatedProblem
from empirics.progress import progress

from . import evidence_of, is_pattern, validate as validated
from .comparison import Comparison
from .every import Survey, survey
from .options import ASKED, DRAWS, LOG, MANY, Options, refuse_idle, RUNS

if TYPE_CHECKING:
    from empirics.federation.split import Split
    from empirics.problems.tasks import Task


def validate(
    bound: Bound | str,
    *words: str,
    problem: str | Task | FederatedProblem | None = None,
    measured: Path | str | None = None,
    values: Mapping[str, float] | None = None,
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
) -> Comparison | Survey:
    """Hold a bound against a measurement: the verb ``fedbounds validate``; None leaves an option as usual.

    With a ``problem`` (or data of your own) the bound is held against training, with ``measured`` against a log of
    yours, and otherwise against what there is for this bound: exact expectations, or draws of one averaging round.

    Args:
        bound: the bound, its name, or ``"file.py:name"``; of ``"all"`` or ``"fedinit.*"`` a row per bound that can be
            measured, for which there are ``problem`` (as text) and ``workers``.
        words: ``"quantity=value"`` or ``"@file.json"``: constants that a problem or a log does not know.
        problem: what to train, as in ``fedbounds.train``.
        measured: a CSV of your own runs.
        values: constants by word, as ``words`` would give them.
        clients: their number; of draws several, to compare.
        cohort: clients per round.
        partition: who holds what.
        seed: of the partition.
        client_weight: what the average weighs by, ``uniform`` or ``samples``.
        samples: of each client, where they are drawn.
        rounds: number of rounds.
        local_steps: of a round.
        step_size: None: the largest that meets the conditions, halved from 1/L.
        step_offset: of a step size that falls like ``1/(step_offset + t)``.
        batch: samples of a minibatch.
        sampling: ``without_replacement``, ``with_replacement`` or ``bernoulli``.
        seeds: runs, or draws.
        algorithm: what to train instead of what the bound is about.
        instances: random quadratic problems.
        dim: parameters of these.
        noise: size of their gradient noise.
        relaxation: FedInit's beta.
        regularisation: L2 penalty, of draws or of data of your own.
        concentration: of the Dirichlet class priors of draws.
        workers: threads of draws, processes of many bounds.
        csv: a CSV file of your own, in place of ``problem``.
        frame: a pandas DataFrame, in place of ``csv``.
        target: the column to predict.
        group: the column whose values make the clients.
        leave_out: columns that are no features.
        kind: what the target holds, ``numbers`` or ``classes`` ("": as its values are, numbers with ``ridge``).
        model: of your own data (by the kind of the target).

    Raises:
        BoundsError: in one line, where the plan cannot be held, or an option changes nothing for this bound.
    """
    told = dict(locals())
    if isinstance(bound, str) and is_pattern(bound):
        given = {name: value for name, value in told.items() if value not in (None, "", ()) and name != "bound"}
        if idle := [name for name in given if name not in ASKED[MANY]]:
            raise unknown(f"option of a validation of {bound}", idle[0], ["problem", "workers"])
        return survey(bound, **given)
    own = {name: told.pop(name) for name in ("csv", "frame", "target", "group", "leave_out", "kind", "model")}
    if csv is not None or frame is not None:
        own["regularisation"] = told.pop("regularisation")
    told["problem"], told["partition"] = given_or_own(problem, partition or "iid", **own)
    told["partition"] = None if partition is None and told["partition"] == "iid" else told["partition"]
    options = {"problem": "--problem", "measured": "--measured"}
    typed = {option for name, option in options.items() if told[name] is not None}
    held = load(bound) if isinstance(bound, str) else bound
    evidence = evidence_of(held, held.name, typed)
    told["measured"] = measured and Path(measured)
    spoken = (*words, *(f"{word}={value!r}" for word, value in (values or {}).items()))
    plan = {k: v for k, v in told.items() if v is not None and k not in ("bound", "words", "values")}
    for name in plan:
        if name not in ASKED[evidence]:
            raise unknown(f"option of this validation of {held.name}", name, ASKED[evidence])
    if spoken and evidence not in (RUNS, LOG):
        raise unknown(f"option of this validation of {held.name}", spoken[0], ASKED[evidence])
    refuse_idle(held, evidence, plan)
    if isinstance(told["problem"], FederatedProblem):
        plan = {"clients": told["problem"].clients, "client_weight": told["problem"].client_weight, **plan}
    if "clients" in plan and evidence == DRAWS:
        plan["clients"] = tuple(sorted({plan["clients"]} if isinstance(clients, int) else set(clients or ())))
    with progress() as bar:
        return validated(held, evidence, Options.of(evidence, **plan, words=spoken), bar)
