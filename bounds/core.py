"""The objects: a bound is a frozen description; everything it can do works for all bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .numerics.closed import Optimum
from .numerics.evaluate import evaluator_of
from .numerics.labels import labelled
from .numerics.minimize import minimize, Minimum
from .numerics.slopes import elasticities
from .numerics.solve import Solution, solve
from .quantities import Quantity
from .showing import cards
from .showing.signatures import CallSignature
from .statement import About, assumed, Condition, declared, MIXED, ONE, spell, Statement, Statistic


@dataclass(frozen=True, eq=False, repr=False)
class Bound(Statement):
    """A statement that can be evaluated, minimised, solved and shown; its fields are those of ``Statement``.

    >>> from bounds.papers import Source
    >>> from bounds.vocabulary import grad_norm_sq, initial_gap, rounds, smoothness, step_size
    >>> descent = Bound(
    ...     name="own.descent",
    ...     target=grad_norm_sq,
    ...     terms={"start": 2 * initial_gap / (step_size * rounds)},
    ...     source=Source("own notes", "line 1"),
    ...     conditions=(Condition("short steps", step_size * smoothness <= 1),),
    ... )
    >>> held = {"initial_gap": 3.0, "smoothness": 2.5, "rounds": 40}
    >>> float(descent(**held, step_size=0.3))
    0.5
    >>> descent(**held, step_size=[0.3, 0.5])  # NaN where a condition fails
    array([0.5, nan])
    >>> round(descent.minimize("step_size", **held).at, 6)
    0.4
    >>> del held["rounds"]
    >>> descent.solve("rounds", target=0.2, side="smallest", step_size=0.3, **held).at
    100
    """

    # ---- numbers ----

    __signature__ = CallSignature()

    def __call__(self, **values: Any) -> Any:
        """The bound by broadcasting, client axis last: NaN where the theorem does not apply, an error on nonsense.

        Values are numbers (a ``Fraction`` or a ``Decimal`` too), lists, arrays or pandas Series; an answer along a
        Series is a Series with its index.

        Where floating point would leave its range on the way, or a sum cancel, the point is computed again in ball
        arithmetic. A number is within 1e-9 of the formula, relatively, unless ``UnderflowWarning`` or
        ``UnsettledWarning`` says otherwise. A condition such as ``x <= 1`` holds unless it fails for all numbers that
        round to the given ones; ``x < 1`` holds if it does for all of them (``bounds.numerics.balls``).
        """
        return labelled(self, values, evaluator_of(self).given(values).value())

    def formula(self, **values: Any) -> Any:
        """The formula whatever the conditions say: for trends outside the theorem, never evidence for or against it."""
        return labelled(self, values, evaluator_of(self).given(values).value(outside=True))

    def parts(self, *, outside: bool = False, **values: Any) -> dict[str, Any]:
        """The named terms at these values, NaN where the theorem does not apply unless ``outside``."""
        parts = evaluator_of(self).given(values).parts(outside)
        return {name: labelled(self, values, part) for name, part in parts.items()}

    def holds(self, **values: Any) -> Any:
        """Where every numeric condition is met."""
        return labelled(self, values, evaluator_of(self).given(values).holds())

    def failed(self, **values: Any) -> tuple[Condition, ...]:
        """The numeric conditions that fail at one or more of these points."""
        words = evaluator_of(self).given(values).failed()
        return tuple(c for c in self.numeric_conditions if c.words in words)

    def compile(self, backend: str = "numpy") -> Callable[..., Any]:
        """A fast function of the same arguments, on ``numpy`` or ``torch``, in plain floating point.

        It has no domain checks and no warnings, and nothing is computed again where numbers under- or overflow on the
        way or cancel: everywhere else its numbers are those of a call, and its conditions forgive a few roundings.
        """
        return evaluator_of(self).compiled(backend)

    # ---- questions ----

    def minimize(self, over: Quantity | str, **values: Any) -> Optimum | Minimum:
        """Where the bound is smallest in ``over``: a closed form without values, certified numbers with values."""
        return minimize(self, over, values)

    def solve(self, for_: Quantity | str, *, target: float, side: str = "largest", **values: Any) -> Solution:
        """The largest (smallest) value of ``for_`` with the bound still at most ``target``, erring on the safe side."""
        return solve(self, for_, target, side, values)

    def sensitivity(self, **values: Any) -> dict[str, Any]:
        """Elasticity of the value in each quantity: percent change of the bound per percent change of the quantity."""
        return elasticities(self, values)

    # ---- relatives ----

    def fix(self, **values: Any) -> Bound:
        """The same bound with some quantities given, in terms and conditions."""
        for name in values:
            self.quantity(name)
        evaluator_of(self).check_given(values)
        return replace(self, given={**self.given, **values})

    # ---- looks ----

    def latex(self) -> str:
        return cards.latex(self)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def _repr_html_(self) -> str:
        return cards.html(self)

    def __str__(self) -> str:
        return cards.text(self)


__all__ = ["MIXED", "ONE", "About", "Bound", "Condition", "Statement", "Statistic", "assumed", "declared", "spell"]
