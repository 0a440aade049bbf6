"""Worst cases with proofs: accepted by the verifier alone, refused when anything is changed, equal to closed forms."""

import json
import lzma
import re
import subprocess
import sys
import tracemalloc
from copy import deepcopy
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from statistics import median

import numpy as np
import pytest
from loops import cases

import fedbounds
from bounds.catalog import get
from bounds.core import Statistic
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import renamed
from empirics.exact.numbers import fraction
from empirics.training.setting import Setting
from paper_checks.worst_case import tightness_table as proofs, verify
from paper_checks.worst_case.certificate import certify, claim_of
from paper_checks.worst_case.exact import rounded, square_factor
from paper_checks.worst_case.grid_point import GridPoint, problem_at
from paper_checks.worst_case.interior_point import Path as CentralPath
from paper_checks.worst_case.problem import WorstCaseProblem
from paper_checks.worst_case.program import normalise, WorstCaseError
from paper_checks.worst_case.solve import worst_case
from paper_checks.worst_case.tightness_table import committed, FOLDER

STRONG = {"smoothness": 1.7, "strong_convexity": 0.23, "initial_distance_sq": 2.3, "optimum_dissimilarity": 0.7}
CONVEX = {**STRONG, "strong_convexity": 0.0}
SMOOTH = {"smoothness": 1.7, "initial_gap": 1.3, "dissimilarity_offset": 0.4, "dissimilarity_factor": 1.6}
FEDINIT = "fedinit(beta=0.2)"


def plan(rounds=2, steps=2, size=0.13):
    return Setting(rounds=rounds, cohort=2, local_steps=steps, step_size=size)


def proof(worst):
    return certify(worst.problem, worst.value)


@cache
def _proved(method, given, metric, kind, over, more):
    worst = worst_case(method, plan(**dict(more)), dict(given), metric, Statistic(kind, over))
    return worst, proof(worst)


def proved(method="fedavg()", given=STRONG, metric="optimality_gap", kind="last", over="rounds", **more):
    worst, found = _proved(method, tuple(given.items()), metric, kind, over, tuple(more.items()))
    return worst, deepcopy(found)


def test_multipliers_that_must_grow_a_thousandfold_are_reached_carefully():
    given = {"smoothness": 1.7, "initial_gap": 2.3, "grad_cap_sq": 5.2}
    worst = worst_case("fedavg()", plan(3, 2, 0.53), given, "grad_norm_sq", Statistic("mean", "iterations"))
    with pytest.raises(WorstCaseError, match="did not come inside the dual"):  # steps too short to get anywhere
        CentralPath(normalise(worst.program)[0]).follow(3e-8)
    assert float(proof(worst).bound) == pytest.approx(worst.value, rel=1e-6)


def test_gradient_descent_is_proved_at_its_closed_form():
    # Drori and Teboulle 2014, Theorem 3.1: R steps of 1/L end at most L D^2 / (4 R + 2) above the minimum.
    _, found = proved(given=CONVEX, rounds=3, steps=1, size=1 / 1.7)
    exact = Fraction(17, 10) * Fraction(23, 10) / 14
    assert exact <= found.bound < exact * (1 + Fraction(1, 10**6))
    assert exact * (1 - Fraction(1, 10**6)) < found.attained <= exact


def test_models_that_rounding_tells_apart_and_steps_of_a_ten_thousandth_are_proved():
    """The average of five relaxed starts is the server model, but for the last bit."""
    setting = Setting(rounds=2, cohort=5, local_steps=2, step_size=0.03)
    worst = worst_case("fedinit(beta=0.1)", setting, STRONG, "grad_norm_sq", Statistic("mean", "iterations"))
    assert proof(worst).width < 1e-5
    _, found = proved("scaffold()", size=1e-4)
    assert float(found.bound) == pytest.approx(found.value, rel=1e-5)


def test_the_verifier_needs_nothing_but_python(tmp_path):
    content = proved()[1].content
    smaller = {**content, "bound": str(Fraction(content["bound"]) * Fraction(999, 1000))}
    for name, text in {
        "good.json": content,
        "bad.json": smaller,
        "large.json": {**content, "bound": str(10**400)},
    }.items():
        (tmp_path / name).write_text(json.dumps(text), encoding="utf-8")
    (tmp_path / "verify.py").write_bytes(Path(verify.__file__).read_bytes())
    command = [sys.executable, "-I", "verify.py"]
    files = ["good.json", "bad.json", "large.json", "none.json"]
    ran = subprocess.run([*command, *files], cwd=tmp_path, capture_output=True, text=True, check=False)
    good, *bad, last = ran.stdout.splitlines()
    assert (ran.returncode, ran.stderr) == (1, "")
    assert good.startswith("good.json: proved: optimality_gap (last over rounds) <= ")
    assert [line.partition(": REFUSED: ")[0] for line in bad] == files[1:]
    assert last.startswith(f"{len(files)} proofs, 1 accepted, ")
    nothing = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (nothing.returncode, nothing.stdout.count("\n")) == (1, 1)


# ---- what is changed is refused ----


def changed(content, path, by):
    found = deepcopy(content)
    *way, last = path
    inner = found
    for key in way:
        inner = inner[key]
    old = inner[last]
    inner[last] = int(by(old)) if isinstance(old, int) else str(by(Fraction(old)))
    return found


def of(*path):
    """Change what lies there: entries of it, or what is to be done with it."""

    def change(content, **entries):
        for key in path:
            content = content[key]
        content.update(entries)

    return change


def used(*row, by="1/1000", **given):
    """One inequality more, and what it needs to be assumed."""

    def change(content):
        content["claim"]["given"].update(given)
        content["multipliers"].append([*row, by])

    return change


CLAIM, GIVEN, HELD, FIRST = of("claim"), of("claim", "given"), of("attained"), of("blocks", 0)
FORGED = [  # of a proof of SCAFFOLD: what is changed, and what the message must name
    (FIRST, {"bits": -1}, "integers"),
    *((lambda c, x=x: c["blocks"][0]["scale"].__setitem__(0, x), {}, "integers") for x in (1e308, 2.5, True, "3")),
    (GIVEN, {"gradient_variance": "9"}, "gradient_variance"),
    (CLAIM, {"over": "every noisy round"}, "rounds or iterations"),
    (CLAIM, {"local_steps": [2, -1]}, "local steps"),
    (HELD, {"dimensions": [10**9, 1]}, "dimensions"),
    (CLAIM, {"local_steps": []}, "rounds"),
    (CLAIM, {"step_size": {"13/100": 1}}, "list"),
    (CLAIM, {"step_size": "-13/100"}, "step size"),
    (CLAIM, {"step_size": ["13/100"] * 3}, "step size"),
    (CLAIM, {"method": "fedadam"}, "fedadam"),
    (CLAIM, {"statistic": "most"}, "most"),
    (CLAIM, {"strong_convexity": "9/5"}, "functions"),
    (GIVEN, {"pl_constant": "9/5"}, "Polyak"),
    (GIVEN, {"dissimilarity_factor": "2"}, "offset"),
    (CLAIM, {"clients": "some are drawn"}, "clients"),
    (lambda c: c["claim"].pop("over"), {}, "over"),
    (of(), {"holds_for": "noisy gradients"}, "holds_for"),
    (CLAIM, {"parameter": "1/2"}, "scaffold.*1/2"),
    (CLAIM, {"method": "fedprox", "parameter": "-1/2"}, "fedprox.*-1/2"),
    (CLAIM, {"smoothness": 1.7}, "1.7"),
    (HELD, {"bits": 10**12}, "10000"),
    (CLAIM, {"metric": "local_drift", "over": "iterations"}, "local_drift"),
    (CLAIM, {"metric": "consensus_distance"}, "consensus_distance"),
    (HELD, {"dimensions": [1]}, "means and of the deviations"),
    (of("attained", "vectors"), {"g1": [[1]]}, "two lists"),
    (lambda c: c["attained"]["values"].pop("g1"), {}, "no value at"),
    (of("attained", "values"), {"noise": "1"}, "more than the run"),
    (of("weights"), {"noise": "1"}, "metric has names"),
    (used("class", "g1"), {}, "another number"),
    (used("class", "g1", "g9"), {}, "not a model"),
    (used("class", "g1", "g2", by="-1/1000"), {}, "negative"),
    (used("class", "g1", "g2", by=str(Fraction(1, 10**12))), {}, "left over"),
    (used("dissimilarity_factor", "w0", dissimilarity_factor="2", dissimilarity_offset="1"), {}, "not an inequality"),
    (used("grad_cap_sq", "w1", grad_cap_sq="5"), {}, "capped"),  # clients' gradients at their local steps
    (used("dissimilarity_offset", "g2", dissimilarity_offset="1"), {}, "models of their own"),
    (used("lower", "w0"), {}, "minimiser"),
    (used("pl_constant", "w0"), {}, "assumed"),
    (lambda c: c["weights"].update(dict.fromkeys(c["weights"], "1/4")), {}, "average"),
    *((GIVEN, {word: "-1"}, f"{word} cannot be so small")
      for word in ("initial_gap", "dissimilarity_offset", "initial_distance_sq")),
    *((CLAIM, {"strong_convexity": None, "given": {word: "1"}}, f"{word}.*minimiser")
      for word in ("distance_sq", "initial_distance_sq", "optimum_dissimilarity", "heterogeneity")),
    (CLAIM, {"metric": "mean_gap"}, "whole run"),
    (CLAIM, {"metric": "accuracy"}, "accuracy"),
]  # fmt: skip


def test_forgeries_by_what_no_one_reads_are_refused():
    kept = proved("scaffold()")[1].content
    for change, entries, named in FORGED:
        content = deepcopy(kept)
        change(content, **entries)
        with pytest.raises(verify.Refused, match=named):
            verify.check(json.loads(json.dumps(content)))


def test_a_factor_is_of_all_vectors_of_its_matrix_once():
    block = {"vectors": ["a"], "scale": [0], "factor": [[0]], "bits": 0}
    matrix = {("a", "a"): Fraction(1)}
    verify.check_sum_of_squares(block, matrix)
    twice = {"vectors": ["a", "a"], "scale": [0, 0], "factor": [[0], [0, 0]]}
    for forged, other in (
        ({}, {("b", "b"): Fraction(-1)}),
        (twice, {}),
        ({"scale": [0, 0]}, {}),
        ({"factor": [[0, 0]]}, {}),
    ):
        with pytest.raises(verify.Refused):
            verify.check_sum_of_squares(block | forged, matrix | other)


def test_files_that_are_too_large_or_not_whole_are_refused(tmp_path, capsys):
    """Of 400 MB in 60 kB a sixth is unpacked; what xz joins (``cat a.xz b.xz``) is checked whole."""
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(2**40)  # a hole
    packer, part = lzma.LZMACompressor(preset=0), bytes(2**24)
    made = {
        "bomb.xz": b"".join(packer.compress(part) for _ in range(24)) + packer.flush(),
        "joined.xz": lzma.compress(b"{}\n") + lzma.compress(b"{}\n"),
        "empty.xz": lzma.compress(b""),
        "torn.xz": lzma.compress(b"1234567890" * 999)[:-40],
    }
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    tracemalloc.start()
    assert verify.main([str(tmp_path / name) for name in ("large.json", *made)]) == 1
    assert tracemalloc.get_traced_memory()[1] < 4 * verify.MAX_FILE_BYTES
    tracemalloc.stop()
    *lines, last = capsys.readouterr().out.splitlines()
    assert ["REFUSED" in line for line in lines] == [True] * 6
    assert str(verify.MAX_FILE_BYTES) in lines[1]
    assert last.startswith("6 proofs, 0 accepted")


def test_a_table_that_is_read_and_written_again_is_the_same_file(tmp_path):
    table, _ = proofs.write(committed("fedcog.theorem"), {}, "fedcog.theorem", tmp_path)
    assert table.read_bytes() == (FOLDER / table.name).read_bytes()


def test_what_is_said_is_rounded_to_the_side_that_stays_true():
    for x in map(Fraction, ("1.00000000041", "3.00000000041", "0.9999999999666", "1/3", "-2/7", "0")):
        low, high = (Fraction(verify.rounded(str(x), up=up)) for up in (False, True))
        assert low <= x <= high
        assert rounded(x, proofs.ROUND_FLOOR) <= x <= rounded(x, proofs.ROUND_CEILING)
        assert high - low <= abs(x) * Fraction(1, 10**8)


def test_a_federation_that_is_changed_is_refused():
    """It must be of the class, meet what is assumed and attain what is said: a change breaks one of them."""
    content = proved(FEDINIT, SMOOTH, "grad_norm_sq", "min")[1].content
    held, million = content["attained"], Fraction(1_000_001, 1_000_000)
    made = [changed(content, ("attained", "value"), lambda x: x * million)]
    made.append(changed(content, ("attained", "values", "floor"), lambda x: x - 1))
    for name, factor in product(held["values"], (Fraction(1001, 1000), Fraction(999, 1000))):
        made.append(changed(content, ("attained", "values", name), lambda x, k=factor: x * k))
    for name, parts in held["vectors"].items():
        for part, row in enumerate(parts):
            if row:
                place = ("attained", "vectors", name, part, int(np.argmax(np.abs(np.array(row, dtype=float)))))
                made.append(changed(content, place, lambda x: 2 * x))
    assert len(made) > 20
    made.append(content | {"claim": content["claim"] | {"statistic": "mean"}})  # the least value is not the mean
    verify.check(content)
    for other in made:
        with pytest.raises(verify.Refused):
            verify.check(other)


# ---- its parts ----


def test_a_typed_number_is_the_short_fraction_and_what_is_no_sum_of_squares_has_no_factor():
    typed = {0.1: (1, 10), 1 / 3: (1, 3), 1.25e-4: (1, 8000), 7.0: (7, 1)}
    assert [fraction(x) for x in typed] == [Fraction(*meant) for meant in typed.values()]
    matrix = {("a", "a"): Fraction(2), ("a", "b"): Fraction(3), ("b", "a"): Fraction(3), ("b", "b"): Fraction(4)}
    with pytest.raises(WorstCaseError):
        square_factor(matrix, "ab")


def test_a_method_without_a_listing_and_one_that_is_not_its_listing_are_refused():
    worst = worst_case("feddyn(alpha=0.3)", plan(), STRONG, "optimality_gap")
    with pytest.raises(WorstCaseError, match="feddyn"):
        proof(worst)
    mislabelled = renamed(algorithm("scaffold()"), "fedavg()")
    with pytest.raises(WorstCaseError, match="one_round"):
        certify(WorstCaseProblem(mislabelled, plan(), STRONG, "optimality_gap"), 0.1)


ROOT = Path(fedbounds.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.csv"))
ARCHIVES = sorted(FOLDER.glob(f"*{proofs.ARCHIVE}"))


@cache
def archived():
    """All proofs of the archives by name."""
    return {proofs.digest(content): content for path in ARCHIVES for content in verify.read(str(path))}


def same(claim, other):
    """Equal but for the last bits of its numbers, which a processor may compute otherwise."""
    if isinstance(claim, dict):
        return claim.keys() == other.keys() and all(same(claim[k], other[k]) for k in claim)
    if isinstance(claim, list):
        return len(claim) == len(other) and all(map(same, claim, other))
    if claim == other or claim is None or other is None:
        return claim == other
    try:
        return float(Fraction(claim)) == pytest.approx(float(Fraction(other)), rel=1e-12)
    except ValueError:  # a word
        return False


@cases("name", NAMES)
def test_every_row_says_what_is_proved_of_it(name):
    for number, row in enumerate(committed(name)):
        content = archived().get(row["proof"])
        if content is None:
            assert row["proof"] == proofs.NOT_YET or row["proof"].startswith("refused: ")
            assert all(row[column] != row[column] for column in ("proved", "excess", "attained", "width"))
            continue
        if number % 3 == len(name) % 3:  # what takes long of a third of them
            asked = problem_at(get(name), GridPoint.from_row(row))
            assert same(content["claim"], claim_of(asked)), row
        bound = Fraction(content["bound"])
        assert bound <= Fraction(row["proved"]) <= bound * (1 + Fraction(1, 10**8)) or bound == 0
        assert row["worst_case"] == pytest.approx(row["proved"], rel=2e-3, abs=1e-9)
        if "attained" in content:
            attained = Fraction(content["attained"]["value"])
            assert attained * (1 - Fraction(1, 10**8)) <= Fraction(row["attained"]) <= attained
            assert row["attained"] <= row["worst_case"] * (1 + 2e-4)
            assert row["proved"] >= row["worst_case"] * (1 - 2e-4)


def test_no_proof_lies_there_twice_or_for_nothing():
    read = [content for path in ARCHIVES for content in verify.read(str(path))]
    assert len(read) == len(archived())
    assert set(archived()) == {row["proof"] for name in NAMES for row in committed(name)} & set(archived())
    assert all(path.stat().st_size < 2**20 for path in ARCHIVES)


@pytest.mark.slow
def test_proofs_of_every_archive_are_accepted_by_the_verifier_alone(tmp_path):
    """A tenth of each archive by the command of `make proofs`, which verifies all; another tenth if it changes."""
    for path in ARCHIVES:
        archive = path.read_bytes()
        lines = lzma.decompress(archive).splitlines(keepends=True)
        drawn = Random(archive).sample(lines, -(-len(lines) // 10))
        (tmp_path / path.name).write_bytes(lzma.compress(b"".join(drawn)))
    files = sorted(map(str, tmp_path.iterdir()))
    many = sum(len(verify.read(file)) for file in files)
    command = [sys.executable, "-I", verify.__file__, *files]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = ran.stdout.splitlines()
    assert (ran.returncode, len(lines)) == (0, many + 1), [line for line in lines if "REFUSED" in line]
    assert lines[-1].startswith(f"{many} proofs, {many} accepted, ")


def test_the_page_shows_what_the_tables_say():
    page = (ROOT / "docs/how-to/proofs.md").read_text(encoding="utf-8")
    lines = [re.findall(r"[^|\s][^|]*[^|\s]|[^|\s]", line) for line in page.splitlines() if line.startswith("| `")]
    assert sorted(cells[0] for cells in lines) == sorted(2 * [f"`{name}`" for name in NAMES])
    for name in NAMES:
        rows = committed(name)
        proved = [row for row in rows if row["proved"] == row["proved"]]
        widths = sorted(row["width"] for row in proved if row["attained"] == row["attained"])
        refused = sum(row["proof"].startswith("refused") for row in rows)
        found = [len(rows), len(widths), len(proved) - len(widths), refused, len(rows) - len(proved) - refused]
        found += [median(widths), max(widths), max(row["excess"] for row in proved)]
        (whole, *_) = proofs.constants(get(name), rows)
        factors = ["-" if x != x else f"{x:.6g}" for x in (whole.not_below, whole.suffices)]
        assert [cells[1:] for cells in lines if cells[0] == f"`{name}`"] == [
            [f"{x:.1e}" if isinstance(x, float) else str(x) for x in found],
            [*factors, f"{whole.proved} of {whole.places}"],
        ]


def test_the_command_proves_the_places_that_patience_allows(tmp_path, run, capsys):
    words = ("--committed", "--certify", "--patience", "0.0003", "--workers", "0")
    status, _, err = run("tightness", "fedcog.theorem", *words, "--store", tmp_path / "s", "-o", tmp_path)
    assert (status, "not yet" in err) == (1, True)
    rows = committed("fedcog.theorem", tmp_path)
    least = [row for row in rows if row["rounds"] * row["local_steps"] == 1]
    assert [row["proof"] == proofs.NOT_YET for row in rows] == [row not in least for row in rows]
    path = proofs.archive("fedcog.theorem", tmp_path)
    assert len(verify.read(str(path))) == len(least) == 4
    assert verify.main([str(path)]) == 0
    assert capsys.readouterr().out.count(f"{path}:") == 4
    assert proofs.add_proofs(verify.read(str(path))[:3], "another", tmp_path) is None
    assert not proofs.archive("another", tmp_path).exists()
    assert proofs.add_proofs(verify.read(str(path))[:1], "fedcog.theorem", tmp_path) == path
    assert len(verify.read(str(path))) == 4, "proofs that are there stay"


def test_archives_of_somebody_else_are_refused_before_the_work_and_stay(tmp_path, refused, monkeypatch):
    monkeypatch.setattr("paper_checks.worst_case.tightness._prove", lambda *_: pytest.fail("worked"))
    contents = (b"mine", lzma.compress(b"mine\n"), None)
    for i, (name, content) in enumerate(product(("fedcog.theorem.proofs.xz", "other.proofs.xz"), contents)):
        theirs = tmp_path / str(i) / name
        theirs.parent.mkdir()
        theirs.mkdir() if content is None else theirs.write_bytes(content)
        words = ("fedcog.theorem", "--committed", "--certify", "--store", tmp_path / "s", "-o", theirs.parent)
        assert name in refused("tightness", *words)
        assert theirs.is_dir() if content is None else theirs.read_bytes() == content
