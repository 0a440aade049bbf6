"""The loss at the average of a run's iterates, exactly: moments across times, by carrying the running sum along."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from bounds.weights import Weights

from ..errors import EmpiricsError
from ..problems.quadratics import Quadratics
from .readings import gap
from .spread import root, Spread

if TYPE_CHECKING:
    from .moments import ExactRun

Array = np.ndarray[Any, Any]


def average_gap(run: ExactRun, weights: Weights | None = None) -> float:
    """``E F(x) - F*`` at the mean x of the virtual averages before each of the T local steps of a run.

    ``weights`` (numbers) say how much each of the T counts; without them all count alike.

    The joint state is followed together with the sum of the averages so far, so that nothing is lost of how models at
    two times vary together. All clients must take part in every round: what absent clients would have done is no part
    of the state.
    """
    refuse_some(run.problem, len(run.cohorts[0].clients), len(run.cohorts))
    problem, dim = run.problem, run.problem.dim
    begin = run.player.begin()
    mean = np.concatenate([begin, np.zeros(dim)])
    covariance = np.zeros((len(mean), len(mean)))
    maps = [run.round_map(round_, run._all, run.kind(round_)) for round_ in range(run.setting.rounds)]
    ends = np.cumsum([0, *(found.path.shape[1] - 1 for found in maps)])
    shares = np.array((weights or Weights()).shares(int(ends[-1])))
    for found, first, end in zip(maps, ends, ends[1:], strict=False):
        summed, by_state, by_noise = (
            np.einsum("i,k,...ikd->...d", problem.weights, shares[first:end], path[..., :-1, :])
            for path in (found.path, found.path_linear, found.path_noisy)
        )
        linear = np.block([[found.linear, np.zeros((len(begin), dim))], [by_state.T, np.eye(dim)]])
        noisy = np.concatenate([found.noisy, by_noise.T])
        mean = linear @ mean + np.concatenate([found.constant, summed])
        covariance = linear @ covariance @ linear.T + noisy @ noisy.T
    own = covariance[-dim:, -dim:]
    average = Spread(mean[-dim:], root((own + own.T) / 2))
    return float(gap(problem, average.less(problem.minimiser)))


def refuse_some(problem: Quadratics, cohort: int, cohorts: int = 1) -> None:
    """Refuse an average over all clients' models where only some of them take part."""
    if cohorts > 1 or cohort < problem.clients:
        raise EmpiricsError(
            f"the average of the iterates is that of all clients' models: all {problem.clients} clients must take part "
            f"in every round; got {cohort}"
        )
