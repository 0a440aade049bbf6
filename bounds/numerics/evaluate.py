"""Evaluate bounds: check the arguments, then run the formulas on NumPy arrays or torch tensors.

Formulas run in cache-sized blocks, and points where floating point may be wrong are computed again (``recheck``). The
axis that a quantity varies over (clients, classes) is the last array axis. During evaluation every array has it, with
length one for shared quantities, and reductions keep it; it is dropped at the end. Everything else broadcasts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import sympy as sp

from .. import errors
from ..domains import array_of, exactly
from ..errors import BoundsError, DomainError, unknown
from ..quantities import CLIENTS, Quantity
from ..scenario_values import Role, role_of
from ..statement import Condition, Statement
from ..vocabulary import client_weight, clients
from . import equal_clients
from .balls import Point
from .floats import Floats
from .recheck import Arrays, CheckedResult, Formulas
from .tape import Tape

MOST_NUMBERS = 2**30
"""The largest number of values in one result, which takes 8 GiB."""


def evaluator_of(bound: Statement) -> Evaluator:
    """Return the evaluator of a bound, which is created on first use and stored with the bound."""
    attributes = bound.__dict__
    if "evaluator" not in attributes:
        attributes["evaluator"] = Evaluator(bound)
    evaluator: Evaluator = attributes["evaluator"]
    return evaluator


class Inputs:
    """Arguments of ``bound``: arrays by name and their common shape, with the axis of clients or classes last, if any.

    If all clients are identical, ``bound`` is not the one that was called but its form for identical clients.
    """

    def __init__(self, evaluator: Evaluator, arrays: Arrays, shape: tuple[int, ...]) -> None:
        self.evaluator, self.bound, self.arrays, self.shape = evaluator, evaluator.bound, arrays, shape
        self.sweep, self.width = (shape[:-1], shape[-1]) if self.bound.axis else (shape, 1)

    def points(self) -> list[dict[str, list[float]]]:
        """Return the values by quantity at every point of the sweep: a list over the axis, or of one number."""
        points: list[dict[str, list[float]]] = [{} for _ in range(prod(self.sweep))]
        for name, array in self.arrays.items():
            full = array if self.bound.axis else array[..., None]
            lists = np.broadcast_to(full, (*self.sweep, full.shape[-1])).reshape(len(points), -1).tolist()
            for point, numbers in zip(points, lists, strict=True):
                point[name] = numbers
        return points

    # ---- results ----

    def value(self, outside: bool = False) -> Any:
        """Return the bound at these arguments, with warnings: see ``Bound.__call__`` and ``Bound.formula``."""
        evaluator = self.evaluator
        result = evaluator.value_and_conditions.checked(self.arrays, self.shape, outside)
        (out,) = result.values
        missing = np.isnan(out) & (not outside)
        if np.isinf(out).any():
            self._warn(errors.TermOverflowWarning, f": infinite in {self._terms_where(np.isinf)}")
        elif (missing & result.applies).any():
            terms = self._terms_where(np.isnan)
            self._warn(errors.UndefinedValueWarning, f" has no real value in {terms}, though its conditions hold there")
        elif missing.all():
            self._warn(errors.OutsideConditionsWarning, f" does not apply here: needs {'; '.join(self.failed())}")
        self._warn_of_precision(result)
        if not outside and not self.bound.signed and (out < 0).any():
            terms = self._terms_where(lambda term: term < 0)
            self._warn(errors.SignWarning, f" is negative, by {terms}: list terms that may be negative in signed=(...)")
        return evaluator.finished(out)

    def parts(self, outside: bool = False) -> dict[str, Any]:
        """Return the terms by name, NaN where a condition fails unless ``outside``."""
        result = self.evaluator.terms.checked(self.arrays, self.shape, outside)
        outs = dict(zip(self.bound.terms, result.values, strict=True))
        if infinite := [repr(name) for name, out in outs.items() if np.isinf(out).any()]:
            self._warn(errors.TermOverflowWarning, f": infinite in {', '.join(infinite)}")
        self._warn_of_precision(result)
        return {name: self.evaluator.finished(out) for name, out in outs.items()}

    def holds(self) -> Any:
        """Return where all numeric conditions hold."""
        result = self.check_conditions()
        self._warn_of_precision(result)
        return self.evaluator.finished(result.applies)

    def check_conditions(self) -> CheckedResult:
        """Evaluate the conditions alone."""
        return self.evaluator.conditions.checked(self.arrays, self.shape)

    def failed(self) -> dict[str, Arrays]:
        """Return the conditions that fail, as text, each with the values at the first point where it does."""
        conditions, met = self.bound.numeric_conditions, self.check_conditions().met
        found = {}
        for words, holds in ((c.words, holds) for c, holds in zip(conditions, met, strict=True) if not holds.all()):
            first = tuple(np.argwhere(~np.broadcast_to(holds, self.shape))[0])[: len(self.sweep)]
            ends = {name: array.shape[-1:] if self.bound.axis else () for name, array in self.arrays.items()}
            found[words] = {n: np.broadcast_to(a, self.sweep + ends[n])[first] for n, a in self.arrays.items()}
        return found

    def _warn(self, kind: type[Warning], text: str, above: int = 0) -> None:
        warnings.warn(f"{self.bound.name}{text}", kind, stacklevel=4 + above)

    def _warn_of_precision(self, result: CheckedResult) -> None:
        if result.tiny:
            self._warn(errors.UnderflowWarning, ": a value is too small for the digits of a float", 1)
        if result.undecided:
            text = f": rounding may have spoilt the result at {result.undecided} points"
            self._warn(errors.UnsettledWarning, text, 1)

    def _terms_where(self, test: Callable[[np.ndarray], np.ndarray]) -> str:
        """Return the terms that meet ``test`` at some point, as text; all terms if only their sum does."""
        values = self.evaluator.terms.checked(self.arrays, self.shape, outside=True).values
        terms = zip(self.bound.terms, values, strict=True)
        return ", ".join(repr(n) for n in [name for name, term in terms if test(term).any()] or list(self.bound.terms))


@dataclass(frozen=True)
class AtPoint:
    """A bound at one point: ``value`` is NaN if a condition fails; ``terms`` are the formula's regardless."""

    value: float
    terms: dict[str, float]
    failed: tuple[Condition, ...]


def at_point(bound: Statement, values: Mapping[str, Any], checked: bool = True) -> AtPoint:
    """Evaluate a bound at one point in ball arithmetic: one number per quantity, or a list over the clients.

    The result is accurate to the last digit or two of the largest term, whereas a call of the bound is accurate to
    1e-9. Raises ``BoundsError`` for invalid values (if ``checked``) and for a bound with one value per client.

    >>> from bounds.catalog import get
    >>> known = {"step_size": 0.7, "smoothness": 2.5, "strong_convexity": 0.4, "iterations": 9}
    >>> known |= {"initial_distance_sq": 1.3, "optimum_dissimilarity": 0.2}
    >>> at_point(get("classics.needell_2_1"), known).failed[0].words
    'the step size is below 1/L'
    """
    evaluator = evaluator_of(bound)
    if not evaluator.shared_target:
        raise BoundsError(f"{bound.name} bounds one {bound.target.name} per {bound.axis.removesuffix('s')}: call it")
    inputs = evaluator.inputs(values, checked=checked)
    (numbers,), formulas = inputs.points(), inputs.evaluator.at_points
    failing = {
        condition.words
        for condition, tape in zip(inputs.bound.numeric_conditions, formulas.relation_tapes, strict=True)
        if not all(Point(tape, numbers, inputs.width).holds())
    }
    failed = tuple(condition for condition in bound.numeric_conditions if condition.words in failing)
    *terms, total = (members[0] for members in Point(formulas.value_tape, numbers, inputs.width).values())
    return AtPoint(float("nan") if failed else total, dict(zip(inputs.bound.terms, terms, strict=True)), failed)


class Evaluator:
    """Checks the arguments of one bound and prepares its formulas."""

    def __init__(self, bound: Statement) -> None:
        self.bound = bound
        self.names = tuple(q.name for q in bound.all_quantities)
        self.counts_clients = bound.axis == CLIENTS
        """Whether the number of clients may be given even if the formula does not contain it: it limits others."""
        self.shared_target = not bound.axis or not bound.target.card.axis

    def inputs(self, values: Mapping[str, Any], free: str = "", checked: bool = True) -> Inputs:
        """Convert arguments to arrays, and check them. ``free`` is a quantity that may be missing: the unknown."""
        form, values = self._form(values, free)
        return Inputs(form, *(form._checked(values, free) if checked else form._unchecked(values)))

    def finished(self, out: np.ndarray) -> Any:
        """Return a result without the axis that was added, and as a plain number if nothing is swept."""
        if self.bound.axis and out.shape[-1] == 1 and self.shared_target:
            out = out[..., 0]
        return out if out.ndim else out.item()

    def compiled(self, backend: str) -> Callable[..., Any]:
        """Return the function that ``Bound.compile`` describes."""
        if backend == "torch":
            return self._on_torch()
        if backend != "numpy":
            raise unknown("backend", backend, ("numpy", "torch"))

        def evaluate(**values: Any) -> Any:
            form, known = self._form(values)
            return form.finished(form.value_and_conditions.plain(*form._unchecked(known))[0])

        return evaluate

    def _on_torch(self) -> Callable[..., Any]:
        import torch

        tape = Tape((self._total, *self.bound.relations))

        def evaluate(**values: Any) -> Any:
            merged = {**self.bound.given, **values}
            arrays, shape = self._shape(
                {k: torch.as_tensor(v, dtype=torch.float64) for k, v in merged.items()}, torch.broadcast_to
            )
            slots = tape.run(Floats(shape[-1] if self.bound.axis else 1, torch, axis=-1), arrays)
            total, *relations = (slots[slot] for slot in tape.outputs)
            for relation in relations:
                met = relation.all(dim=-1, keepdim=True) if self.bound.axis else relation
                total = torch.where(met, total, torch.nan)
            return total[..., 0] if self.bound.axis and self.shared_target else total

        return evaluate

    # ---- formulas, prepared on first use ----

    @cached_property
    def value_and_conditions(self) -> Formulas:
        """The value and the conditions, for calls and compiled functions.

        Sharing them makes both agree to the last bit wherever plain floating point is known to be right.
        """
        return self._formulas((self._total,), self.bound.relations)

    @cached_property
    def conditions(self) -> Formulas:
        return self._formulas((), self.bound.relations)

    @cached_property
    def terms(self) -> Formulas:
        return self._formulas(tuple(self.bound.spelled_terms.values()), self.bound.relations)

    @property
    def _total(self) -> sp.Expr:
        return sp.Add(*self.bound.spelled_terms.values())

    @cached_property
    def at_points(self) -> Formulas:
        """The terms, their sum and the conditions, for ``at_point``."""
        return self._formulas((*self.bound.spelled_terms.values(), self._total), self.bound.relations)

    def _formulas(self, values: tuple[sp.Expr, ...], relations: tuple[sp.Basic, ...]) -> Formulas:
        return Formulas(values, relations, bool(self.bound.axis), bool(self.bound.target.card.axis))

    # ---- arguments ----

    @cached_property
    def special(self) -> Evaluator:
        """The evaluator of the form for identical clients."""
        evaluator: Evaluator = evaluator_of(equal_clients.special_form(self.bound))
        evaluator.counts_clients = True
        return evaluator

    def _form(self, values: Mapping[str, Any], free: str = "") -> tuple[Evaluator, Mapping[str, Any]]:
        """Return the special evaluator with its values if all clients are identical, else this one and ``values``."""
        if not equal_clients.applies(self.bound, values):
            return self, values
        self._check_names(values, free)
        return self.special, equal_clients.special_values(self.bound, values)

    def _checked(self, values: Mapping[str, Any], free: str) -> tuple[Arrays, tuple[int, ...]]:
        self._check_names(values, free)
        merged = {**self.bound.given, **values}
        cards = {q.name: q for q in self.bound.all_quantities}
        if self.counts_clients:
            cards.setdefault(clients.name, clients)
        arrays = {name: array_of(name, value) for name, value in merged.items()}
        listed = any(n == client_weight.name or (cards[n].card.axis and a.ndim) for n, a in arrays.items())
        counted = listed or clients.name in arrays
        whole = {n: a for n, a in arrays.items() if not cards[n].card.domain.simplex}
        arrays, shape = self._shape(arrays)
        for name, array in {**arrays, **whole}.items():  # the arrays as given are smaller than the broadcast ones
            cards[name].card.domain.check(name, array)
        if counted and self.bound.axis == CLIENTS:  # so that limits such as cohort <= clients are checked below
            arrays.setdefault(clients.name, np.array([float(shape[-1])]))
        self._check_pairs(arrays, cards)
        return arrays, shape

    def _unchecked(self, values: Mapping[str, Any]) -> tuple[Arrays, tuple[int, ...]]:
        return self._shape({k: np.asarray(v, dtype=float) for k, v in {**self.bound.given, **values}.items()})

    def check_given(self, values: Mapping[str, Any]) -> None:
        """Check that some values lie in their domains, without requiring the others."""
        for name, value in values.items():
            card = self.bound.quantity(name).card
            array = array_of(name, value)
            if not (card.domain.simplex and array.ndim == 0):
                card.domain.check(name, array)

    def _check_names(self, values: Mapping[str, Any], free: str = "") -> None:
        extra = {clients.name} if self.counts_clients else set()
        for name in values:
            if name not in self.names and name not in extra:
                from ..letters import unknown_quantity  # a slow import: it loads every paper

                raise unknown_quantity(f"quantity of {self.bound.name}", name, self.names, self.bound.source.paper)
            if name in self.bound.given:
                raise BoundsError(f"{name} is fixed at {self.bound.given[name]} here; leave it out")
        missing = [name for name in self.names if name not in {*self.bound.given, *values, free}]
        if missing:
            unset = [name for name in missing if role_of(name) == Role.FREE]
            more = [f"; {name} is free in the proof: compare chooses it" for name in unset]
            raise errors.MissingQuantityError(f"{self.bound.name} needs {', '.join(missing)}{''.join(more)}")

    def _shape(self, arrays: Any, broadcast: Callable[..., Any] = np.broadcast_to) -> tuple[Any, tuple[int, ...]]:
        """Add the trailing axis to every array (length one for shared quantities) and return the common shape."""
        if not self.bound.axis:
            return arrays, self._of_a_size(_broadcast({n: a.shape for n, a in arrays.items()}))
        over = {q.name for q in self.bound.all_quantities if q.card.axis}
        count = arrays.get(clients.name) if self.bound.axis == CLIENTS else None
        lengths = {n: a.shape[-1] for n, a in arrays.items() if n in over and a.ndim}
        length = max(lengths.values(), default=1)
        single = sorted(n for n, v in lengths.items() if v == 1 and arrays[n].ndim == 1)  # lists over one client
        if any(v not in (1, length) for v in lengths.values()) or (single and length > 1):
            text = ", ".join(f"{n}: {v}" for n, v in sorted(lengths.items()))
            raise DomainError(f"lists over the {self.bound.axis} must have one length; got {text}")
        if count is not None:
            length = _client_count(count, length, bool(lengths), self.bound.axis)
            if single and length > 1:
                raise DomainError(f"{single[0]} has 1 entry where there are {length} clients; list one for each")
        if clients.name not in self.names:
            arrays = {n: a for n, a in arrays.items() if n != clients.name}
        full = {n: broadcast(a, (*a.shape[:-1], length)) if n in over else a[..., None] for n, a in arrays.items()}
        return full, self._of_a_size((*_broadcast({n: a.shape[:-1] for n, a in full.items()}), length))

    def _of_a_size(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape; raise ``BoundsError`` if a result of this shape would not fit into memory."""
        numbers = prod(shape if self.bound.target.card.axis or not self.bound.axis else shape[:-1])
        if numbers > MOST_NUMBERS:
            raise BoundsError(
                f"{self.bound.name}: an answer of {numbers:.3g} numbers takes {numbers / 2**27:.3g} GiB; give fewer "
                f"points or clients, at most {MOST_NUMBERS} numbers at once"
            )
        return shape

    def _check_pairs(self, arrays: Arrays, cards: Mapping[str, Quantity]) -> None:
        for name, array in arrays.items():
            limit = cards[name].card.at_most
            if limit is None or limit.name not in arrays:
                continue
            small, large = np.broadcast_arrays(array, arrays[limit.name])
            if (wrong := small > large).any():
                least, most = exactly(small[wrong].flat[0]), exactly(large[wrong].flat[0])
                raise DomainError(f"{name} must be <= {limit.name}; got {least} > {most}")


def _client_count(count: Any, length: int, lists: bool, axis: str) -> int:
    """Return the given number of clients; raise if lists over the clients have another length."""
    counts = np.unique(np.asarray(count))  # of an array or a torch tensor
    clients.card.domain.check(clients.name, counts)
    number = int(counts[0])
    if len(counts) > 1 or (lists and length not in (1, number)):
        raise DomainError(f"clients must equal the length of the lists over the {axis}, {length}; got {counts[-1]:g}")
    return number


def _broadcast(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        text = ", ".join(f"{n}: {s}" for n, s in shapes.items() if s)
        raise BoundsError(f"shapes do not broadcast together; got {text}") from None
