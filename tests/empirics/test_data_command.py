"""``fedbounds data``: every set with its licence, what is here and whole, what is in one, and what is damaged."""

import hashlib

import pytest

from empirics.data.catalogue import dataset, DATASETS, FILES, OF_ANOTHER, OWN
from fedbounds import main

ROWS = "".join(f"{label} {' '.join(f'{i}:{0.1 * i + shift:.2f}' for i in range(1, 25))}\n"
               for label, shift in ((1, 0.3), (-1, 0.7), (1, 0.2), (-1, 0.9), (-1, 0.4)))  # fmt: skip


@pytest.fixture
def german(root):
    """A small set of the real one's form, with its hash listed."""
    path = root / "libsvm" / "german.numer_scale"
    path.parent.mkdir()
    path.write_text(ROWS)
    (root / "SHA256SUMS").write_text(f"{hashlib.sha256(ROWS.encode()).hexdigest()}  libsvm/german.numer_scale\n")
    return path


def said(capsys, *words):
    status = main(["data", *words])
    return status, *capsys.readouterr()


def row(out, name):
    return next(line.split() for line in out.splitlines() if line.split()[:1] == [name])


def test_every_set_is_listed_with_its_licence(german, capsys):
    status, out, err = said(capsys)
    assert (status, err) == (0, "")
    first, head, *lines = out.splitlines()
    assert str(german.parents[1]) in first
    assert head.split() == ["set", "here", "size", "place", "licence"]
    assert [line.split()[0] for line in lines] == [name for name in DATASETS if name not in (*OF_ANOTHER, *OWN)]
    for name, files in FILES.items():
        assert next(line for line in lines if line.split()[0] == name).endswith(f"   {files.licence}")
    assert row(out, "german")[1:5] == ["yes", str(len(ROWS)), "bytes", "libsvm/"]
    assert row(out, "mnist")[1:3] == ["no", "mnist/"]
    assert row(out, "digits")[1] == "yes"


def test_a_set_of_which_files_are_missing_is_here_in_part(german, capsys):
    german.with_name("a9a").write_text(ROWS)
    assert row(said(capsys)[1], "a9a")[1:3] == ["in", "part"]


def test_files_are_checked_against_the_listed_hashes(german, capsys):
    german.with_name("w8a").write_text(ROWS)
    status, out, _ = said(capsys, "--verify")
    assert status == 0
    assert row(out, "german")[1] == "whole"
    assert row(out, "w8a")[1:5] == ["no", "hash", "listed", str(len(ROWS))]
    german.write_text(ROWS.replace("0.40", "0.41"))
    status, out, _ = said(capsys, "--verify")
    assert status == 1
    assert row(out, "german")[1] == "damaged"
    assert out.splitlines()[-1] == (f"damaged: {german}: its hash is not the one that SHA256SUMS lists: fetch it again")


def test_a_set_by_name_is_read_and_described(german, capsys):
    status, out, err = said(capsys, "german", "iris")
    assert (status, err) == (0, "")
    assert f"  libsvm/german.numer_scale  {len(ROWS)} bytes, whole" in out.splitlines()
    assert "  samples      5, no test part" in out
    assert "  one sample   24" in out
    assert "  targets      binary, 2 classes" in out
    assert f"  licence      {FILES['german'].licence}" in out
    assert f"iris: {DATASETS['iris'].__doc__}" in out
    german.write_text("1 1:0.3\n")
    status, out, _ = said(capsys, "german")
    assert status == 1
    assert out.splitlines()[-1].startswith(f"damaged: {german} has sha256 ")


def test_the_loaded_set_has_the_licence_that_is_listed(german):
    assert dataset("german").licence == FILES["german"].licence


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["diggits"], "unknown data set 'diggits'; did you mean 'digits'"),
        (["held_out"], "unknown data set 'held_out'"),
        (["digits", "digits"], "digits is given twice"),
        (["digits", "--verify"], "a set that is named is checked anyway: leave out --verify"),
        (["svhn"], "svhn: no file svhn/train_32x32.mat (or .gz, .bz2, .xz) under "),
        (["german", "a9a"], "a9a: no file libsvm/a9a.t (or .gz, .bz2, .xz) under "),
    ],
)
def test_mistakes_are_one_line(words, line, german, capsys):
    german.with_name("a9a").write_text(ROWS)
    status, _, err = said(capsys, *words)
    assert (status, err.count("\n")) == (2, 1)
    assert line in err
