"""The assumptions the theorems make, from one fixed list, each with a predicate on (problem, algorithm, setting).

A predicate reads plain attributes and answers True, False, or None when it cannot tell; validation, the falsifier and
the exact worst case decide with these and contain no bound's name. An assumption may also say that a quantity takes
another constant of the problem than that of its own name (``constants``). Attributes they read: on a problem
``smoothness``, ``sample_smoothness``, ``strong_convexity``, ``pl_constant``, ``lipschitz``, ``gradient_variance``,
``grad_cap_sq``, ``dissimilarity_offset``, ``uniform_dissimilarity``, ``loss_cap``, ``lower_bound``, ``convex``,
``nonnegative_loss``, ``independent_samples``, ``independent_noise``, ``identical_clients``, ``client_sizes``; on an
algorithm ``exact_local_solver``, ``local_sgd``, ``relaxed_start``,
``shared_generated_data``; on a setting ``clients``, ``cohort``, ``sampling``, ``step_sizes``, ``local_steps`` (one
number or one per round), ``iteration_step_sizes`` (one per local iteration of the run), ``fresh_samples``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isclose, isfinite
from numbers import Real
from typing import Any

Predicate = Callable[[Any, Any, Any], bool | None]


@dataclass(frozen=True)
class Assumption:
    """A property of the problem, the algorithm or the setting that a theorem needs; ``words`` say it in a sentence.

    ``constants`` are pairs: a quantity, and the word of the problem's constants that it takes where this is assumed.
    """

    name: str
    words: str
    holds: Predicate
    constants: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.words


# Predicates are plain frozen values, not closures, so that a bound with its assumptions can be pickled and compared.


@dataclass(frozen=True)
class _States:
    """The problem knows a finite value of ``attribute``; None (unknown) when it has no such attribute."""

    attribute: str

    def __call__(self, problem: Any, algorithm: Any, setting: Any) -> bool | None:
        value = getattr(problem, self.attribute, None)
        return None if value is None else isfinite(value)


@dataclass(frozen=True)
class _Positive:
    """The problem knows a positive value of ``attribute``."""

    attribute: str

    def __call__(self, problem: Any, algorithm: Any, setting: Any) -> bool | None:
        value = getattr(problem, self.attribute, None)
        return None if value is None else bool(value > 0)


@dataclass(frozen=True)
class _Zero:
    """The problem knows that ``attribute`` is 0."""

    attribute: str

    def __call__(self, problem: Any, algorithm: Any, setting: Any) -> bool | None:
        value = getattr(problem, self.attribute, None)
        return None if value is None else bool(value == 0)


@dataclass(frozen=True)
class _Flag:
    """``attribute`` is set; ``owner`` counts the arguments of a predicate: problem, algorithm, setting."""

    owner: int
    attribute: str

    def __call__(self, *facts: Any) -> bool | None:
        value = getattr(facts[self.owner], self.attribute, None)
        return None if value is None else bool(value)


@dataclass(frozen=True)
class _Sampling:
    """The setting draws its participants in this way; to draw from a single client, there is one way."""

    kind: str

    def __call__(self, problem: Any, algorithm: Any, setting: Any) -> bool | None:
        value = getattr(setting, "sampling", None)
        return None if value is None else bool(value == self.kind or getattr(setting, "clients", None) == 1)


@dataclass(frozen=True)
class _NeverIncreasing:
    """No round's value exceeds the one before."""

    attribute: str

    def __call__(self, problem: Any, algorithm: Any, setting: Any) -> bool | None:
        values = _per_round(setting, self.attribute)
        return None if values is None else all(b <= a for a, b in pairwise(values))


@dataclass(frozen=True)
class _Constant:
    """Every round has the same value."""

    attribute: str

    def __call__(self, problem: Any, algorithm: Any, setting: Any) -> bool | None:
        values = _per_round(setting, self.attribute)
        return None if values is None else len(set(values)) == 1


@dataclass(frozen=True)
class _Ones:
    """``attribute`` of the setting is 1, in every round where there is one per round."""

    attribute: str

    def __call__(self, problem: Any, algorithm: Any, setting: Any) -> bool | None:
        values = _per_round(setting, self.attribute)
        return None if values is None else all(value == 1 for value in values)


def _harmonic(problem: Any, algorithm: Any, setting: Any) -> bool | None:
    """One over the step size grows by the same amount in every iteration."""
    sizes = getattr(setting, "iteration_step_sizes", None)
    if sizes is None:
        return None
    growth = [1 / b - 1 / a for a, b in pairwise(sizes)]
    return all(g > 0 and isclose(g, growth[0], rel_tol=1e-6) for g in growth)


def _per_round(setting: Any, attribute: str) -> Sequence[float] | None:
    """A setting gives one number for all rounds or one per round."""
    values = getattr(setting, attribute, None)
    return (float(values),) if isinstance(values, Real) else values


def _full(problem: Any, algorithm: Any, setting: Any) -> bool | None:
    cohort, clients = getattr(setting, "cohort", None), getattr(setting, "clients", None)
    if cohort is None or clients is None:
        return None
    again = getattr(setting, "sampling", None) == "with_replacement"  # who is drawn twice keeps another one out
    return bool(cohort == clients and (not again or clients == 1))


def _equal_sizes(problem: Any, algorithm: Any, setting: Any) -> bool | None:
    sizes = getattr(problem, "client_sizes", None)
    return None if sizes is None else len(set(sizes)) == 1


PROBLEM, ALGORITHM, SETTING = 0, 1, 2

SMOOTH = Assumption("smooth", "every client's loss is L-smooth", _States("smoothness"))
_OF_SAMPLES = (("smoothness", "sample_smoothness"),)
SAMPLES_SMOOTH = Assumption(
    "samples_smooth", "the loss of every sample is L-smooth", _States("sample_smoothness"), _OF_SAMPLES
)
REPLACED_SMOOTH = Assumption(
    "replaced_smooth",
    "every client's loss is L-smooth, also with one of its samples replaced or left out",
    _States("sample_smoothness"),
    _OF_SAMPLES,
)
STRONGLY_CONVEX = Assumption(
    "strongly_convex", "every client's loss is mu-strongly convex", _Positive("strong_convexity")
)
CONVEX = Assumption("convex", "every client's loss is convex", _Flag(PROBLEM, "convex"))
POLYAK_LOJASIEWICZ = Assumption(
    "polyak_lojasiewicz", "the global loss satisfies the Polyak-Lojasiewicz inequality", _Positive("pl_constant")
)
LIPSCHITZ = Assumption("lipschitz", "the loss is Lipschitz continuous", _States("lipschitz"))
BOUNDED_VARIANCE = Assumption(
    "bounded_variance", "stochastic gradients are unbiased with bounded variance", _States("gradient_variance")
)
SAMPLES_NOISE = Assumption(
    "samples_noise",
    "the gradient of one sample of client k has at most the variance sigma_k^2 at every model",
    _States("gradient_variance"),
    (("client_gradient_variance", "sample_gradient_variance"),),
)
BOUNDED_GRADIENT = Assumption(
    "bounded_gradient", "gradient norms along the run are bounded by G", _States("grad_cap_sq")
)
DISSIMILARITY = Assumption(
    "dissimilarity",
    "the mean squared client gradient is at most G^2 plus B^2 times the squared global gradient",
    _States("dissimilarity_offset"),
)
UNIFORM_DISSIMILARITY = Assumption(
    "uniform_dissimilarity",
    "no client's gradient is further than zeta from the global gradient, at any model",
    _States("uniform_dissimilarity"),
)
EXACT_GRADIENTS = Assumption("exact_gradients", "every client computes exact gradients", _Zero("gradient_variance"))
INDEPENDENT_NOISE = Assumption(
    "independent_noise",
    "given the past, the noise of the clients' gradients is independent",
    _Flag(PROBLEM, "independent_noise"),
)
GRADIENT_MOMENTS = Assumption(
    "gradient_moments",
    "the mean of a stochastic gradient is aligned with the gradient, and its variance grows at most with its square",
    _States("gradient_variance"),
)
GLOBALLY_STRONGLY_CONVEX = Assumption(
    "globally_strongly_convex", "the global loss is mu-strongly convex", _Positive("strong_convexity")
)
IDENTICAL_CLIENTS = Assumption(
    "identical_clients", "all clients have the same loss", _Flag(PROBLEM, "identical_clients")
)
LOWER_BOUNDED = Assumption("lower_bounded", "the loss is bounded below", _States("lower_bound"))
NONNEGATIVE_LOSS = Assumption("nonnegative_loss", "the loss is nonnegative", _Flag(PROBLEM, "nonnegative_loss"))
BOUNDED_LOSS = Assumption("bounded_loss", "the loss of a sample is at most U", _States("loss_cap"))
INDEPENDENT_SAMPLES = Assumption(
    "independent_samples",
    "every client draws its samples independently from a distribution of its own",
    _Flag(PROBLEM, "independent_samples"),
)
EQUAL_SIZES = Assumption("equal_sizes", "every client holds the same number of samples", _equal_sizes)
EXACT_LOCAL_SOLVER = Assumption(
    "exact_local_solver",
    "every client minimises its local empirical risk exactly",
    _Flag(ALGORITHM, "exact_local_solver"),
)
LOCAL_SGD = Assumption(
    "local_sgd", "every client takes local SGD steps from the server model", _Flag(ALGORITHM, "local_sgd")
)
RELAXED_START = Assumption(
    "relaxed_start", "clients start at the relaxed initial point of FedInit", _Flag(ALGORITHM, "relaxed_start")
)
SHARED_GENERATED_DATA = Assumption(
    "shared_generated_data", "all clients distil on the same generated data", _Flag(ALGORITHM, "shared_generated_data")
)
FULL_PARTICIPATION = Assumption("full_participation", "all clients take part in every round", _full)
ONE_CLIENT = Assumption("one_client", "there is one client", _Ones("clients"))
ONE_PARTICIPANT = Assumption("one_participant", "one client takes part in every round", _Ones("cohort"))
ONE_LOCAL_STEP = Assumption("one_local_step", "every round has one local step", _Ones("local_steps"))
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
    "fresh_samples", "the samples of each round are new: drawn without replacement", _Flag(SETTING, "fresh_samples")
)
STEPS_NEVER_INCREASE = Assumption(
    "steps_never_increase", "the number of local steps never increases", _NeverIncreasing("local_steps")
)
FIXED_STEP_SIZE = Assumption("fixed_step_size", "the step size is the same in every round", _Constant("step_sizes"))
HARMONIC_STEP_SIZE = Assumption(
    "harmonic_step_size", "the step size of iteration t = 0, 1, .. is a scale over an offset plus t", _harmonic
)
FIXED_LOCAL_STEPS = Assumption(
    "fixed_local_steps", "the number of local steps is the same in every round", _Constant("local_steps")
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
"""What follows, at once or in several steps, from what is assumed."""


def follows(name: str) -> set[str]:
    """An assumption with everything that follows from it.

    >>> sorted(follows("identical_clients"))
    ['dissimilarity', 'identical_clients', 'uniform_dissimilarity']
    """
    return {name, *(more for one in IMPLIES.get(name, ()) for more in follows(one))}
