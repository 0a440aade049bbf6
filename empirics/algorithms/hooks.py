"""Checks of an algorithm's hooks and of what they return, with one-line errors for mistakes in users' own hooks."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any, cast, NoReturn

import numpy as np
import torch
from torch import Tensor

from ..errors import EmpiricsError
from ..numbers import quoted


def check_hook(where: str, hook: Any, arguments: str) -> None:
    """Raise if ``hook`` cannot be called with ``arguments`` (names separated by commas)."""
    if isinstance(hook, type):
        raise EmpiricsError(f"{where} must be an instance; got the class {hook.__name__}: call it, {hook.__name__}()")
    try:
        inspect.signature(hook.forward if isinstance(hook, torch.nn.Module) else hook).bind(*arguments.split(", "))
    except (TypeError, ValueError) as error:  # ValueError: a built-in function without a signature
        raise EmpiricsError(f"{where} must be callable as ({arguments}); {type(hook).__name__}: {error}") from None


def checked_tensor(where: str, answer: Any, like: Tensor) -> Tensor:
    """Return ``answer`` detached; raise unless it is a dense real tensor of the shape and device of ``like``."""
    real = isinstance(answer, Tensor) and answer.dtype.is_floating_point and not answer.is_sparse
    if not real or answer.shape != like.shape or answer.device != like.device:
        _refuse(where, f"a tensor of shape {tuple(like.shape)} like the models", answer)
    checked: Tensor = answer
    return checked.detach() if checked.requires_grad else checked


def checked_models(where: str, answer: Any, like: Tensor) -> Tensor:
    """As ``checked_tensor``, converted to the precision of ``like``."""
    return checked_tensor(where, answer, like).to(like.dtype)


def checked_columns(where: str, answer: Any, like: Tensor) -> Tensor | None:
    """Return ``answer``; raise unless it is a mask or factors ``(dim,)`` for ``like (rows, dim)``, or None."""
    if answer is not None and (not isinstance(answer, Tensor) or answer.shape != like.shape[1:]):
        _refuse(where, f"a tensor of shape {tuple(like.shape[1:])} or None", answer)
    return answer


def checked_losses(objective: Any, answer: Any) -> Tensor:
    """Return the losses of an objective; raise unless they can be differentiated."""
    if not isinstance(answer, Tensor) or not answer.dtype.is_floating_point or not answer.requires_grad:
        where = f"{type(objective).__name__}: what an objective returns"
        _refuse(where, "a tensor of losses that depends on the models", answer)
    return answer


def checked_steps(where: str, answer: Any) -> tuple[int, float]:
    """Return a round's number of local steps and step size; raise unless ``answer`` is such a pair."""
    steps, size = answer if isinstance(answer, tuple) and len(answer) == 2 else (None, None)
    integer = isinstance(steps, Real) and float(steps) >= 1 and float(steps).is_integer()
    if not integer or not isinstance(size, Real):
        raise EmpiricsError(f"{where} must be (local steps >= 1, step size); got {quoted(answer)}")
    return cast(int, steps), float(size)  # steps keep their type: without samples, passes are fractions


def checked_tensors(where: str, answer: Any) -> Mapping[str, Tensor]:
    """Return ``answer``; raise unless it maps names to tensors."""
    if not isinstance(answer, Mapping) or not all(isinstance(value, Tensor) for value in answer.values()):
        _refuse(where, "a dictionary of tensors", answer)
    return answer


def checked_parts(where: str, answer: Any, parts: str, *lengths: int) -> tuple[Any, ...]:
    """Return ``answer``; raise unless it is a tuple of one of these lengths. ``parts`` describes it in the error."""
    if not isinstance(answer, tuple) or len(answer) not in lengths:
        _refuse(where, parts, answer)
    return answer


def _refuse(where: str, rule: str, answer: Any) -> NoReturn:
    """Raise the error for an answer that breaks a rule; a tensor is described by shape, type, layout and device."""
    got = type(answer).__name__
    if isinstance(answer, Tensor):
        place = "" if answer.device.type in ("cpu", "cuda") else f" on {answer.device}"
        got = f"{tuple(answer.shape)} of {answer.dtype}, {answer.layout}{place}"
    raise EmpiricsError(f"{where} must be {rule}; got {got}")


@contextmanager
def seeded(where: str) -> Iterator[None]:
    """Raise if a hook draws from a global random generator, which the seed of a run does not control."""
    before = _generator_states()
    yield
    for name, state in _generator_states().items():
        if not np.array_equal(state, before[name]):
            rule = "draw from empirics.streams.stream(work.seed, ...) alone, or one seed gives many results"
            raise EmpiricsError(f"{where} must {rule}; it drew from the global generator of {name}")


def _generator_states() -> dict[str, Any]:
    inner: Any = np.random.get_state(legacy=False)  # noqa: NPY002, the generator that hooks must not use
    state = inner["state"]
    return {"torch": torch.default_generator.get_state().numpy(), "NumPy": np.append(state["key"], state["pos"])}
