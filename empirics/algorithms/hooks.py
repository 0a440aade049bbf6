"""What hooks must be and must answer with: said in one line where a user's own are or do something else."""

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
    """Refuse a hook that cannot be called with these arguments, before anything is trained."""
    if isinstance(hook, type):
        raise EmpiricsError(f"{where} must be an instance; got the class {hook.__name__}: call it, {hook.__name__}()")
    try:
        inspect.signature(hook.forward if isinstance(hook, torch.nn.Module) else hook).bind(*arguments.split(", "))
    except (TypeError, ValueError) as error:  # a ValueError is of a function that does not say what it takes
        raise EmpiricsError(f"{where} must be callable as ({arguments}); {type(hook).__name__}: {error}") from None


def checked_tensor(where: str, answer: Any, like: Tensor) -> Tensor:
    """The answer of a hook that must be one real number per number of ``like``: it is evaluated in every step."""
    real = isinstance(answer, Tensor) and answer.dtype.is_floating_point and not answer.is_sparse
    if not real or answer.shape != like.shape or answer.device != like.device:
        _refuse(where, f"a tensor of shape {tuple(like.shape)} like the models", answer)
    checked: Tensor = answer
    return checked.detach() if checked.requires_grad else checked


def checked_models(where: str, answer: Any, like: Tensor) -> Tensor:
    """The same of models, which are in the precision of ``like``."""
    return checked_tensor(where, answer, like).to(like.dtype)


def checked_columns(where: str, answer: Any, like: Tensor) -> Tensor | None:
    """Which columns of ``like (rows, dim)`` move, as truths or factors ``(dim,)``; None: all."""
    if answer is not None and (not isinstance(answer, Tensor) or answer.shape != like.shape[1:]):
        _refuse(where, f"a tensor of shape {tuple(like.shape[1:])} or None", answer)
    return answer


def checked_losses(objective: Any, answer: Any) -> Tensor:
    """The losses that an objective found, if they can be differentiated."""
    if not isinstance(answer, Tensor) or not answer.dtype.is_floating_point or not answer.requires_grad:
        where = f"{type(objective).__name__}: what an objective returns"
        _refuse(where, "a tensor of losses that depends on the models", answer)
    return answer


def checked_steps(where: str, answer: Any) -> tuple[int, float]:
    """The number of local steps and the step size of a round."""
    steps, size = answer if isinstance(answer, tuple) and len(answer) == 2 else (None, None)
    whole = isinstance(steps, Real) and float(steps) >= 1 and float(steps).is_integer()
    if not whole or not isinstance(size, Real):
        raise EmpiricsError(f"{where} must be (local steps >= 1, step size); got {quoted(answer)}")
    return cast(int, steps), float(size)  # of its own kind: without samples, passes need not be integers


def checked_tensors(where: str, answer: Any) -> Mapping[str, Tensor]:
    """Tensors by name."""
    if not isinstance(answer, Mapping) or not all(isinstance(value, Tensor) for value in answer.values()):
        _refuse(where, "a dictionary of tensors", answer)
    return answer


def checked_parts(where: str, answer: Any, parts: str, *lengths: int) -> tuple[Any, ...]:
    """The ``parts`` that a hook answers with, a tuple of one of these lengths."""
    if not isinstance(answer, tuple) or len(answer) not in lengths:
        _refuse(where, parts, answer)
    return answer


def _refuse(where: str, rule: str, answer: Any) -> NoReturn:
    """Say what a hook must answer with and what it did: of a tensor the shape, the kind, and where it lies."""
    got = type(answer).__name__
    if isinstance(answer, Tensor):
        place = "" if answer.device.type in ("cpu", "cuda") else f" on {answer.device}"
        got = f"{tuple(answer.shape)} of {answer.dtype}, {answer.layout}{place}"
    raise EmpiricsError(f"{where} must be {rule}; got {got}")


@contextmanager
def seeded(where: str) -> Iterator[None]:
    """Refuse a hook that draws from a generator of the whole process, which no seed of a run reaches."""
    before = _generators()
    yield
    if drawn := [name for name, state in _generators().items() if not np.array_equal(state, before[name])]:
        rule = "draw from empirics.streams.stream(work.seed, ...) alone, or one seed gives many results"
        raise EmpiricsError(f"{where} must {rule}; it drew from the global generator of {drawn[0]}")


def _generators() -> dict[str, Any]:
    inner: Any = np.random.get_state(legacy=False)  # noqa: NPY002, the generator that is not to be drawn from
    state = inner["state"]
    return {"torch": torch.default_generator.get_state().numpy(), "NumPy": np.append(state["key"], state["pos"])}
