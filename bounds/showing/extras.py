"""Optional packages that only some verbs need, and the command that installs them."""

from __future__ import annotations

EXTRAS = {
    "train": ("torch", "numba", "llvmlite", "sklearn", "pyarrow", "threadpoolctl"),
    "exact": ("clarabel",),
    "cluster": ("distributed", "dask"),
    "data": ("pooch", "PIL"),
}
"""The optional dependencies of this project, and the packages in each."""


def to_install(error: BaseException) -> str:
    """Return how to install a missing package, or an empty string if no foreign package is missing."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or name in ("", "bounds", "empirics", "paper_checks", "figures"):
        return ""
    extra = next((extra for extra, packages in EXTRAS.items() if name in packages), "")
    requirement = f'"fedbounds[{extra}]"' if extra else name
    return f"this needs {name}: pip install {requirement}"
