"""From SymPy expressions to functions of NumPy arrays or torch tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import sympy as sp
from sympy.printing.codeprinter import PrintMethodNotImplementedError
from sympy.printing.numpy import NumPyPrinter

from ..errors import DeclarationError
from ..operators import AxisReduction, varies, write_out_means
from ..quantities import quantities_of, Quantity
from .rounding import lenient, raised, SLACK
from .stable import log_ratio, stable

Code = Callable[..., Sequence[Any]]


def _axis_sum(x: Any) -> Any:
    return np.sum(x, axis=0, keepdims=True)


def _axis_max(x: Any) -> Any:
    return np.max(x, axis=0, keepdims=True)


NUMPY: dict[str, Any] = {
    "axis_sum": _axis_sum,
    "axis_max": _axis_max,
    "ones_like": np.ones_like,
    "log_ratio": log_ratio,
    "raised": raised,
}


class _Printer(NumPyPrinter):
    """NumPy code with two changes: small whole powers of a name become products (NumPy's power is many times slower
    than a multiplication), and what takes any number of arguments (Min, Max, And, Or) takes two at a time."""

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
        base, exponent = expr.args
        if base.is_Symbol and exponent.is_Integer and 2 <= abs(int(exponent)) <= 4:
            product = "*".join([self._print(base)] * abs(int(exponent)))
            return f"({product})" if exponent > 0 else f"(1/({product}))"
        return str(super()._print_Pow(expr, rational=rational))

    def _pairwise(self, function: str, expr: sp.Expr) -> str:
        return reduce(lambda a, b: f"{function}({a}, {b})", [self._print(a) for a in expr.args])

    def _print_Max(self, expr: sp.Max) -> str:
        return self._pairwise("maximum", expr)

    def _print_Min(self, expr: sp.Min) -> str:
        return self._pairwise("minimum", expr)

    def _print_And(self, expr: sp.And) -> str:
        return self._pairwise("logical_and", expr)

    def _print_Or(self, expr: sp.Or) -> str:
        return self._pairwise("logical_or", expr)


def generate(
    names: Sequence[str],
    outputs: Sequence[sp.Basic],
    namespace: Mapping[str, Any] = NUMPY,
    compared: Callable[[sp.Basic], sp.Basic] = lenient,
) -> Code:
    """A function of arrays in the order of ``names`` that returns the ``outputs``, common subexpressions shared.

    ``namespace`` holds the functions the code may call besides NumPy's own; ``compared`` writes how the sides of
    comparisons, which are rounded, are compared.
    """
    settings = {"fully_qualified_modules": False, "inline": True, "user_functions": {name: name for name in NUMPY}}
    modules = [dict(namespace), np]  # by its name SymPy would load all that NumPy has, for a fifth of a second
    symbols = [sp.Symbol(n) for n in names]
    ones = _ones(outputs)
    plain = [_inert(compared(stable(write_out_means(o))), ones) for o in outputs]
    printer = _Printer(settings)
    try:
        code: Code = sp.lambdify(symbols, plain, modules=modules, cse=True, printer=printer)
    except PrintMethodNotImplementedError as error:
        name = str(error).splitlines()[0].rpartition(": ")[2].rpartition(".")[2].strip("'>")
        raise DeclarationError(f"NumPy has no function {name}") from None
    if alone := printer.module_imports.get("math"):  # functions of one number, which would fail on arrays
        raise DeclarationError(f"NumPy has no function {', '.join(sorted(alone))}")
    return code


def _ones(outputs: Sequence[sp.Basic]) -> sp.Basic:
    """Ones shaped like a quantity that varies over the axis: a reduction of a shared number runs over these."""
    along = [q for q in quantities_of(outputs) if q.card.axis]
    return sp.Function("ones_like")(sp.Symbol(along[0].name)) if along else sp.S.One


def _inert(expression: sp.Basic, ones: sp.Basic) -> sp.Basic:
    """Plain symbols and inert reductions: ours would pull out what common-subexpression symbols seem not to vary."""
    if isinstance(expression, Quantity):
        return sp.Symbol(expression.name)
    args = [_inert(a, ones) for a in expression.args]
    if isinstance(expression, AxisReduction):
        return sp.Function(expression.code)(*args if varies(expression.args[0], expression.axis) else (args[0] * ones,))
    return expression.func(*args) if args else expression


def torch_namespace() -> dict[str, Any]:
    """The functions of generated code on torch tensors; importing torch is left to whoever asks for it."""
    import torch

    def lifted(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: function(*(torch.as_tensor(a, dtype=torch.float64) for a in args))

    def raised_tensor(x: Any, more: Any = None) -> Any:
        near = x * (1 + SLACK * torch.sign(x))
        return near if more is None else near + torch.where(torch.isfinite(more), more, 0.0)

    same = ("sqrt", "log", "exp", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
            "arccosh", "arctanh", "sign", "ceil", "floor", "abs", "maximum", "minimum", "less", "less_equal", "greater",
            "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not")  # fmt: skip
    return {
        **{name: lifted(getattr(torch, name if name != "equal" else "eq")) for name in same},
        "axis_sum": lifted(lambda x: torch.sum(x, dim=-1, keepdim=True)),
        "axis_max": lifted(lambda x: torch.amax(x, dim=-1, keepdim=True)),
        "ones_like": lifted(torch.ones_like),
        "raised": lifted(raised_tensor),
        "log_ratio": lifted(lambda x: torch.where(x == 0, 1.0, torch.log1p(x) / torch.where(x == 0, 1.0, x))),
    }
