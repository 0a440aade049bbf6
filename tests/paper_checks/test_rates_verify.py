"""The verifier of rates: it needs nothing of the project, and refuses what was changed."""

import copy
import json
from fractions import Fraction

import pytest

from empirics.algorithms import algorithm
from paper_checks.worst_case import verify
from paper_checks.worst_case.rate_problem import RateProblem
from paper_checks.worst_case.rate_search import certify_rate

METHODS = (
    "fedavg()", "fedprox(mu=0.4)", "fedinit(beta=0.15)", "scaffold()", "fedavgm(momentum=0.3)", "fedcm(alpha=0.6)",
)  # fmt: skip


@pytest.fixture(scope="module")
def proofs():
    return [certify_rate(RateProblem(algorithm(m), 3, 0.13, 1.7, 0.2)).fastest.proof for m in METHODS]


@pytest.fixture(scope="module")
def random_ones():
    """Rates of the mean: with noise of several clients, and with cohorts."""
    noisy = [
        RateProblem(algorithm(m), 3, 0.13, 1.7, 0.2, 5, noisy=True) for m in (*METHODS[2:4], "fedavgm(momentum=0.3)")
    ]
    cohorts = [RateProblem(algorithm(m), 3, 0.13, 1.7, 0.2, 7, cohort=2) for m in METHODS]
    return [certify_rate(case).fastest.proof for case in (*noisy, *cohorts)]


def put(proof, path, value):
    """The file with another value there."""
    other = copy.deepcopy(proof)
    at = other
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value(at[path[-1]]) if callable(value) else value
    return other


def scaled(proof, word, factor):
    return put(proof, ("claim", word), lambda x: str(Fraction(x) * Fraction(factor)))


def refused(proof):
    try:
        verify.check(proof)
    except verify.INVALID_FILE:
        return True
    return False


def test_rates_are_accepted_and_every_smaller_claim_is_refused(proofs):
    for proof in proofs:
        verify.check(json.loads(json.dumps(proof)))
        for word in ("contraction", "start_distance", "floor", "start_dissimilarity"):
            assert not Fraction(proof["claim"][word]) or refused(scaled(proof, word, "98/100")), word
        for word, factor in (("step_size", 2), ("smoothness", 2), ("strong_convexity", "1/2")):
            assert refused(scaled(proof, word, factor)), word
        assert refused(put(proof, ("claim", "local_steps"), lambda x: x + 1))


def test_rates_of_the_mean_are_proved_and_smaller_claims_refused(random_ones):
    for proof in random_ones:
        verify.check(json.loads(json.dumps(proof)))
        assert verify.describe(proof).startswith("E|w_T - w*|^2 <= ")
        noisy = proof["claim"]["noise_floor"] is not None
        for word in ("contraction", "floor", "noise_floor" if noisy else "start_distance"):
            assert not Fraction(proof["claim"][word]) or refused(scaled(proof, word, "98/100")), word
        # fewer clients share the noise, or stand for all: more is left than is said
        assert refused(put(proof, ("claim", "clients" if noisy else "cohort"), lambda x: x - 1))
        assert refused(put(proof, ("claim", "clients"), None))


FORGED = [
    (("claim", "method"), "scaffold"),
    (("claim", "step_size"), 0.13), (("claim", "smoothness"), "17e-1"), (("claim", "floor"), "1_0"),
    (("claim", "start_distance"), True), (("claim", "strong_convexity"), " 1/5\n"), (("potential",), 2.5),
    (("claim", "local_steps"), True), (("claim", "local_steps"), 10**12),
    (("change",), "1e999999999"), (("blocks", 0, "bits"), 10**15), (("blocks", 0, "scale", 0), -(10**15)),
    (("claim", "method"), "\nfedavg.json: proved: all"), (("claim", "method"), "\ud800"),
]  # fmt: skip
NO_PROOFS = ["[" * 10**5, '{"a":' * 10**5, "", "NaN", "[]", '"claim"', "\ufeff{}", "null", '{"kind": Infinity}',
             '{"kind": "1", "kind": "2"}', '{"claim\\nother.json: proved: all": 1}', '{"\\ud800": 1}']  # fmt: skip
TWICE = [
    ('{"kind":', '{"claim":{"method":"fedavg"},"kind":'), ('"contraction":', '"contraction":"1/3","contraction":'),
    ('"change":', '"holds_for":"noise","change":'), ('"method":', '"weights":"unequal","method":'),
    ('"bits":', '"for":NaN,"bits":'), ('"means":', '"means":NaN,"means":'), ('"kind":"rate",', ""),
    ('"kind":"rate",', '"kind":"worst case",'),
]  # fmt: skip


def test_forged_files_are_refused_in_one_line(proofs, tmp_path, capsys):
    """A float is printed as another number than it is; huge ones would take for ever; names come once and are read."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    text = json.dumps(proofs[3], separators=(",", ":"))
    good.write_text(text)
    assert all(old in text for old, _ in TWICE)
    made = [json.dumps(put(proofs[1], *changed)) for changed in FORGED]
    for other in (*made, *NO_PROOFS, *(text.replace(old, new, 1) for old, new in TWICE)):
        bad.write_text(other, encoding="utf-8")
        assert verify.main([str(good), str(bad)]) == 1
        lines = capsys.readouterr().out
        first, second, last = lines.splitlines()
        assert first.startswith(f"{good}: proved: |w_T - w*|^2 <= ")
        assert second.startswith(f"{bad}: REFUSED: ")
        assert last.startswith("2 proofs, 1 accepted, ")
        assert lines.isascii()


def row(*more):
    return lambda rows: [*rows, list(more)]


OF_NOISE = [  # of a rate of the mean with noise: what is changed, and a word of the refusal
    (("kind",), "proof", "kind"), (("claim", "contraction"), "1", "between 0 and 1"), (("change",), "0", "change"),
    (("claim", "strong_convexity"), None, "minimiser"), (("claim", "strong_convexity"), "9/5", "no such functions"),
    (("claim", "step_size"), ["13/100"] * 3, "one step size"), (("claim", "floor"), "-1/100", "negative"),
    (("claim", "clients"), 0, "clients"), (("claim", "cohort"), 5, "take part"), (("claim", "clients"), None, "noise"),
    (("means",), [["1"]], "another size"), (("means", 0, 1), "9", "symmetric"),
    (("claim", "local_steps"), 201, "steps"),
    (("multipliers",), row(0, 1, "-1"), "multiplier"), (("multipliers",), row(0, 99, "1"), "no such point"),
    (("multipliers",), row(1, 0, "1"), "left over"), (("noise_weights", 0), lambda x: x[1:], "every step"),
    (("noise_weights", 1, 0), "-1/3", "weight"), (("noise_products", 0), row("v4", "n1", "0"), "independent"),
    (("noise_products", 0), row("n2", "n2", "0"), "independent"),
    (("noise_products", 0), row("v1", "n7", "0"), "independent"),
    (("claim", "noise_floor"), lambda x: str(Fraction(x) / 2), "noise leaves"),
    (("claim", "start_distance"), lambda x: str(Fraction(x) / 2), "start counts"),
    (("deviations_factor", "vectors"), ["v1"] * 501, "500"),
]  # fmt: skip
OF_COHORTS = [
    (("claim", "cohort"), 9, "cohort"), (("claim", "cohort"), 0, "cohort"),
    (("claim", "noise_floor"), "1/3", "take part"),
    (("potential",), "1/10", "not a point"), (("claim", "start_dissimilarity"), "-1", "negative"),
]  # fmt: skip
OF_ROUNDS = [
    ("rounds", -1, "rounds"), ("initial_distance_sq", "-1", "squared length"), ("bound", "1/9", "after these rounds"),
    ("gradient_variance", "1/50", "of noise"), ("until", 7, "until"),
]  # fmt: skip


def test_every_refusal_says_why(random_ones, proofs):
    noisy = next(p for p in random_ones if p["claim"]["method"] == "fedavgm" and p["noise_weights"][0])
    drawn = next(p for p in random_ones if p["claim"]["cohort"] == 2 and p["claim"]["method"] == "fedprox")
    later = {"rounds": 3, "initial_distance_sq": "1", "optimum_dissimilarity": "1", "gradient_variance": "0"}
    later = {**proofs[0], "after": {**later, "bound": "1000"}}
    verify.check(later)
    made = [(put(noisy, path, value), why) for path, value, why in OF_NOISE]
    made += [(put(drawn, path, value), why) for path, value, why in OF_COHORTS]
    made += [({**later, "after": {**later["after"], word: value}}, why) for word, value, why in OF_ROUNDS]
    made.append((put(proofs[3], ("claim", "start_dissimilarity"), "0"), "start_dissimilarity"))
    for proof, why in made:
        with pytest.raises(verify.Refused, match=why):
            verify.check(proof)
