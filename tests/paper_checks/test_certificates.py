"""Worst cases with proofs: accepted by the verifier alone, refused when anything is changed, equal to closed forms."""

import json
import lzma
import os
import subprocess
import sys
import tracemalloc
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bounds.core import Statistic
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import renamed
from empirics.training.setting import Setting
from paper_checks.worst_cases import central, worst_case, WorstCaseError
from paper_checks.worst_cases.central import followed
from paper_checks.worst_cases.certificates import verify
from paper_checks.worst_cases.certificates.certify import certify, ExactProgram
from paper_checks.worst_cases.certificates.definite import factored
from paper_checks.worst_cases.certificates.exact import fraction, played
from paper_checks.worst_cases.conditioning import normalised
from paper_checks.worst_cases.worst import Question

STRONG = {"smoothness": 1.7, "strong_convexity": 0.23, "initial_distance_sq": 2.3, "optimum_dissimilarity": 0.7}
CONVEX = {**STRONG, "strong_convexity": 0.0}
SMOOTH = {"smoothness": 1.7, "initial_gap": 1.3, "dissimilarity_offset": 0.4, "dissimilarity_factor": 1.6}
GAMMA = {"smoothness": 1.7, "strong_convexity": 0.23, "initial_distance_sq": 2.3, "heterogeneity": 0.4}
FEDINIT, FEDPROX = "fedinit(beta=0.2)", "fedprox(mu=0.3)"


def plan(rounds=2, steps=2, size=0.13):
    return Setting(rounds=rounds, cohort=2, local_steps=steps, step_size=size)


def proved(method="fedavg()", given=STRONG, metric="optimality_gap", kind="last", over="rounds", **more):
    worst = worst_case(method, plan(**more), given, metric, Statistic(kind, over))
    return worst, worst.certificate()


CASES = {
    "fedavg, gap": ("fedavg()", STRONG, "optimality_gap", "last", "rounds"),
    "scaffold, distance": ("scaffold()", STRONG, "distance_sq", "last", "rounds"),
    "fedprox, gradient": (FEDPROX, STRONG, "grad_norm_sq", "last", "rounds"),
    "fedinit, least gap": (FEDINIT, CONVEX, "optimality_gap", "min", "rounds"),
    "smooth, least gradient": ("fedavg()", SMOOTH, "grad_norm_sq", "min", "rounds"),
    "smooth, mean gradient over iterations": ("fedavg()", SMOOTH, "grad_norm_sq", "mean", "iterations"),
    "capped gradients": ("fedavg()", {**SMOOTH, "grad_cap_sq": 2.1}, "grad_norm_sq", "min", "iterations"),
    "Polyak": ("fedavg()", {**SMOOTH, "pl_constant": 0.3}, "optimality_gap", "last", "rounds"),
    "own minima": ("fedavg()", GAMMA, "distance_sq", "last", "iterations"),
    "divergence": (FEDINIT, SMOOTH, "divergence", "last", "rounds"),
    "change of the loss": ("fedavg()", SMOOTH, "loss_change", "last", "rounds"),
    "the server's step": ("scaffold()", STRONG, "global_step", "last", "rounds"),
    "drift of a round": (FEDPROX, STRONG, "local_drift", "mean", "rounds"),
    "mean divergence": (FEDINIT, SMOOTH, "divergence", "mean", "rounds"),
    "drift of gradients": ("fedavg()", SMOOTH, "mean_gradient_drift", "last", "rounds"),
    "weighted gradients": ("fedavg()", SMOOTH, "weighted_grad_norm_sq", "mean", "iterations"),
    "consensus": ("fedavg()", STRONG, "consensus_distance", "mean", "rounds"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_worst_case_is_proved_to_a_millionth(name):
    worst, found = proved(*CASES[name])
    verify.check(found.content)
    assert -1e-6 < found.excess < 2e-6
    assert float(Fraction(found.content["bound"])) == pytest.approx(worst.value, rel=2e-6)
    assert found.attained is not None
    assert 0 <= found.width < 1e-7
    assert float(found.attained) == pytest.approx(worst.value, rel=5e-6)


@pytest.mark.parametrize("gap", [0.3, 2e-4])
@pytest.mark.parametrize("name", ["fedprox, gradient", "fedinit, least gap"])
def test_multipliers_prove_long_before_the_end_of_the_path(name, gap):
    method, given, metric, kind, over = CASES[name]
    worst = worst_case(method, plan(), given, metric, Statistic(kind, over))
    question = worst.question
    exact = ExactProgram(question, played(question.method, question.recorded, (2, 2)))
    path = followed(exact.floats, gap)
    found = exact.proved(worst.value, path.solved)
    verify.check(found.content)
    assert worst.value * (1 - 1e-6) < float(found.bound) < worst.value * (1 + gap)
    assert float(found.bound) > worst.value * (1 + gap / 1000)
    for x in (path.inside, path.near):  # two federations of the class, with room to spare
        assert all(c.row @ x < c.limit for c in exact.floats.constraints)
        assert min(np.linalg.eigvalsh(gram)[0] for gram in replace(path.solved, x=x).grams) > 0
        assert min(goal @ x for goal in exact.floats.objectives) < worst.value


def test_multipliers_that_must_grow_a_thousandfold_are_reached_carefully():
    given = {"smoothness": 1.7, "initial_gap": 2.3, "grad_cap_sq": 5.2}
    worst = worst_case("fedavg()", plan(3, 2, 0.53), given, "grad_norm_sq", Statistic("mean", "iterations"))
    path = central._Path(*normalised(worst.program))
    with pytest.raises(WorstCaseError, match="did not come inside the dual"):  # steps too short to get anywhere
        path.follow(3e-8)
    found = path.follow(3e-8, carefully=True).solved
    assert found.dual_value == pytest.approx(worst.value, rel=1e-7)
    exact = ExactProgram(worst.question, played(worst.question.method, worst.question.recorded, (2, 2, 2)))
    verify.check(exact.proved(worst.value, followed(exact.floats, 3e-8).solved).content)


def test_gradient_descent_is_proved_at_its_closed_form():
    # Drori and Teboulle 2014, Theorem 3.1: R steps of 1/L end at most L D^2 / (4 R + 2) above the minimum.
    _, found = proved(given=CONVEX, rounds=3, steps=1, size=1 / 1.7)
    exact = Fraction(17, 10) * Fraction(23, 10) / 14
    assert exact <= found.bound < exact * (1 + Fraction(1, 10**6))
    assert exact * (1 - Fraction(1, 10**6)) < found.attained <= exact


def test_models_that_rounding_tells_apart_are_one_in_a_proof():
    """The average of five relaxed starts is the server model, but for the last bit."""
    setting = Setting(rounds=2, cohort=5, local_steps=2, step_size=0.03)
    worst = worst_case("fedinit(beta=0.1)", setting, STRONG, "grad_norm_sq", Statistic("mean", "iterations"))
    assert worst.certificate().width < 1e-5


def test_steps_of_a_ten_thousandth_are_proved():
    _, found = proved("scaffold()", size=1e-4)
    assert found.excess < 1e-5


@pytest.mark.parametrize("method", ["fedavg()", "scaffold()"])
def test_every_iteration_may_have_a_step_size_of_its_own(method):
    setting = Setting(rounds=2, cohort=2, local_steps=2, step_size=0.21, step_offset=3.0)
    worst = worst_case(method, setting, STRONG, "distance_sq")
    found = worst.certificate()
    assert [float(Fraction(x)) for x in found.content["claim"]["step_size"]] == pytest.approx(
        [0.21 * 3 / (3 + t) for t in range(4)]
    )
    assert -1e-6 < found.excess < 2e-6
    assert found.width < 5e-6
    content = deepcopy(found.content)
    sizes = content["claim"]["step_size"]
    sizes[1], sizes[2] = sizes[2], sizes[1]
    with pytest.raises(verify.Refused):
        verify.check(content)


def test_two_clients_in_plain_numbers_attain_the_lower_end():
    """FedAvg by hand on the vectors of the file: the clients' models, and the class's inequalities in floats."""
    _, found = proved(given=STRONG, metric="distance_sq")
    held, change, L, mu = found.content["attained"], float(Fraction(found.content["change"])), 1.7, 0.23
    dims = held["dimensions"]

    def vector(name, sign):
        parts = [
            np.array((*row, *[0] * (d - len(row))), dtype=float)
            for row, d in zip(held["vectors"][name], dims, strict=False)
        ]
        return np.concatenate([parts[0], sign * parts[1]]) * 2.0 ** -held["bits"]

    def gradient(j, sign):
        return vector("g1", sign) + change * sum((vector(f"g{i}", sign) for i in range(2, j + 1)), np.zeros(sum(dims)))

    w, known = vector("start", 1), {1: [], -1: []}
    for r in range(2):
        ends = []
        for sign in (1, -1):
            x = w
            for j in (2 * r + 1, 2 * r + 2):
                known[sign].append((x, gradient(j, sign), float(Fraction(held["values"][f"g{j}"]))))
                x = x - 0.13 * gradient(j, sign)
            ends.append(x)
        w = np.mean(ends, axis=0)
    assert w @ w == pytest.approx(float(found.attained), rel=1e-9)
    for sign, places in known.items():
        places.append((np.zeros(sum(dims)), vector("*", sign), 0.0))
        for x, g, f in places:
            for y, h, e in places:
                bent = g - h - mu * (x - y)
                least = e + h @ (x - y) + mu / 2 * (x - y) @ (x - y) + bent @ bent / (2 * (L - mu))
                assert f >= least - 1e-12
    assert vector("*", 1) @ vector("*", 1) <= 0.7


def test_the_verifier_needs_nothing_but_python(tmp_path):
    _, found = proved()
    found.write(tmp_path / "good.json")
    content = deepcopy(found.content)
    content["bound"] = str(Fraction(content["bound"]) * Fraction(999, 1000))
    (tmp_path / "bad.json").write_text(json.dumps(content), encoding="utf-8")
    alone = tmp_path / "verify.py"
    alone.write_bytes(Path(verify.__file__).read_bytes())
    files = ["good.json", "bad.json", "none.json"]
    ran = subprocess.run(
        [sys.executable, "-I", "verify.py", *files], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    good, bad, none, last = ran.stdout.splitlines()
    assert ran.returncode == 1
    assert good.startswith("good.json: proved: optimality_gap (last over rounds) <= ")
    assert bad.startswith("bad.json: REFUSED: the multipliers prove ")
    assert none.startswith("none.json: REFUSED: ")
    assert last.startswith("3 proofs, 1 accepted, ")


# ---- what is changed is refused ----


def numbers(content):
    """Every place of a number in a certificate, as a path of keys."""
    claim = content["claim"]
    yield from (("claim", word) for word in ("parameter", "step_size", "smoothness", "strong_convexity"))
    yield from (("claim", "given", word) for word in claim["given"])
    yield from (("weights", i) for i in content["weights"])
    yield from (("multipliers", i, -1) for i in range(len(content["multipliers"])))
    for b, block in enumerate(content["blocks"]):
        yield from (("blocks", b, "factor", i, i) for i in range(len(block["factor"])))


def changed(content, path, by):
    found = deepcopy(content)
    *way, last = path
    inner = found
    for key in way:
        inner = inner[key]
    old = inner[last]
    inner[last] = int(by(old)) if isinstance(old, int) else str(by(Fraction(old)))
    return found


@pytest.fixture(scope="module")
def planted():
    """More than a hundred certificates with one thing changed, each of which makes the claim stronger or breaks it."""
    _, found = proved(FEDINIT, SMOOTH, "grad_norm_sq", "min")
    _, other = proved("scaffold()", STRONG)
    made = []
    for content in (found.content, other.content):
        for path in numbers(content):
            of_none = content["claim"]["strong_convexity"] is None and path[1] == "strong_convexity"
            if path[0] == "claim" and (content["claim"][path[1]] == "0" or of_none):
                continue  # it has none
            weaker = path[:2] == ("claim", "strong_convexity")
            if path[0] == "blocks":
                made.append((path, changed(content, path, lambda x: 3 * x + 2**40)))
            elif weaker:
                made.append((path, changed(content, path, lambda x: x * Fraction(9, 10))))
            else:
                made.append((path, changed(content, path, lambda x: x * Fraction(1001, 1000))))
        sizes = [Fraction(m[-1]) for m in content["multipliers"]]
        for i in (i for i, m in enumerate(sizes) if m > max(sizes) / 1000):  # smaller ones may hardly be needed
            rest = content["multipliers"][:i] + content["multipliers"][i + 1 :]
            made.append((("without", i), {**content, "multipliers": rest}))
        made.append((("more steps",), {**content, "claim": {**content["claim"], "local_steps": [2, 3]}}))
        made.append((("fedavg",), {**content, "claim": {**content["claim"], "method": "fedavg", "parameter": "0"}}))
        made.append((("negative",), changed(content, ("multipliers", 0, -1), lambda x: -x)))
        made.append((("block",), {**content, "blocks": content["blocks"][::-1]}))
    return made


def test_a_hundred_changes_are_refused(planted):
    assert len(planted) > 100
    passed = []
    for path, content in planted:
        try:
            verify.check(content)
        except (verify.Refused, ArithmeticError, LookupError, TypeError, ValueError):
            continue
        passed.append(path)
    assert passed == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda c: c.update(change="0"), "do not change"),
        (lambda c: c["blocks"][0].update(scale=[float("inf")] * len(c["blocks"][0]["scale"])), "not of integers"),
        (lambda c: c["blocks"][1].update(scale=[1e308] * len(c["blocks"][1]["scale"])), "not of integers"),
        (lambda c: c["blocks"][0].update(bits=-1), "not of integers"),
        (lambda c: c["claim"]["given"].update(gradient_variance="9"), "not read: gradient_variance"),
        (lambda c: c["claim"].update(over="every noisy round"), "over rounds or iterations"),
        (lambda c: c["claim"].update(local_steps=[2, -1]), "local steps"),
        (lambda c: c["claim"].update(local_steps=[10**9]), "local steps of a round"),
        (lambda c: c["attained"].update(dimensions=[10**9, 1]), "dimensions: a whole number"),
        (lambda c: c["claim"].update(local_steps=[]), "rounds: a whole number from 1"),
        (lambda c: c["claim"].update(step_size={"13/100": 1}), "those of all local steps are a list"),
        (lambda c: c["claim"].update(clients="some are drawn"), "not read: clients"),
        (lambda c: c["claim"].pop("over"), "over.*each of them"),
        (lambda c: c.update(holds_for="noisy gradients"), "not read: holds_for"),
        (lambda c: c["claim"].update(parameter="1/2"), "scaffold has no parameter 1/2"),
        (lambda c: c["claim"].update(method="fedprox", parameter="-1/2"), "fedprox has no parameter -1/2"),
        (lambda c: c["claim"].update(smoothness=1.7), "a number is a whole one or a text such as 3/10; got 1.7"),
        (lambda c: c["claim"].update(smoothness=True), "or a text such as 3/10; got True"),
        (lambda c: c["claim"].update(smoothness="1e9999"), "or a text such as 3/10; got '1e9999'"),
        (lambda c: c["claim"].update(smoothness="1.7\n"), "or a text such as 3/10"),
        (lambda c: c["blocks"][0].update(bits=10**12), "at most 10000 binary digits"),
        (lambda c: c["blocks"][0].update(scale=[-(10**12)] * len(c["blocks"][0]["scale"])), "at most 10000 binary"),
        (lambda c: c["attained"].update(bits=10**12), "a whole number from 0 to 10000"),
        (lambda c: c["attained"].update(bits=-3), "a whole number from 0 to 10000"),
        (lambda c: c["claim"].update(metric="local_drift", over="iterations"), "local_drift is over rounds"),
        (lambda c: c["claim"].update(metric="consensus_distance"), "consensus_distance is over iterations"),
    ],
)
def test_a_forgery_by_what_no_one_reads_is_refused(change, why):
    _, found = proved("scaffold()", STRONG)
    content = deepcopy(found.content)
    change(content)
    with pytest.raises(verify.Refused, match=why):
        verify.check(json.loads(json.dumps(content)))


@pytest.mark.parametrize("word", ["distance_sq", "initial_distance_sq", "optimum_dissimilarity", "heterogeneity"])
def test_smooth_clients_have_no_minimiser_to_speak_of(word):
    """A step of 2/L on w^2/2 from 1 ends at -1, where the distance is 1: the first gradient is 1 and not 1/2."""
    claim = {
        "method": "fedavg", "parameter": "0", "local_steps": [2], "step_size": "2", "smoothness": "1",
        "strong_convexity": None, "given": {word: "1"}, "metric": "grad_norm_sq", "statistic": "min", "over": "rounds",
    }  # fmt: skip
    nothing = {"vectors": [], "bits": 1, "scale": [], "factor": []}
    forged = {
        "claim": claim, "bound": "1/4", "change": "1", "near": {}, "weights": {"0": "1"}, "unit": "1",
        "multipliers": [[word, "1/4"]], "blocks": [nothing, nothing],
    }  # fmt: skip
    with pytest.raises(verify.Refused, match=f"there is no minimiser for {word} to speak of"):
        verify.check(forged)


def test_what_is_said_names_every_step_size():
    worst = worst_case("fedavg()", plan(1, 3), STRONG, "distance_sq", step_sizes=(0.2, 0.7, 0.2))
    assert "steps of 1/5, 7/10, 1/5 by fedavg, any number of" in worst.certificate().statement


def test_what_is_said_names_when_an_assumption_holds():
    given = {"smoothness": 1.7, "strong_convexity": 0.23, "distance_sq": 2.3, "heterogeneity": 0.4}
    worst = worst_case("fedavg()", plan(1, 2), given, "distance_sq", Statistic("last", "iterations"))
    said = worst.certificate().statement
    assert "clients of the same weight that all take part, distance_sq 23/10 before the last local step, het" in said


TORN = {
    "deep.json": "[" * 100_000,
    "twice.json": '{"bound": "1", "bound": "2"}',
    "float.json": '{"bound": 0.1}',
    "infinite.json": '{"bound": Infinity}',
    "list.json": "[]",
    "null.json": "null",
    "two lines.json": '{"claim\\nother.json: proved: all": 1}',
    "letters.json": '{"\\ud800": 1}',
    "empty.json": "",
}


def test_a_file_that_is_no_certificate_is_one_line(tmp_path):
    for name, text in TORN.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    alone = [sys.executable, "-I", verify.__file__]
    ran = subprocess.run([*alone, *TORN], cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = ran.stdout.splitlines()
    assert (ran.returncode, ran.stderr) == (1, "")
    assert [line.partition(": REFUSED: ")[0] for line in lines[:-1]] == list(TORN)
    assert "twice.json: REFUSED: an object has a name twice" in lines
    assert "float.json: REFUSED: 0.1 is a float: write it as text" in lines
    nothing = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert (nothing.returncode, nothing.stdout) == (1, "REFUSED: no files: python verify.py FILE ...\n")


@pytest.mark.parametrize("word", ["initial_gap", "dissimilarity_offset"])
def test_a_proof_from_premises_that_no_federation_meets_is_refused(word):
    """The multipliers prove the negative bound of a squared gradient: from a negative gap anything follows."""
    _, found = proved("fedavg()", SMOOTH, "grad_norm_sq", "min")
    content = deepcopy(found.content)
    unit, fell = Fraction(content["unit"]), Fraction(0)
    for kind, *_, said in content["multipliers"]:
        if kind == word:
            multiplier = said * unit if isinstance(said, int) else Fraction(said)
            fell += multiplier * (Fraction(content["claim"]["given"][word]) + 10**6)
    content["claim"]["given"][word] = "-1000000"
    content["bound"] = str(Fraction(content["bound"]) - fell)
    del content["attained"]
    assert Fraction(content["bound"]) < 0
    with pytest.raises(verify.Refused, match=word):
        verify.check(content)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["claim"]["given"].update(dissimilarity_factor="1/2"),
        lambda c: c["claim"]["given"].update(pl_constant="9/5"),
        lambda c: c["claim"].update(smoothness="-17/10"),
        lambda c: c.update(kind="rate"),
        lambda c: c.update(kind="proof"),
        lambda c: c["blocks"][0].update(note="1"),
        lambda c: c["blocks"][0]["vectors"].append("holds for noise"),
        lambda c: c["near"].update(noise="g1"),
        lambda c: c["attained"].update(noise="1"),
        lambda c: c["attained"]["values"].update(noise="1"),
        lambda c: c["attained"]["vectors"].update(noise=[[1], [1]]),
        lambda c: c.update(weights={"0" + w: x for w, x in c["weights"].items()}),
        lambda c: c["multipliers"].append(["initial_gap", "for noise", 0]),
        lambda c: c["claim"].update(step_size="1/" + "7" * 1100),
        lambda c: c["claim"].update(local_steps=[2] * 200),
        lambda c: c["blocks"].append(c["blocks"][0]),
    ],
)
def test_what_no_certificate_says_is_refused(change):
    _, found = proved("fedavg()", SMOOTH, "grad_norm_sq", "min")
    content = json.loads(json.dumps(found.content))
    verify.check({name: x for name, x in content.items() if name != "kind"})  # as before there were kinds
    change(content)
    with pytest.raises(verify.KNOWN):
        verify.check(content)


def test_an_archive_that_unpacks_to_more_than_the_limit_is_refused_before_it_is(tmp_path, capsys):
    """Of a gigabyte in 150 kB a sixteenth is unpacked."""
    bomb = tmp_path / "bomb.xz"
    packer, part = lzma.LZMACompressor(preset=0), bytes(2**24)
    bomb.write_bytes(b"".join(packer.compress(part) for _ in range(64)) + packer.flush())
    tracemalloc.start()
    assert verify.main([str(bomb)]) == 1
    assert tracemalloc.get_traced_memory()[1] < 4 * verify.MOST_BYTES
    tracemalloc.stop()
    assert "REFUSED: a file has at most 67108864 bytes" in capsys.readouterr().out


def test_a_file_that_is_too_large_is_refused(tmp_path, capsys):
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(2**40)  # a hole
    line = tmp_path / "line.xz"
    line.write_bytes(lzma.compress(b"[" + b" " * verify.MOST_OF_ONE + b"]"))
    assert verify.main([str(large), str(line)]) == 1
    assert capsys.readouterr().out.count("REFUSED: a ") == 2


def test_all_of_an_archive_is_read_or_none_of_it(tmp_path, capsys):
    """What xz joins (``cat a.xz b.xz``) has proofs behind the first stream; garbage there is not passed over either."""
    joined, torn, many = (tmp_path / name for name in ("joined.xz", "torn.xz", "many.xz"))
    joined.write_bytes(lzma.compress(b"{}\n") + lzma.compress(b"{}\n"))
    torn.write_bytes(lzma.compress(b"{}\n") + b"garbage")
    many.write_bytes(lzma.compress(b"\n" * (verify.MOST_PROOFS + 1)))
    os.mkfifo(tmp_path / "pipe")
    assert verify.main([str(joined), str(torn), str(many), str(tmp_path / "pipe")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert ["REFUSED" in line for line in lines[:4]] == [True] * 4
    assert "4 proofs, 0 accepted" in lines[4]


def test_numbers_of_local_steps_that_would_take_minutes_are_refused():
    size, parameter = f"1/{10**89 + 7}", f"1/{10**89 + 9}"
    with pytest.raises(verify.Refused, match="too long"):
        verify.step_sizes({"step_size": size, "parameter": parameter}, [100])
    assert len(verify.step_sizes({"step_size": "3/71", "parameter": "2/7"}, [40, 40])) == 80


def test_a_bound_too_large_to_be_said_is_refused(tmp_path, capsys):
    _, found = proved()
    path = tmp_path / "large.json"
    path.write_text(json.dumps({**found.content, "bound": str(10**400)}), encoding="utf-8")
    assert verify.main([str(path)]) == 1
    assert "large.json: REFUSED: " in capsys.readouterr().out


def test_an_empty_or_torn_archive_is_refused(tmp_path, capsys):
    empty, torn = tmp_path / "empty.xz", tmp_path / "torn.xz"
    empty.write_bytes(lzma.compress(b""))
    torn.write_bytes(lzma.compress(b"1234567890" * 999)[:-40])
    assert verify.main([str(empty), str(torn)]) == 1
    assert capsys.readouterr().out.count("REFUSED") == 2


@pytest.mark.parametrize("text", ["1.00000000041", "3.00000000041", "0.9999999999666", "1/3", "-2/7", "0"])
def test_what_is_said_is_rounded_to_the_side_that_stays_true(text):
    x = Fraction(text)
    low, high = (Fraction(verify.rounded(text, up=up)) for up in (False, True))
    assert low <= x <= high
    assert high - low <= abs(x) * Fraction(1, 10**8)


def test_a_federation_that_is_changed_is_refused():
    """It must be of the class, meet what is assumed and attain what is said: a change breaks one of them."""
    _, found = proved(FEDINIT, SMOOTH, "grad_norm_sq", "min")
    content, passed = found.content, []
    held = content["attained"]
    tries = [("value", lambda x: x * Fraction(1_000_001, 1_000_000))]
    for word, by in tries:
        passed.append((word, changed(content, ("attained", word), by)))
    for name in held["values"]:
        for factor in (Fraction(1001, 1000), Fraction(999, 1000)):
            passed.append((name, changed(content, ("attained", "values", name), lambda x, k=factor: x * k)))
    for name, parts in held["vectors"].items():
        for part, row in enumerate(parts):
            if row:
                place = ("attained", "vectors", name, part, int(np.argmax(np.abs(np.array(row, dtype=float)))))
                passed.append((place, changed(content, place, lambda x: 2 * x)))
    passed.append(("no floor", changed(content, ("attained", "values", "floor"), lambda x: x - 1)))
    assert len(passed) > 20
    verify.check(content)
    for _, other in passed:
        with pytest.raises(verify.Refused):
            verify.check(other)


# ---- its parts ----


def test_inequalities_are_summed_as_row_by_row():
    question = Question(algorithm(FEDINIT), plan(), STRONG, "optimality_gap")
    steps = tuple(path.shape[1] - 1 for path in question.recorded.path)
    program = ExactProgram(question, played(question.method, question.recorded, steps))
    f = program.formulation
    draws = np.random.default_rng(5)
    multipliers = np.full((len(f.evaluations),) * 2, Fraction(0), dtype=object)
    for (i, j), _ in program.pairs:
        multipliers[i, j] = Fraction(int(draws.integers(1, 50)), 7)
    rows = sum(multipliers[place] * c.row for (place, _), c in zip(program.pairs, f.interpolation(), strict=True))
    begin = 0
    for matrix in f.combined(multipliers):
        for j in range(len(matrix)):
            for i in range(j + 1):
                assert matrix[i, j] == rows[begin]
                begin += 1


@pytest.mark.parametrize(("typed", "meant"), [(0.1, (1, 10)), (1 / 3, (1, 3)), (1.25e-4, (1, 8000)), (7.0, (7, 1))])
def test_a_typed_number_is_the_short_fraction(typed, meant):
    assert fraction(typed) == Fraction(*meant)


def test_a_matrix_that_is_no_sum_of_squares_has_no_factor():
    matrix = np.array([[Fraction(2), Fraction(3)], [Fraction(3), Fraction(4)]], dtype=object)
    with pytest.raises(WorstCaseError, match="no sum of squares"):
        factored(matrix)


def test_a_method_without_a_listing_and_one_that_is_not_its_listing_are_refused():
    worst = worst_case("fedavgm(momentum=0.3)", plan(), STRONG, "optimality_gap")
    with pytest.raises(WorstCaseError, match="has no certificate"):
        worst.certificate()
    mislabelled = renamed(algorithm("scaffold()"), "fedavg()")
    question = Question(mislabelled, plan(), STRONG, "optimality_gap")
    with pytest.raises(WorstCaseError, match="other steps than its listing"):
        certify(question, 0.1)
