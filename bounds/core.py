"""``Bound``: a statement together with everything that can be done with it."""

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
    """A statement that can be evaluated, minimised, solved and printed; its fields are those of ``Statement``.

    >>> from bounds.papers import Source
    >>> from bounds.vocabulary import grad_norm_sq, initial_gap, rounds, smoothness, step_size
    >>> descent = Bound(
    ...     name="own.descent",
    ...     target=grad_norm_sq,
    ...     terms={"start": 2 * initial_gap / (step_size * rounds)},
    ...     source=Source("own notes", "line 1"),
    ...     conditions=(Condition("short steps", step_size * smoothness <= 1),),
    ... )
    >>> values = {"initial_gap": 3.0, "smoothness": 2.5, "rounds": 40}
    >>> float(descent(**values, step_size=0.3))
    0.5
    >>> descent(**values, step_size=[0.3, 0.5])  # NaN where a condition fails
    array([0.5, nan])
    >>> round(descent.minimize("step_size", **values).at, 6)
    0.4
    >>> del values["rounds"]
    >>> descent.solve("rounds", target=0.2, side="smallest", step_size=0.3, **values).at
    100
    """

    # ---- values ----

    __signature__ = CallSignature()

    def __call__(self, **values: Any) -> Any:
        """Evaluate the bound, broadcasting over arrays; NaN where the theorem does not apply.

        Values are numbers (also ``Fraction`` or ``Decimal``), lists, arrays or pandas Series, by name of quantity. The
        last axis of a per-client quantity runs over the clients; all other axes are sweeps. A sweep along a Series
        gives a Series with its index. Raises ``BoundsError`` for a value that is missing, unknown or outside its
        domain.

        Points where floating point over- or underflows, or where a sum cancels, are evaluated again in ball arithmetic.
        The relative error is below 1e-9 unless ``UnderflowWarning`` or ``UnsettledWarning`` is given. A condition such
        as ``x <= 1`` holds unless it fails for all numbers that round to the given ones, and ``x < 1`` only if it holds
        for all of them (``bounds.numerics.balls``).
        """
        return labelled(self, values, evaluator_of(self).inputs(values).value())

    def formula(self, **values: Any) -> Any:
        """Evaluate the formula even where conditions fail. Such values are no evidence for or against the theorem."""
        return labelled(self, values, evaluator_of(self).inputs(values).value(outside=True))

    def parts(self, *, outside: bool = False, **values: Any) -> dict[str, Any]:
        """Evaluate the terms one by one, by name; NaN where the theorem does not apply, unless ``outside``."""
        parts = evaluator_of(self).inputs(values).parts(outside)
        return {name: labelled(self, values, part) for name, part in parts.items()}

    def holds(self, **values: Any) -> Any:
        """Whether all numeric conditions hold, at each point."""
        return labelled(self, values, evaluator_of(self).inputs(values).holds())

    def failed(self, **values: Any) -> tuple[Condition, ...]:
        """Return the numeric conditions that fail at one or more of these points."""
        words = evaluator_of(self).inputs(values).failed()
        return tuple(c for c in self.numeric_conditions if c.words in words)

    def compile(self, backend: str = "numpy") -> Callable[..., Any]:
        """Return a fast function of the same arguments, on ``numpy`` or ``torch``, in plain floating point.

        It does not check domains, gives no warnings, and does not recompute points where numbers over- or underflow or
        cancel. Everywhere else its values are those of a call. Its conditions tolerate a few rounding errors.
        """
        return evaluator_of(self).compiled(backend)

    # ---- optimisation ----

    def minimize(self, over: Quantity | str, **values: Any) -> Optimum | Minimum:
        """Minimise the bound over one quantity: a closed form without values, a certified number with values."""
        return minimize(self, over, values)

    def solve(self, for_: Quantity | str, *, target: float, side: str = "largest", **values: Any) -> Solution:
        """Return the largest (or smallest) ``for_`` with the bound at most ``target``, erring on the safe side."""
        return solve(self, for_, target, side, values)

    def sensitivity(self, **values: Any) -> dict[str, Any]:
        """Return the elasticity in each quantity: percent change of the bound per percent change of the quantity."""
        return elasticities(self, values)

    # ---- variants ----

    def fix(self, **values: Any) -> Bound:
        """Return the same bound with some quantities fixed, in terms and conditions."""
        for name in values:
            self.quantity(name)
        evaluator_of(self).check_given(values)
        return replace(self, given={**self.given, **values})

    # ---- display ----

    def latex(self) -> str:
        """Return formula, conditions and the meaning of every letter in LaTeX, as ``fedbounds show --latex`` does."""
        return "\n".join(cards.document(self))

    def _repr_latex_(self) -> str:
        return f"${cards.latex(self)}$"

    def _repr_html_(self) -> str:
        return cards.html(self)

    def __str__(self) -> str:
        return cards.text(self)


__all__ = ["MIXED", "ONE", "About", "Bound", "Condition", "Statement", "Statistic", "assumed", "declared", "spell"]
