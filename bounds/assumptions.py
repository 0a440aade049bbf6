"""The assumptions of the theorems, each with a predicate on problem, algorithm and setting.

A predicate reads plain attributes and returns True, False, or None if it cannot decide. Validation, the falsifier and
the exact worst case use these predicates and treat no bound by name. The attributes are, of a problem: ``smoothness``,
``sample_smoothness``, ``strong_convexity``, ``pl_constant``, ``lipschitz``, ``gradient_variance``, ``grad_cap_sq``,
``dissimilarity_offset``, ``uniform_dissimilarity``, ``loss_cap``, ``lower_bound``, ``convex``, ``nonnegative_loss``,
``independent_samples``, ``independent_noise``, ``identical_clients``, ``client_sizes``; of an algorithm:
``exact_local_solver``, ``local_sgd``, ``relaxed_start``, ``shared_generated_data``; of a setting: ``clients``,
``cohort``, ``sampling``, ``step_sizes``, ``local_steps`` (one number or one per round), ``iteration_step_sizes`` (one
per local iteration of the run), ``fresh_samples``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isclose, isfinite
from numbers import Real
from operator import not_
from typing import Any

Predicate = Callable[[Any, Any, Any], bool | None]


@dataclass(frozen=True)
class Assumption:
    """A property of the problem, the algorithm or the setting that a theorem assumes; ``words`` describe it.

    ``constants`` are pairs of a quantity and the constant of the problem that is its value under this assumption, if it
    is not the constant of the same name.
    """

    name: str
    words: str
    holds: Predicate
    constants: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.words


PROBLEM, ALGORITHM, SETTING = 0, 1, 2
"""The positions of a predicate's arguments."""


@dataclass(frozen=True)
class _Fact:
    """A predicate that applies ``judge`` to one attribute, and is None if the attribute is missing.

    It is an object with a module-level function, so that bounds with assumptions can be pickled and compared.
    """

    owner: int
    attribute: str
    judge: Callable[[Any], bool] = bool

    def __call__(self, *facts: Any) -> bool | None:
        value = getattr(facts[self.owner], self.attribute, None)
        return None if value is None else bool(self.judge(value))


def _finite(attribute: str) -> _Fact:
    return _Fact(PROBLEM, attribute, isfinite)


def _positive(value: float) -> bool:
    return value > 0


def _one(values: Any) -> bool:
    return all(value == 1 for value in _per_round(values))


def _constant(values: Any) -> bool:
    return len(set(_per_round(values))) == 1


def _never_increasing(values: Any) -> bool:
    return all(b <= a for a, b in pairwise(_per_round(values)))


def _harmonic(values: Sequence[float]) -> bool:
    """Whether 1/step size grows by the same amount in every iteration."""
    growth = [1 / b - 1 / a for a, b in pairwise(values)]
    return all(g > 0 and isclose(g, growth[0], rel_tol=1e-6) for g in growth)


def _per_round(values: Any) -> Sequence[float]:
    """Return one value per round, of a setting that may have one number for all rounds."""
    return (float(values),) if isinstance(values, Real) else values


@dataclass(frozen=True)
class _Sampling:
    """A predicate for one kind of sampling. With a single client, all kinds are the same."""

    kind: str

    def __call__(self, problem: Any, algorithm: Any, setting: Any) -> bool | None:
        value = getattr(setting, "sampling", None)
        return None if value is None else bool(value == self.kind or getattr(setting, "clients", None) == 1)


def _full(problem: Any, algorithm: Any, setting: Any) -> bool | None:
    cohort, clients = getattr(setting, "cohort", None), getattr(setting, "clients", None)
    if cohort is None or clients is None:
        return None
    again = getattr(setting, "sampling", None) == "with_replacement"  # a client drawn twice excludes another one
    return bool(cohort == clients and (not again or clients == 1))


SMOOTH = Assumption("smooth", "every client's loss is smooth", _finite("smoothness"))
_OF_SAMPLES = (("smoothness", "sample_smoothness"),)
SAMPLES_SMOOTH = Assumption(
    "samples_smooth", "the loss of every sample is smooth", _finite("sample_smoothness"), _OF_SAMPLES
)
REPLACED_SMOOTH = Assumption(
    "replaced_smooth",
    "every client's loss is smooth, also with one of its samples replaced or left out",
    _finite("sample_smoothness"),
    _OF_SAMPLES,
)
STRONGLY_CONVEX = Assumption(
    "strongly_convex", "every client's loss is strongly convex", _Fact(PROBLEM, "strong_convexity", _positive)
)
CONVEX = Assumption("convex", "every client's loss is convex", _Fact(PROBLEM, "convex"))
POLYAK_LOJASIEWICZ = Assumption(
    "polyak_lojasiewicz",
    "the global loss satisfies the Polyak-Lojasiewicz inequality",
    _Fact(PROBLEM, "pl_constant", _positive),
)
LIPSCHITZ = Assumption("lipschitz", "the loss is Lipschitz continuous", _finite("lipschitz"))
BOUNDED_VARIANCE = Assumption(
    "bounded_variance", "stochastic gradients are unbiased with bounded variance", _finite("gradient_variance")
)
SAMPLES_NOISE = Assumption(
    "samples_noise",
    "the gradient of one sample of client k has at most the variance sigma_k^2 at every model",
    _finite("gradient_variance"),
    (("client_gradient_variance", "sample_gradient_variance"),),
)
BOUNDED_GRADIENT = Assumption("bounded_gradient", "gradient norms along the run are bounded", _finite("grad_cap_sq"))
DISSIMILARITY = Assumption(
    "dissimilarity",
    "the mean squared client gradient is at most a constant plus a multiple of the squared global gradient",
    _finite("dissimilarity_offset"),
)
UNIFORM_DISSIMILARITY = Assumption(
    "uniform_dissimilarity",
    "no client's gradient is further than zeta from the global gradient, at any model",
    _finite("uniform_dissimilarity"),
)
EXACT_GRADIENTS = Assumption(
    "exact_gradients", "every client computes exact gradients", _Fact(PROBLEM, "gradient_variance", not_)
)
INDEPENDENT_NOISE = Assumption(
    "independent_noise",
    "given the past, the noise of the clients' gradients is independent",
    _Fact(PROBLEM, "independent_noise"),
)
GRADIENT_MOMENTS = Assumption(
    "gradient_moments",
    "the mean of a stochastic gradient is aligned with the gradient, and its variance grows at most with its square",
    _finite("gradient_variance"),
)
GLOBALLY_STRONGLY_CONVEX = Assumption(
    "globally_strongly_convex", "the global loss is strongly convex", _Fact(PROBLEM, "strong_convexity", _positive)
)
IDENTICAL_CLIENTS = Assumption(
    "identical_clients", "all clients have the same loss", _Fact(PROBLEM, "identical_clients")
)
LOWER_BOUNDED = Assumption("lower_bounded", "the loss is bounded below", _finite("lower_bound"))
NONNEGATIVE_LOSS = Assumption("nonnegative_loss", "the loss is nonnegative", _Fact(PROBLEM, "nonnegative_loss"))
BOUNDED_LOSS = Assumption("bounded_loss", "the loss of a sample is bounded", _finite("loss_cap"))
INDEPENDENT_SAMPLES = Assumption(
    "independent_samples",
    "every client draws its samples independently from a distribution of its own",
    _Fact(PROBLEM, "independent_samples"),
)
EQUAL_SIZES = Assumption(
    "equal_sizes", "every client holds the same number of samples", _Fact(PROBLEM, "client_sizes", _constant)
)
EXACT_LOCAL_SOLVER = Assumption(
    "exact_local_solver",
    "every client minimises its local empirical risk exactly",
    _Fact(ALGORITHM, "exact_local_solver"),
)
LOCAL_SGD = Assumption(
    "local_sgd", "every client takes local SGD steps from the server model", _Fact(ALGORITHM, "local_sgd")
)
RELAXED_START = Assumption(
    "relaxed_start", "clients start at the relaxed initial point of FedInit", _Fact(ALGORITHM, "relaxed_start")
)
SHARED_GENERATED_DATA = Assumption(
    "shared_generated_data", "all clients distil on the same generated data", _Fact(ALGORITHM, "shared_generated_data")
)
FULL_PARTICIPATION = Assumption("full_participation", "all clients take part in every round", _full)
ONE_CLIENT = Assumption("one_client", "there is one client", _Fact(SETTING, "clients", _one))
ONE_PARTICIPANT = Assumption("one_participant", "one client takes part in every round", _Fact(SETTING, "cohort", _one))
ONE_LOCAL_STEP = Assumption("one_local_step", "every round has one local step", _Fact(SETTING, "local_steps", _one))
SAMPLED_WITH_REPLACEMENT = Assumption(
    "sampled_with_replacement",
    "participants are drawn with replacement from the client weights and averaged equally",
    _Sampling("with_replacement"),
)
SAMPLED_WITHOUT_REPLACEMENT = Assumption(
    "sampled_without_replacement",
    "participants are drawn uniformly without replacement",
    _Sampling("without_replacement"),
)
FRESH_SAMPLES = Assumption(
    "fresh_samples", "the samples of each round are new: drawn without replacement", _Fact(SETTING, "fresh_samples")
)
STEPS_NEVER_INCREASE = Assumption(
    "steps_never_increase",
    "the number of local steps never increases",
    _Fact(SETTING, "local_steps", _never_increasing),
)
FIXED_STEP_SIZE = Assumption(
    "fixed_step_size", "the step size is the same in every round", _Fact(SETTING, "step_sizes", _constant)
)
HARMONIC_STEP_SIZE = Assumption(
    "harmonic_step_size",
    "the step size of iteration t = 0, 1, .. is a scale over an offset plus t",
    _Fact(SETTING, "iteration_step_sizes", _harmonic),
)
FIXED_LOCAL_STEPS = Assumption(
    "fixed_local_steps",
    "the number of local steps is the same in every round",
    _Fact(SETTING, "local_steps", _constant),
)

ASSUMPTIONS: dict[str, Assumption] = {a.name: a for a in list(globals().values()) if isinstance(a, Assumption)}

IMPLIES = {
    "strongly_convex": ("convex", "globally_strongly_convex", "polyak_lojasiewicz"),
    "globally_strongly_convex": ("polyak_lojasiewicz",),
    "samples_smooth": ("smooth",),
    "replaced_smooth": ("smooth",),
    "exact_gradients": ("bounded_variance",),
    "nonnegative_loss": ("lower_bounded",),
    "one_client": ("identical_clients", "full_participation"),
    "identical_clients": ("dissimilarity", "uniform_dissimilarity"),
    "uniform_dissimilarity": ("dissimilarity",),
    "full_participation": ("sampled_without_replacement",),
    "one_local_step": ("fixed_local_steps",),
    "fixed_local_steps": ("steps_never_increase",),
}
"""The assumptions that each assumption implies directly."""


def follows(name: str) -> set[str]:
    """Return an assumption with everything that it implies, directly or indirectly.

    >>> sorted(follows("identical_clients"))
    ['dissimilarity', 'identical_clients', 'uniform_dissimilarity']
    """
    return {name, *(more for one in IMPLIES.get(name, ()) for more in follows(one))}
