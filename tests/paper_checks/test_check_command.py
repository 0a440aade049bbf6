"""The verb ``check``: what it runs, what it writes, and its exit status."""

import json

import pytest
from loops import cases

import fedbounds
from paper_checks.audit import command, running as audit_module
from paper_checks.audit.running import CLAIMS, verdict_of
from paper_checks.claims.claim import ClaimError

OWN = """
import sympy as sp
from bounds.vocabulary import local_steps
from paper_checks.claims.checkers import Same
from paper_checks.claims.claim import Claim, Defect, Finding, Grade, Kind, Status

def made(known):
    return Claim("mine.square", "A square is a product.", Kind.EQUATION.at("line 1"),
                 Same(local_steps**2, local_steps * local_steps), known,
                 defect=Defect.SLIP if known is Status.FAILS else None)

right, wrong = made(Status.HOLDS), made(Status.FAILS)
no_claim = 3

class Stop(BaseException):
    pass

def stops(book):
    raise Stop("enough")

def talks(book):
    print("thinking")
    return Finding(Status.HOLDS, Grade.READ, "read")

stopping, talking = (
    Claim(f"mine.{c.__name__}", "Odd.", Kind.EQUATION.at("1"), c, Status.HOLDS) for c in (stops, talks)
)
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN, encoding="utf-8")
    return path


@pytest.fixture
def few(monkeypatch):
    """The first quick claims of two papers alone."""
    kept = {}
    for paper in ("fedals", "fedcog"):
        kept |= {c.name: c for c in [c for c in CLAIMS.values() if c.paper == paper][:3]}
    monkeypatch.setattr(command, "CLAIMS", kept)
    monkeypatch.setattr(audit_module, "CLAIMS", kept)
    return kept


@pytest.fixture
def committed(tmp_path, monkeypatch):
    """A committed report elsewhere."""
    path = tmp_path / "paper_checks" / "REPORT.md"
    path.parent.mkdir()
    monkeypatch.setattr(command, "COMMITTED", path)
    return path


def check(*words):
    return fedbounds.main(["check", *map(str, words)])


def names(out):
    return [entry["name"] for entry in json.loads(out)]


def test_a_claim_a_paper_and_all(few, capsys):
    name = next(iter(few))
    for words, expected in (
        ([name], [name]),
        (["--paper", "fedcog"], sorted(n for n in few if n.startswith("fedcog."))),
        (["--workers", "1"], sorted(few)),
    ):
        assert check(*words, "--json") == 0
        assert sorted(names(capsys.readouterr().out)) == expected


def test_a_prefix_means_all_under_it():
    prefix = next(n.rpartition(".")[0] for n in CLAIMS if n.count(".") > 1)
    assert {c.name for c in command.chosen([prefix], {})} == {n for n in CLAIMS if f"{n}.".startswith(f"{prefix}.")}
    assert len(command.chosen(["fedals"], {})) == sum(c.paper == "fedals" for c in CLAIMS.values())


def test_a_bound_means_the_claims_that_ask_for_it(few):
    asked = {name: set(verdict_of(c).bounds) for name, c in few.items()}
    bound = next(b for bounds in asked.values() for b in sorted(bounds) if not any(n.startswith(b) for n in CLAIMS))
    found = command.chosen([bound], judged := {})
    assert {c.name for c in found} <= judged.keys()  # none is checked again
    assert {c.name for c in found} == {n for n, b in asked.items() if bound in b and n.startswith(bound.split(".")[0])}


def test_a_claim_of_ones_own_and_its_report(own, tmp_path, capsys):
    folder = tmp_path / "new" / "report"
    assert check(f"{own}:right", "--report", folder) == 0
    out = capsys.readouterr().out
    assert "HOLDS" in out
    assert "wrote" in out
    assert sorted(p.name for p in folder.iterdir()) == ["REPORT.md", "report.json", "reports"]
    assert names((folder / "report.json").read_text(encoding="utf-8")) == ["mine.square"]
    assert "# mine" in (folder / "reports/mine.md").read_text(encoding="utf-8")
    assert check(f"{own}:wrong") == 1
    assert "mine.square: HOLDS, audited FAILS" in capsys.readouterr().out


@cases("workers", [1, 2])
def test_what_a_check_of_ones_own_raises_or_prints_stays_its_own(workers, own, capfd):
    assert check(f"{own}:stopping", f"{own}:talking", "--json", "--workers", workers) == 1
    out, err = capfd.readouterr()
    broke, held = json.loads(out)
    assert "Stop: enough" in broke["evidence"]
    assert held["verdict"] == "HOLDS"
    assert err == "thinking\n"


def test_the_committed_report_is_renewed_whole_and_in_a_checkout_only(few, committed):
    with pytest.raises(ClaimError, match="installed"):
        command.check(renew=True)
    (committed.parents[1] / "pyproject.toml").touch()
    for names, options in ((["decaying_k.eq_24"], {}), ([], {"paper": "fedals"})):
        with pytest.raises(ClaimError, match="--renew"):
            command.check(*names, **options, renew=True)
    assert not committed.exists()
    assert command.check(renew=True).status == 0
    whole = committed.read_text(encoding="utf-8")
    assert "# The audit" in whole
    written = [str(p.relative_to(committed.parent)) for p in committed.parent.rglob("*.*")]
    assert sorted(written) == ["REPORT.md", "reports/fedals.md", "reports/fedcog.md"]
    with pytest.raises(ClaimError, match="--renew"):
        command.check(next(iter(few)), report=committed.parent)
    assert committed.read_text(encoding="utf-8") == whole


def test_an_interrupted_audit_shows_what_was_reached(few, capsys, monkeypatch, tmp_path):
    reached = []

    def stops(self):
        if reached:
            raise KeyboardInterrupt
        reached.append(self)

    monkeypatch.setattr("empirics.progress.Silent.step", stops)
    assert check("--workers", "1", "--report", tmp_path / "r") == 130
    out, err = capsys.readouterr()
    assert "2 claims: " in out
    assert f"2 of {len(few)} claims" in err
    assert not (tmp_path / "r").exists()


@cases(
    "words said",
    [
        (["fedals.theorem_9_9"], "fedals.theorem_9_9"),
        (["--paper", "fedsgd"], "fedsgd"),
        (["--workers", "0"], "from 1 to 1024; got"),
        (["fedals.one_round", "--report", ""], "--report"),
        (["{folder}/bad.py:claim"], "no_such_module"),
        (["{folder}/dotted.py:claim"], "without the dot"),
        (["{folder}/mine.py:no_claim"], "int"),
        (["{folder}/mine.py:rihgt"], "'right'"),
        (["{folder}/mine.py:wrong", "{folder}/mine.py:right", "--json"], "'mine.square'"),
        (["{folder}/mine.py:right", "--report", "{folder}/taken"], "taken"),
    ],
)
def test_mistakes_are_one_line_and_status_2_before_anything_runs(words, said, own, refused, monkeypatch):
    (own.parent / "bad.py").write_text("import no_such_module\n", encoding="utf-8")
    (own.parent / "dotted.py").write_text("from .mine import right\n", encoding="utf-8")
    (own.parent / "taken").write_text("a file", encoding="utf-8")
    monkeypatch.setattr(command, "audit", lambda *arguments: pytest.fail("it ran"))
    assert said in refused("check", *(word.format(folder=own.parent) for word in words))
