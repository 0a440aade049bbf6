"""Data sets' files as tests write them, and how damaged ones are refused."""

import gzip

import pytest

from empirics.data.catalogue import DATASETS
from empirics.data.store import DataFormatError


def put(root, name, content, encoding="utf-8"):
    """Write a file below ``root``: bytes as they are, text compressed if the file's name says so."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = content.encode(encoding)
        content = gzip.compress(content) if name.endswith(".gz") else content
    path.write_bytes(content)
    return path


def refused(name, reason="truncated, damaged or of another format"):
    """The data set is refused for this reason, in one line."""
    with pytest.raises(DataFormatError, match=reason) as caught:
        DATASETS[name]()
    assert "\n" not in str(caught.value)
