"""The verifier of rates: it needs nothing of the project, and refuses what was changed."""

import copy
import json
import math
import random
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from empirics.algorithms import algorithm
from paper_checks.rates.search import Case, certified
from paper_checks.worst_cases.certificates import verify

METHODS = (
    "fedavg()",
    "fedprox(mu=0.4)",
    "fedinit(beta=0.15)",
    "scaffold()",
    "fedavgm(momentum=0.3)",
    "fedcm(alpha=0.6)",
)

READ = ("change", "potential", "means", "apart", "multipliers")
"""Parts of a file beside the claim. A factor's scale and bits are not: what is left may be dominant without it, or at
another scale."""


@pytest.fixture(scope="module")
def proofs():
    return [certified(Case(algorithm(m), 3, 0.13, 1.7, 0.2)).fastest.proof for m in METHODS]


@pytest.fixture(scope="module")
def random_ones():
    """Rates of the mean: with noise of several clients, and with cohorts."""
    noisy = [Case(algorithm(m), 3, 0.13, 1.7, 0.2, 5, noisy=True) for m in (*METHODS[2:4], "fedavgm(momentum=0.3)")]
    cohorts = [Case(algorithm(m), 3, 0.13, 1.7, 0.2, 7, cohort=2) for m in (*METHODS[:2], *METHODS[4:])]
    return [certified(case).fastest.proof for case in (*noisy, *cohorts)]


def numbers(item, path=()):
    """Where a file says a number, as text or as a whole number."""
    if isinstance(item, dict):
        for key, value in item.items():
            yield from numbers(value, (*path, key))
    elif isinstance(item, list):
        for i, value in enumerate(item):
            yield from numbers(value, (*path, i))
    elif (isinstance(item, int) and not isinstance(item, bool)) or (
        isinstance(item, str) and path[-1] not in ("method", "statement") and "vectors" not in path
    ):
        yield path


def changed(proof, path, how):
    other = copy.deepcopy(proof)
    at = other
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = how(at[path[-1]])
    other["statement"] = verify.said(other)
    return other


def refused(proof):
    try:
        verify.check(proof)
    except (verify.Refused, ArithmeticError, LookupError, TypeError, ValueError):
        return True
    return False


def test_what_was_proved_is_accepted(proofs):
    for proof in proofs:
        verify.check(json.loads(json.dumps(proof)))


@pytest.mark.parametrize("forged", [math.inf, 1e308, 2.5, True, "3"])
def test_a_factor_is_of_whole_numbers(forged, proofs):
    for proof in proofs:
        for block in ("blocks", "above_distance"):
            other = copy.deepcopy(proof)
            held = other[block][0] if block == "blocks" else other[block]
            if not held["scale"]:
                continue
            held["scale"] = [forged] * len(held["scale"])
            with pytest.raises(verify.Refused, match="not of integers"):
                verify.check(json.loads(json.dumps(other)))


def test_numbers_are_said_rounded_up():
    for text in ("1.000004", "0.1200034", "3.000004", "9.999996", "0.904381", "7"):
        shown = Fraction(verify.rounded(text, 6))
        assert Fraction(text) <= shown <= Fraction(text) * (1 + Fraction(1, 10**5))
    assert verify.rounded("0.904381", 6) == "0.904381"


def test_every_smaller_claim_is_refused(proofs):
    for proof in proofs:
        for word in ("contraction", "start_distance", "floor", "start_dissimilarity"):
            if Fraction(proof["claim"][word]):
                assert refused(changed(proof, ("claim", word), lambda x: str(Fraction(x) * Fraction(98, 100)))), word
        for word in ("step_size", "smoothness", "local_steps"):
            assert refused(
                changed(proof, ("claim", word), lambda x: x + 1 if isinstance(x, int) else str(2 * Fraction(x)))
            )
        assert refused(changed(proof, ("claim", "strong_convexity"), lambda x: str(Fraction(x) / 2)))


def test_rates_of_the_mean_are_proved_and_smaller_claims_refused(random_ones):
    for proof in random_ones:
        verify.check(json.loads(json.dumps(proof)))
        assert verify.said(proof).startswith("E|w_T - w*|^2 <= ")
        noisy = proof["claim"]["noise_floor"] is not None
        for word in ("contraction", "floor", "noise_floor" if noisy else "start_distance"):
            if Fraction(proof["claim"][word]):
                assert refused(changed(proof, ("claim", word), lambda x: str(Fraction(x) * Fraction(98, 100)))), word
        # fewer clients share the noise, or stand for all: more is left than is said
        assert refused(changed(proof, ("claim", "clients" if noisy else "cohort"), lambda x: x - 1))
        assert refused(changed(proof, ("claim", "clients"), lambda x: None))


def test_what_noise_goes_along_with_is_refused(random_ones):
    for proof in (p for p in random_ones if p["noises"][0]):
        for later, noise in (("v2", "n1"), ("v3", "n2"), ("v4", "n1"), ("n2", "n2"), ("v1", "v1"), ("v1", "n7")):
            other = copy.deepcopy(proof)
            other["unheard"][0].append([later, noise, "0"])
            assert refused(other), (later, noise)
        assert refused(changed(proof, ("noises", 0, 1), lambda x: str(Fraction(x) / -2)))
        assert refused(changed(proof, ("noises", 1, 0), lambda x: str(Fraction(x) * Fraction(9, 10))))


def test_of_many_tampered_files_none_is_taken_for_the_old_claim(proofs):
    draws = random.Random(4)
    tried, passed = 0, []
    for proof in proofs:
        places = [p for p in numbers(proof) if p[0] in READ or (p[0] == "blocks" and "factor" in p)]
        for path in draws.sample(places, 12):
            other = changed(
                proof, path, lambda x: x * 2 + 1 if isinstance(x, int) else str(Fraction(x) * Fraction(-7, 5))
            )
            tried += 1
            if not refused(other):
                passed.append(path)
    assert tried >= 50
    assert not passed


@pytest.mark.parametrize("path", [("claim", "method"), ("statement",), ("rest",)])
def test_other_words_are_refused(proofs, path):
    other = copy.deepcopy(proofs[0])
    at = other
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = {"method": "scaffold", "statement": "at once", "rest": 7}[path[-1]]
    assert refused(other)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("claim", "step_size"), 0.13), (("claim", "smoothness"), "17e-1"), (("claim", "floor"), "1_0"),
        (("claim", "start_distance"), True), (("claim", "strong_convexity"), " 1/5\n"), (("potential",), 2.5),
        (("claim", "local_steps"), True), (("claim", "local_steps"), 10**12), (("rest",), 1.0), (("rest",), 0),
        (("change",), "1e999999999"), (("blocks", 0, "bits"), 10**15), (("blocks", 0, "scale", 0), -(10**15)),
        (("claim", "method"), "\nfedavg.json: proved: all"), (("claim", "method"), "\ud800"),
    ],
)  # fmt: skip
def test_numbers_are_fractions_as_they_are_printed_and_refusals_one_line(proofs, tmp_path, capsys, path, value):
    """A float is printed as another number than it is; huge ones would take for ever."""
    other = copy.deepcopy(proofs[1])
    at = other
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with suppress(ArithmeticError, LookupError, TypeError, ValueError):
        if "e99" not in str(value):
            other["statement"] = verify.said(other)
    file = tmp_path / "other.json"
    file.write_text(json.dumps(other))
    assert verify.main([str(file)]) == 1
    lines = capsys.readouterr().out
    assert lines.startswith(f"{file}: REFUSED: ")
    assert lines.count("\n") == 1
    assert lines.isascii()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"kind":', '{"claim":{"method":"fedavg"},"kind":'),
        ('"contraction":', '"contraction":"1/3","contraction":'),
        ('"change":', '"holds_for":"noise","change":'),
        ('"method":', '"weights":"unequal","method":'),
        ('"bits":', '"for":NaN,"bits":'),
        ('"means":', '"means":NaN,"means":'),
        ('"kind":"rate",', ""),
        ('"kind":"rate",', '"kind":"worst case",'),
    ],
)
def test_a_name_that_comes_twice_or_is_not_read_is_refused(proofs, tmp_path, capsys, old, new):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    text = json.dumps(proofs[3], separators=(",", ":"))
    good.write_text(text)
    assert old in text
    bad.write_text(text.replace(old, new, 1))
    assert verify.main([str(good), str(bad)]) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{good}: proved: ")
    assert second.startswith(f"{bad}: REFUSED: ")
    assert last.startswith("2 proofs, 1 accepted, ")


@pytest.mark.parametrize(
    ("word", "value"),
    [("cohort", 9), ("cohort", 0), ("clients", 0), ("clients", 2), ("noise_floor", "-1/3"), ("floor", "-1/100"),
     ("strong_convexity", "-1/5"), ("strong_convexity", "9/5"), ("start_dissimilarity", "-1"), ("local_steps", 201),
     ("step_size", ["13/100"] * 3)],
)  # fmt: skip
def test_claims_of_no_federation_are_refused(random_ones, word, value):
    drawn = next(p for p in random_ones if p["claim"]["cohort"] == 2)
    other = {**drawn, "claim": {**drawn["claim"], word: value}}
    with suppress(TypeError, ValueError):
        other["statement"] = verify.said(other)
    with pytest.raises(verify.Refused):
        verify.check(other)


@pytest.mark.parametrize("text", ["[" * 10**5, '{"a":' * 10**5, "", "NaN", "[]", '"claim"', "\ufeff{}"])
def test_what_is_no_proof_is_refused_in_one_line(tmp_path, capsys, text):
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    assert verify.main([str(file)]) == 1
    assert capsys.readouterr().out.count("\n") == 1


def test_the_file_alone_checks_proofs_from_the_shell(proofs, tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(proofs[3]))
    bad.write_text(json.dumps(changed(proofs[3], ("claim", "contraction"), lambda x: "5/6")))
    alone = tmp_path / "verify.py"
    alone.write_text(Path(verify.__file__).read_text())
    done = subprocess.run([sys.executable, "-I", alone, good, bad], capture_output=True, text=True)
    assert done.returncode == 1
    assert "good.json: proved: |w_T - w*|^2 <= " in done.stdout
    assert "bad.json: REFUSED: " in done.stdout
