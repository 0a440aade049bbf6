"""``fedbounds list data``: every set with its licence, what is here and whole, what is in one, and what is damaged."""

import hashlib

import pytest
from refusals import all_refused

from empirics.data.catalogue import dataset, DATASETS, FILES
from empirics.sizes import byte_text

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


def row(out, name):
    return next(line.split() for line in out.splitlines() if line.split()[:1] == [name])


def test_files_are_checked_against_the_listed_hashes(german, run):
    german.with_name("w8a").write_text(ROWS)
    status, out, _ = run("list", "data", "--verify")
    assert status == 0
    assert row(out, "german")[1] == "whole"
    assert row(out, "w8a")[1:5] == ["no", "hash", "listed", byte_text(len(ROWS)).split()[0]]
    german.write_text(ROWS.replace("0.40", "0.41"))
    status, out, _ = run("list", "data", "--verify")
    assert status == 1
    assert row(out, "german")[1] == "damaged"
    assert out.splitlines()[-1].startswith(f"damaged: {german}: ")


def test_a_set_by_name_is_read_and_described(german, run):
    status, out, err = run("list", "data", "german", "iris")
    assert (status, err) == (0, "")
    for words in (
        f"  libsvm/german.numer_scale  {byte_text(len(ROWS))}, whole",
        "  samples      5, no test part",
        "  one sample   24",
        "  targets      binary, 2 classes",
        f"  licence      {FILES['german'].licence}",
        f"iris: {DATASETS['iris'].__doc__}",
    ):
        assert words in out
    assert dataset("german").licence == FILES["german"].licence
    german.write_text("1 1:0.3\n")
    status, out, _ = run("list", "data", "german")
    assert status == 1
    assert out.splitlines()[-1].startswith(f"damaged: {german} ")


def test_mistakes_are_one_line(german, run):
    german.with_name("a9a").write_text(ROWS)

    def line(words):
        status, _, err = run("list", "data", *words.split())
        assert status == 2
        return err

    wrong = {
        "diggits": "'diggits' 'digits'",
        "held_out": "'held_out'",
        "digits digits": "digits twice",
        "digits --verify": "--verify",
        "svhn": "svhn svhn/train_32x32.mat .gz .bz2 .xz",
        "german a9a": "a9a libsvm/a9a.t",
    }
    all_refused(wrong, line)
