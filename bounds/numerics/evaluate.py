"""Evaluation: arguments are checked once, formulas run on NumPy arrays (or torch tensors) in cache-sized blocks, and
points where floating point may be wrong are computed again (``recheck``).

The axis a quantity varies over is the last array axis. While a formula runs every array carries it (length one for
shared quantities), reductions keep it, and it is dropped at the end: sweeps and client lists just broadcast.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cached_property
from math import prod
from numbers import Rational
from typing import Any

import numpy as np
import sympy as sp

from ..domains import changed, exactly
from ..errors import (
    BoundsError,
    DomainError,
    MissingQuantityError,
    OutsideConditionsWarning,
    SignWarning,
    TermOverflowWarning,
    UndefinedValueWarning,
    UnderflowWarning,
    unknown,
    UnsettledWarning,
)
from ..quantities import CLIENTS, Quantity
from ..statement import Condition, Statement
from ..vocabulary import client_weight, clients
from . import alike
from .labels import of_library
from .recheck import Arrays, Checked, Formulas
from .tape import Tape

MOST_NUMBERS = 2**30
"""Numbers in one answer: 8 GiB."""


def evaluator_of(bound: Statement) -> Evaluator:
    """The evaluator of a bound, made at the first question."""
    held = bound.__dict__
    if "evaluator" not in held:
        held["evaluator"] = Evaluator(bound)
    found: Evaluator = held["evaluator"]
    return found


class Evaluator:
    """Checks arguments for one bound and runs its formulas."""

    def __init__(self, bound: Statement) -> None:
        self.bound = bound
        self.names = tuple(q.name for q in bound._all)
        self.counts_clients = bound.axis == CLIENTS
        """Whether the number of clients may be said also where the formula does not use it: it limits a cohort."""
        self.shared_target = not bound.axis or not bound.target.card.axis

    # ---- the public answers ----

    def value(self, values: Mapping[str, Any], outside: bool = False) -> Any:
        if alike.applies(self.bound, values):
            return self.special.value(self.for_special(values), outside)
        arrays, shape = self.prepare(values)
        settled = self._whole.values(arrays, shape, masked=not outside)
        (out,) = settled.arrays
        self._warn(settled, arrays, shape, outside)
        self._warn_of(settled)
        if not outside and not self.bound.signed and (out < 0).any():
            guilty = self._terms_that_are(lambda term: term < 0, arrays, shape)
            said = f"{self.bound.name} is negative, by {guilty}: list terms that may be negative in signed=(...)"
            warnings.warn(said, SignWarning, stacklevel=3)
        return self._finish(out)

    def parts(self, values: Mapping[str, Any], outside: bool = False) -> dict[str, Any]:
        if alike.applies(self.bound, values):
            return self.special.parts(self.for_special(values), outside)
        arrays, shape = self.prepare(values)
        applies = None if outside else self._whole.met(arrays, shape).applies
        settled = self._terms.values(arrays, shape, wanted=applies)
        outs = settled.arrays if applies is None else [np.where(applies, out, np.nan) for out in settled.arrays]
        if guilty := [repr(name) for name, out in zip(self.bound.terms, outs, strict=True) if np.isinf(out).any()]:
            warnings.warn(f"{self.bound.name}: infinite in {', '.join(guilty)}", TermOverflowWarning, stacklevel=3)
        self._warn_of(settled)
        return {name: self._finish(out) for name, out in zip(self.bound.terms, outs, strict=True)}

    def holds(self, values: Mapping[str, Any]) -> Any:
        if alike.applies(self.bound, values):
            return self.special.holds(self.for_special(values))
        arrays, shape = self.prepare(values)
        settled = self._whole.met(arrays, shape)
        self._warn_of(settled)
        return self._finish(settled.applies)

    def failed(self, values: Mapping[str, Any]) -> tuple[Condition, ...]:
        if alike.applies(self.bound, values):
            words = {c.words for c in self.special.failed(self.for_special(values))}
            return tuple(c for c in self.bound.numeric_conditions if c.words in words)
        arrays, shape = self.prepare(values)
        met = self._whole.met(arrays, shape).arrays
        return tuple(c for c, where in zip(self.bound.numeric_conditions, met, strict=True) if not where.all())

    def compiled(self, backend: str) -> Callable[..., Any]:
        if backend == "torch":
            return self._on_torch()
        if backend != "numpy":
            raise unknown("backend", backend, ("numpy", "torch"))

        def evaluate(**values: Any) -> Any:
            if alike.applies(self.bound, values):
                return self.special.compiled(backend)(**self.for_special(values))
            arrays, shape = self._shape(
                {k: np.asarray(v, dtype=float) for k, v in {**self.bound.given, **values}.items()}
            )
            return self._finish(self._whole.plain(arrays, shape)[0])

        return evaluate

    def _on_torch(self) -> Callable[..., Any]:
        import torch

        from .floats import tensors

        tape = Tape((self._total, *self.bound.relations))

        def evaluate(**values: Any) -> Any:
            merged = {**self.bound.given, **values}
            arrays, shape = self._shape(
                {k: torch.as_tensor(v, dtype=torch.float64) for k, v in merged.items()}, torch.broadcast_to
            )
            held = tape.run(tensors(shape[-1] if self.bound.axis else 1), arrays)
            total, *relations = (held[slot] for slot in tape.outputs)
            total = torch.as_tensor(total, dtype=torch.float64)  # a bound without quantities is a plain number
            for relation in relations:
                met = relation.all(dim=-1, keepdim=True) if self.bound.axis else relation
                total = torch.where(met, total, torch.nan)
            return total[..., 0] if self.bound.axis and self.shared_target else total

        return evaluate

    # ---- clients that are all alike ----

    @cached_property
    def special(self) -> Evaluator:
        """The evaluator for so many equal clients, which no array of them is made for."""
        evaluator: Evaluator = evaluator_of(alike.special_form(self.bound))
        evaluator.counts_clients = True
        return evaluator

    def for_special(self, values: Mapping[str, Any], free: str = "") -> dict[str, Any]:
        """``values`` as ``special`` takes them, once it is sure that nothing but ``free`` is missing."""
        self._check_names({**self.bound.given, **values}, values, free)
        return alike.special_values(self.bound, values)

    # ---- formulas, prepared on first use ----

    @cached_property
    def _whole(self) -> Formulas:
        """One computation for call, formula, conditions and compiled function: they agree to the last bit wherever
        plain floating point is known to be right, and where it is not all but the compiled function compute again."""
        return self._formulas((self._total,), self.bound.relations)

    @cached_property
    def _terms(self) -> Formulas:
        return self._formulas(tuple(self.bound.spelled_terms.values()), ())

    @property
    def _total(self) -> sp.Expr:
        return sp.Add(*self.bound.spelled_terms.values())

    @cached_property
    def at_points(self) -> Formulas:
        """The terms, their sum and the conditions, for one point at a time: see ``at_point``."""
        return self._formulas((*self.bound.spelled_terms.values(), self._total), self.bound.relations)

    def _formulas(self, values: tuple[sp.Expr, ...], relations: tuple[sp.Basic, ...]) -> Formulas:
        return Formulas(values, relations, bool(self.bound.axis), bool(self.bound.target.card.axis))

    # ---- arguments ----

    def prepare(self, values: Mapping[str, Any], free: str = "") -> tuple[Arrays, tuple[int, ...]]:
        """Checked arrays by name and the common shape (with the axis last where the bound has one).

        ``free`` is a quantity that needs no value: the one that is being looked for.
        """
        merged = {**self.bound.given, **values}
        self._check_names(merged, values, free)
        cards = {q.name: q for q in self.bound._all}
        if self.counts_clients:
            cards.setdefault(clients.name, clients)
        arrays = {name: _numbers(name, value) for name, value in merged.items()}
        listed = any(n == client_weight.name or (cards[n].card.axis and a.ndim) for n, a in arrays.items())
        counted = listed or clients.name in arrays
        whole = {n: a for n, a in arrays.items() if not cards[n].card.domain.simplex}
        arrays, shape = self._shape(arrays)
        for name, array in {**arrays, **whole}.items():  # as given: not once more for every client
            cards[name].card.domain.check(name, array)
        if counted and self.bound.axis == CLIENTS:  # also known to the quantities that it limits, such as a cohort
            arrays.setdefault(clients.name, np.array([float(shape[-1])]))
        self._check_pairs(arrays, cards)
        return arrays, shape

    def check_given(self, values: Mapping[str, Any]) -> None:
        """Check some of the values alone: their own domains, without the rest."""
        for name, value in values.items():
            card = self.bound.quantity(name).card
            array = _numbers(name, value)
            if not (card.domain.simplex and array.ndim == 0):
                card.domain.check(name, array)

    def _check_names(self, merged: Mapping[str, Any], values: Mapping[str, Any], free: str = "") -> None:
        extra = {clients.name} if self.counts_clients else set()
        for name in values:
            if name not in self.names and name not in extra:
                from ..letters import unknown_quantity  # imports every paper, to have its letters

                raise unknown_quantity(f"quantity of {self.bound.name}", name, self.names, self.bound.source.paper)
            if name in self.bound.given:
                raise BoundsError(f"{name} is fixed at {self.bound.given[name]} here; leave it out")
        missing = [name for name in self.names if name not in merged and name != free]
        if missing:
            raise MissingQuantityError(f"{self.bound.name} needs {', '.join(missing)}")

    def _shape(self, arrays: Any, broadcast: Callable[..., Any] = np.broadcast_to) -> tuple[Any, tuple[int, ...]]:
        """Give every array the trailing axis (length one for shared quantities) and find the common shape."""
        if not self.bound.axis:
            return arrays, self._of_a_size(_broadcast({n: a.shape for n, a in arrays.items()}))
        over = {q.name for q in self.bound._all if q.card.axis}
        count = arrays.get(clients.name) if self.bound.axis == CLIENTS else None
        lengths = {n: a.shape[-1] for n, a in arrays.items() if n in over and a.ndim}
        length = max(lengths.values(), default=1)
        single = sorted(n for n, v in lengths.items() if v == 1 and arrays[n].ndim == 1)  # a list of one, no sweep
        if any(v not in (1, length) for v in lengths.values()) or (single and length > 1):
            said = ", ".join(f"{n}: {v}" for n, v in sorted(lengths.items()))
            raise DomainError(f"lists over the {self.bound.axis} must have one length; got {said}")
        if count is not None:
            length = _agree(count, length, bool(lengths), self.bound.axis)
            if single and length > 1:
                raise DomainError(f"{single[0]} has 1 entry where there are {length} clients; list one for each")
        if clients.name not in self.names:
            arrays = {n: a for n, a in arrays.items() if n != clients.name}
        full = {n: broadcast(a, (*a.shape[:-1], length)) if n in over else a[..., None] for n, a in arrays.items()}
        return full, self._of_a_size((*_broadcast({n: a.shape[:-1] for n, a in full.items()}), length))

    def _of_a_size(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape, unless no memory would hold the answers: refused before any array is made for them."""
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

    # ---- looking at the results ----

    def _finish(self, out: np.ndarray) -> Any:
        if self.bound.axis and out.shape[-1] == 1 and self.shared_target:
            out = out[..., 0]
        return out if out.ndim else out.item()

    def _warn(self, settled: Checked, arrays: Arrays, shape: tuple[int, ...], outside: bool) -> None:
        (out,) = settled.arrays
        infinite, silent = np.isinf(out), np.isnan(out) & (not outside)
        if not infinite.any() and not silent.any():
            return
        if infinite.any():
            guilty = self._terms_that_are(np.isinf, arrays, shape)
            warnings.warn(f"{self.bound.name}: infinite in {guilty}", TermOverflowWarning, stacklevel=4)
        elif (silent & settled.applies).any():
            guilty = self._terms_that_are(np.isnan, arrays, shape)
            said = f"{self.bound.name} has no real value in {guilty}, though its conditions hold there"
            warnings.warn(said, UndefinedValueWarning, stacklevel=4)
        elif silent.all():
            met = self._whole.met(arrays, shape).arrays
            failed = [c.words for c, where in zip(self.bound.numeric_conditions, met, strict=True) if not where.all()]
            warnings.warn(
                f"{self.bound.name} is silent here: needs {'; '.join(failed)}", OutsideConditionsWarning, stacklevel=4
            )

    def _warn_of(self, settled: Checked) -> None:
        """What the numbers themselves cannot tell."""
        if settled.tiny:
            said = f"{self.bound.name}: a value is too small for the digits of a float"
            warnings.warn(said, UnderflowWarning, stacklevel=4)
        if settled.unsettled:
            said = f"{self.bound.name}: rounding may have spoilt the result at {settled.unsettled} points"
            warnings.warn(said, UnsettledWarning, stacklevel=4)

    def _terms_that_are(self, so: Callable[[np.ndarray], np.ndarray], arrays: Arrays, shape: tuple[int, ...]) -> str:
        """The terms that are ``so`` somewhere; all of them when only their sum is."""
        terms = zip(self.bound.terms, self._terms.values(arrays, shape).arrays, strict=True)
        return ", ".join(repr(n) for n in [name for name, term in terms if so(term).any()] or list(self.bound.terms))


# ---- reading values ----


def _numbers(name: str, value: Any) -> np.ndarray:
    if of_library(value, "torch"):
        _refuse_far_tensor(name, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and not all(map(_is_exact, array.flat)):
            raise TypeError
        if array.dtype.kind in "USbcmM" or np.ma.is_masked(value):  # dates, and entries that are not there
            raise TypeError
        given, array = array, np.asarray(array, dtype=float)
    except OverflowError:
        raise DomainError(f"{name} must be of a size that a floating-point number can have") from None
    except RuntimeError as error:  # a list of tensors that are part of a graph: torch says what to do
        raise DomainError(f"{name} must be a number that is given: {str(error).splitlines()[0]}") from None
    except (TypeError, ValueError):
        raise DomainError(f"{name} must be a number or a rectangular list of numbers; got {value!r}") from None
    if array.size == 0:
        raise DomainError(f"{name} must hold at least one number; got an empty list")
    if np.isnan(array).any():
        raise DomainError(f"{name} must be a number; got NaN")
    if given.dtype.kind in "iuO" and (said := next(filter(None, map(_changed, given.flat)), "")):
        raise DomainError(f"{name} must be {said}")
    if given.dtype.kind == "O" and np.any((array == 0) & (given != 0)):
        raise DomainError(f"{name} must be of a size that a floating-point number can have")
    return array


def _is_exact(item: Any) -> bool:
    """Whether it is a number that arrays hold as an object: a whole one of many digits, a fraction, a decimal."""
    return isinstance(item, (Rational, Decimal, float)) and not isinstance(item, bool)


def _refuse_far_tensor(name: str, value: Any) -> None:
    """Say what to do with a tensor of torch that NumPy does not read."""
    if value.requires_grad:
        raise DomainError(
            f"{name} is a tensor that needs gradients, which a bound of numbers does not pass on: give "
            f"{name}.detach().numpy(), or take bound.compile('torch')"
        )
    if value.device.type != "cpu":
        raise DomainError(f"{name} is a tensor on {value.device}: give {name}.cpu().numpy()")


def _changed(given: Any) -> str:
    exact = isinstance(given, Rational) or (isinstance(given, Decimal) and given.is_finite())
    whole = isinstance(given, np.integer) or (exact and given == given // 1)
    return changed(int(given)) if whole else ""


def _agree(count: Any, length: int, lists: bool, axis: str) -> int:
    """The number of clients that was passed against the length of the lists; it decides when there is no list."""
    counts = np.unique(np.asarray(count))  # of an array, or of a tensor when the code runs on torch
    clients.card.domain.check(clients.name, counts)
    said = int(counts[0])
    if len(counts) > 1 or (lists and length not in (1, said)):
        raise DomainError(f"clients must equal the length of the lists over the {axis}, {length}; got {counts[-1]:g}")
    return said


def _broadcast(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        said = ", ".join(f"{n}: {s}" for n, s in shapes.items() if s)
        raise BoundsError(f"shapes do not broadcast together; got {said}") from None
