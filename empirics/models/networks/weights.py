"""Parameters from local files: torch's own format, and safetensors, which needs no library."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn, Tensor

from ...errors import EmpiricsError

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "F64": torch.float64}


def load(module: nn.Module, path: str, names: Mapping[str, str]) -> None:
    """Copy the tensors of a file into a module; ``names`` gives the file's name of every parameter.

    Prefixes such as ``model.decoder.`` in the file do not matter. Raises ``EmpiricsError`` where the file is missing,
    unreadable or damaged, or a parameter is not in it or has another shape.
    """
    found = read(Path(path))
    stored = {name.removeprefix("model.").removeprefix("decoder."): tensor for name, tensor in found.items()}
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            wanted = names[name]
            if wanted not in stored:
                raise EmpiricsError(f"weights: {path} has no {wanted}; is it of another model?")
            if stored[wanted].shape != parameter.shape:
                shapes = f"{tuple(stored[wanted].shape)}, the network {tuple(parameter.shape)}"
                raise EmpiricsError(f"weights: {wanted} in {path} has shape {shapes}; set the options to its sizes")
            parameter.copy_(stored[wanted])


def read(path: Path) -> Mapping[str, Tensor]:
    """Tensors by name in a ``.safetensors`` file or one written by ``torch.save`` (tensors only, no code is run)."""
    if not path.is_file():
        raise EmpiricsError(
            f"weights: no file {path}; give the path of a local checkpoint, or leave it out to start at random"
        )
    try:
        if path.suffix == ".safetensors":
            return _safetensors(path)
        stored: Any = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a damaged file makes of a reader
        raise EmpiricsError(f"weights: cannot read {path}: {type(error).__name__}: {error}".splitlines()[0]) from None
    if not isinstance(stored, Mapping):
        raise EmpiricsError(f"weights: {path} holds a {type(stored).__name__}, not tensors by name")
    return stored


def _safetensors(path: Path) -> dict[str, Tensor]:
    """Eight bytes with the length of a JSON header (type, shape and byte range of every tensor), then the numbers."""
    data = np.memmap(path, np.uint8, "c")
    length = int(data[:8].view("<u8")[0])
    header = json.loads(bytes(data[8 : 8 + length]))
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        kind, shape = TYPES[entry["dtype"]], entry["shape"]
        if end > len(data) or end - begin != math.prod(shape) * kind.itemsize:
            raise ValueError(f"{name} does not fit into the file: it is cut short or damaged")
        tensors[name] = torch.frombuffer(data, dtype=kind, count=math.prod(shape), offset=begin).view(shape)
    return tensors
