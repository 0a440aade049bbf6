"""Data sets' files as tests write them, and how damaged ones are refused."""

import gzip
import io

import pytest
from scipy.io import savemat

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


def mat(**arrays):
    """A file of MATLAB."""
    content = io.BytesIO()
    savemat(content, arrays)
    return content.getvalue()


def refused(name, *words):
    """The data set is refused in one line with these words."""
    with pytest.raises(DataFormatError) as caught:
        DATASETS[name]()
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words)


def all_damaged(root, name, file, *contents):
    """The data set is refused with each of these contents in place of its file."""
    for content in contents:
        put(root, file, content)
        refused(name)
