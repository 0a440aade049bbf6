"""Packages that only some verbs need, and the one command that installs them."""

from __future__ import annotations

EXTRAS = {
    "train": ("torch", "numba", "llvmlite", "sklearn", "pyarrow", "threadpoolctl"),
    "exact": ("clarabel",),
    "cluster": ("distributed", "dask"),
    "data": ("pooch", "PIL"),
}
"""The extras of this project by the packages that they bring."""


def to_install(error: BaseException) -> str:
    """What to type where a package is missing; empty where none is, or where it is one of ours."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or name in ("", "bounds", "empirics", "paper_checks", "figures"):
        return ""
    extra = next((extra for extra, packages in EXTRAS.items() if name in packages), "")
    wanted = f'"fedbounds[{extra}]"' if extra else name
    return f"this needs {name}: pip install {wanted}"
