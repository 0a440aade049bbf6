"""Proofs of the committed tables: none is missing, none says more than its row, and the verifier accepts them."""

import lzma
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import fedbounds
from bounds.catalog import get
from paper_checks.worst_cases import proofs
from paper_checks.worst_cases.certificates import verify
from paper_checks.worst_cases.certificates.certify import claimed, played
from paper_checks.worst_cases.places import Place, question
from paper_checks.worst_cases.tables import committed, FOLDER

ROOT = Path(fedbounds.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.csv"))
ARCHIVES = sorted(FOLDER.glob(f"*{proofs.ARCHIVE}"))


@pytest.fixture(scope="module")
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


@pytest.mark.parametrize("name", NAMES)
def test_every_row_says_what_is_proved_of_it(name, archived):
    for row in committed(name):
        content = archived.get(row["proof"])
        if content is None:
            assert row["proof"] == proofs.NOT_YET or row["proof"].startswith("refused: ")
            assert all(row[column] != row[column] for column in ("proved", "excess", "attained", "width"))
            continue
        asked = question(get(name), Place.of_row(row))
        run = played(asked.method, asked.recorded, tuple(path.shape[1] - 1 for path in asked.recorded.path))
        assert same(content["claim"], claimed(asked, run)), row
        bound = Fraction(content["bound"])
        assert bound <= Fraction(row["proved"]) <= bound * (1 + Fraction(1, 10**8)) or bound == 0
        assert row["worst_case"] == pytest.approx(row["proved"], rel=2e-3, abs=1e-9)
        if "attained" in content:
            attained = Fraction(content["attained"]["value"])
            assert attained * (1 - Fraction(1, 10**8)) <= Fraction(row["attained"]) <= attained
            assert row["attained"] <= row["worst_case"] * (1 + 2e-4)
            assert row["proved"] >= row["worst_case"] * (1 - 2e-4)


def test_no_proof_lies_there_twice_or_for_nothing(archived):
    read = [content for path in ARCHIVES for content in verify.read(str(path))]
    assert len(read) == len(archived)
    assert set(archived) == {row["proof"] for name in NAMES for row in committed(name)} & set(archived)
    assert all(path.stat().st_size < 2**20 for path in ARCHIVES)


@pytest.mark.parametrize("part", ["method", "step_size", "given", "metric", "statistic", "over", "local_steps"])
def test_a_proof_of_another_question_is_seen(part, archived):
    claim = next(c["claim"] for c in archived.values() if len(c["claim"]["given"]) > 2)
    held = claim[part]
    other = held + "x" if isinstance(held, str) else dict(list(held.items())[1:]) if part == "given" else [*held, 3]
    assert same(claim, {**claim})
    assert not same(claim, {**claim, part: other})


def test_some_of_the_proofs_are_accepted(archived):
    cheap = [content for content in archived.values() if sum(content["claim"]["local_steps"]) <= 4]
    for content in cheap[:: max(1, len(cheap) // 40)]:
        verify.check(content)


@pytest.mark.slow
def test_all_proofs_are_accepted_by_the_verifier_alone(archived):
    """What `make proofs` does: 80 s of CPU."""
    ran = subprocess.run(
        [sys.executable, "-I", verify.__file__, *map(str, ARCHIVES)], capture_output=True, text=True, check=False
    )
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0, [line for line in lines if "REFUSED" in line]
    many = len(archived)
    assert len(lines) == many + 1
    assert lines[-1].startswith(f"{many} proofs, {many} accepted, ")


def test_the_page_shows_what_the_tables_say():
    page = (ROOT / "docs/how-to/worst-cases.md").read_text(encoding="utf-8")
    shown = {
        cells[0]: cells[1:]
        for line in reversed(page.splitlines())
        if (cells := re.findall(r"[^|\s][^|]*[^|\s]|[^|\s]", line))
    }
    for name in NAMES:
        found = proofs.summary(committed(name))
        assert shown[f"`{name}`"] == [f"{x:.1e}" if isinstance(x, float) else str(x) for x in found.values()], found


def test_the_command_proves_the_places_that_patience_allows(tmp_path, capsys):
    words = ("--committed", "--certify", "--patience", "0.0003", "--workers", "0")
    where = ("--store", str(tmp_path / "s"), "-o", str(tmp_path))
    assert fedbounds.main(["tightness", "fedcog.theorem", *words, *where]) == 1
    assert "places without a proof: not yet" in capsys.readouterr().err
    rows = committed("fedcog.theorem", tmp_path)
    least = [row for row in rows if row["rounds"] * row["local_steps"] == 1]
    assert [row["proof"] == proofs.NOT_YET for row in rows] == [row not in least for row in rows]
    path = proofs.archive("fedcog.theorem", tmp_path)
    assert len(verify.read(str(path))) == len(least) == 4
    assert verify.main([str(path)]) == 0
    assert capsys.readouterr().out.count(f"{path}:") == 4
    assert proofs.keep(verify.read(str(path))[:3], "another", tmp_path) is None
    assert not proofs.archive("another", tmp_path).exists()
    assert proofs.keep(verify.read(str(path))[:1], "fedcog.theorem", tmp_path) == path
    assert len(verify.read(str(path))) == 4, "proofs that are there stay"


@pytest.mark.parametrize("name", ["fedcog.theorem.proofs.xz", "other.proofs.xz"])
@pytest.mark.parametrize("content", [b"mine", lzma.compress(b"mine\n"), None])
def test_archives_of_somebody_else_are_refused_before_the_work_and_stay(name, content, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("paper_checks.worst_cases.command._certified", lambda *_: pytest.fail("worked"))
    theirs = tmp_path / name
    theirs.mkdir() if content is None else theirs.write_bytes(content)
    words = ("fedcog.theorem", "--committed", "--certify", "--store", str(tmp_path / "s"), "-o", str(tmp_path))
    assert fedbounds.main(["tightness", *words]) == 2
    assert name in capsys.readouterr().err
    assert theirs.is_dir() if content is None else theirs.read_bytes() == content


@pytest.mark.parametrize(
    ("digits", "up", "down"), [(Fraction(1, 3), 0.333333334, 0.333333333), (Fraction(2), 2.0, 2.0)]
)
def test_numbers_of_proofs_are_rounded_to_the_safe_side(digits, up, down):
    assert proofs.rounded(digits, proofs.ROUND_CEILING) == up
    assert proofs.rounded(digits, proofs.ROUND_FLOOR) == down
