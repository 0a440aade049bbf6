"""What surely does not fit is refused before the work."""

import pytest
from refusals import all_refused

from empirics import sizes
from empirics.sizes import byte_text, refuse_beyond_memory

IRIS = ["--problem", "softmax(iris, regularisation=0.02)", "--clients", "3"]


@pytest.fixture
def small_machine(monkeypatch):
    """One with 2 GB, so that what is refused would not hurt here either."""
    monkeypatch.setattr(sizes, "memory", lambda: 2e9)


TRAIN = {
    "--local-steps 30000000": "30000000 23",
    "--local-epochs 20000000": "40000000 30.7",
    "--algorithm ditto(local_steps=30000000)": "30000000",
    "--rounds 1000000000 --every 3": "1000000000 100",
}
ON_IRIS = ("fedinit.lemma_2", *IRIS)
VALIDATE = [
    ((*ON_IRIS, "--rounds", "1000000000"), "5 1000000000 2.25 TB"),
    (("fedals.rounds_v1", *IRIS, "--local-steps", "3000000"), "960000000 3"),
    (("fedinit.theorem_1", "--dim", "30000"), "4 30000 86.4 GB"),
    (("fedinit.theorem_1", "--rounds", "1000000000"), "1000000000 176 GB"),
    (("fedals.one_round", "--clients", "30000000"), "20 30000000 4.8 GB"),
    (("fedals.one_round", "--seeds", "70000000"), "70000000 50 56 GB"),
]


def test_what_cannot_be_held_is_refused_with_an_estimate(small_machine, refused):
    all_refused(
        [(words, f"{found} 2 GB") for words, found in TRAIN.items()],
        lambda words: refused("train", *IRIS, *words.split()),
    )
    all_refused(VALIDATE, lambda words: refused("validate", *words))


def test_what_fits_is_not_refused_and_sizes_are_in_words(small_machine):
    refuse_beyond_memory(1.99e9, "this", "do less")
    all_refused([(lambda: refuse_beyond_memory(2.01e9, "this", "do less"), "this 2.01 2 GB less")])
    assert [byte_text(x) for x in (17, 1234, 5.67e7, 3.21e25)] == ["17 B", "1.23 kB", "56.7 MB", "3.21e+07 EB"]
