"""The verb ``check``: what it runs, what it writes, and its exit status."""

import json

import pytest

import fedbounds
from bounds.errors import BoundsError
from paper_checks.audit import command, running as audit_module
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import ClaimError

OWN = """
import sympy as sp
from bounds.vocabulary import local_steps
from paper_checks.claims.checkers import Same
from paper_checks.claims.claim import Claim, Defect, Kind, Status

def made(known):
    return Claim("mine.square", "A square is a product.", Kind.EQUATION.at("line 1"),
                 Same(local_steps**2, local_steps * local_steps), known,
                 defect=Defect.SLIP if known is Status.FAILS else None)

right, wrong = made(Status.HOLDS), made(Status.FAILS)
no_claim = 3
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN, encoding="utf-8")
    return path


@pytest.fixture
def few(monkeypatch):
    """The first quick claims of each paper alone."""
    kept = {}
    for paper in ("fedals", "fedcog"):
        kept |= {c.name: c for c in [c for c in CLAIMS.values() if c.paper == paper and not c.deep][:3]}
    monkeypatch.setattr(command, "CLAIMS", kept)
    monkeypatch.setattr(audit_module, "CLAIMS", kept)
    return kept


def check(*words):
    return fedbounds.main(["check", *map(str, words)])


def names(out):
    return [entry["name"] for entry in json.loads(out)]


def test_a_claim_a_paper_and_all(few, capsys):
    name = next(iter(few))
    assert check(name, "--json") == 0
    assert names(capsys.readouterr().out) == [name]
    assert check("--paper", "fedcog", "--json") == 0
    assert sorted(names(capsys.readouterr().out)) == sorted(n for n in few if n.startswith("fedcog."))
    assert check("--json", "--workers", "1") == 0
    assert sorted(names(capsys.readouterr().out)) == sorted(few)


def test_a_prefix_means_all_under_it(capsys):
    prefix = next(n.rpartition(".")[0] for n in CLAIMS if n.count(".") > 1)
    chosen = command.chosen([prefix])
    assert {c.name for c in chosen} in ({n for n in CLAIMS if n.startswith(f"{prefix}.")}, {prefix})
    assert len(command.chosen(["fedals"])) == sum(c.paper == "fedals" for c in CLAIMS.values())


def test_a_bound_means_the_claims_that_ask_for_it(few):
    from paper_checks.audit.running import judge

    asked = {name: set(judge(c).bounds) for name, c in few.items()}
    bound = next(b for bounds in asked.values() for b in sorted(bounds) if b not in CLAIMS)
    if any(n.startswith(f"{bound}.") for n in few):
        pytest.skip("the bound's name is a prefix of claims")
    found = command.chosen([bound])
    assert {c.name for c in found} == {n for n, b in asked.items() if bound in b and n.startswith(bound.split(".")[0])}


def test_deep_claims_are_run_when_they_are_asked_for(monkeypatch):
    from dataclasses import replace

    name = next(iter(CLAIMS))
    monkeypatch.setitem(CLAIMS, name, replace(CLAIMS[name], deep=True))
    assert name not in {c.name for c in command.chosen([])}
    assert name in {c.name for c in command.chosen([], deep=True)}
    assert name in {c.name for c in command.chosen([name])}


def test_a_claim_of_ones_own(own, capsys):
    assert check(f"{own}:right") == 0
    assert "HOLDS" in capsys.readouterr().out
    assert check(f"{own}:wrong") == 1
    assert "differs from the audit: mine.square: HOLDS, audited FAILS" in capsys.readouterr().out
    assert check(f"{own}:wrong", f"{own}:right", "--json") == 2
    assert "two claims are called 'mine.square'" in capsys.readouterr().err


ODD = """
from bounds.papers import Source
from paper_checks.claims.claim import Claim, Finding, Grade, Kind, Status

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


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_check_of_ones_own_raises_or_prints_stays_its_own(workers, tmp_path, capfd):
    path = tmp_path / "odd.py"
    path.write_text(ODD, encoding="utf-8")
    assert check(f"{path}:stopping", f"{path}:talking", "--json", "--workers", workers) == 1
    out, err = capfd.readouterr()
    broke, held = json.loads(out)
    assert broke["evidence"] == "the check broke: Stop: enough"
    assert held["verdict"] == "HOLDS"
    assert err == "thinking\n"


def test_reports_of_ones_own_claim_in_a_new_folder(own, tmp_path, capsys):
    folder = tmp_path / "new" / "report"
    assert check(f"{own}:right", "--report", folder) == 0
    assert "wrote" in capsys.readouterr().out
    assert sorted(p.name for p in folder.iterdir()) == ["REPORT.md", "evidence", "report.json", "reports"]
    assert not list((folder / "evidence").iterdir())
    assert names((folder / "report.json").read_text(encoding="utf-8")) == ["mine.square"]
    assert "# mine" in (folder / "reports/mine.md").read_text(encoding="utf-8")


def test_every_failing_statement_gets_a_file_with_what_shows_it(tmp_path, capsys):
    assert check("decaying_k.eq_24", "--report", tmp_path) == 0
    (path,) = (tmp_path / "evidence").iterdir()
    told = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == "decaying_k.eq_24.json"
    assert told["witness"]["local_steps"]
    assert told["command"] == "fedbounds check decaying_k.eq_24"
    assert told["repair_bound"] == "decaying_k.steps_slope"


@pytest.mark.parametrize("part", [["decaying_k.eq_24"], ["--paper", "fedals"], ["--deep"]])
def test_the_committed_report_is_renewed_whole_or_not_at_all(part, tmp_path, capsys, monkeypatch):
    kept = tmp_path / "paper_checks" / "REPORT.md"
    monkeypatch.setattr(command, "COMMITTED", kept)
    with pytest.raises(ClaimError, match="--renew writes the report of the whole audit"):
        command.check([*part, "--renew"])
    assert not kept.exists()


def test_the_committed_report_is_renewed_in_a_checkout_only(few, tmp_path, capsys, monkeypatch):
    kept = tmp_path / "paper_checks" / "REPORT.md"
    kept.parent.mkdir()
    monkeypatch.setattr(command, "COMMITTED", kept)
    with pytest.raises(ClaimError, match="an installed package"):
        command.check(["--renew"])
    (tmp_path / "pyproject.toml").touch()
    assert command.check(["--renew"]) == 0
    assert "# The audit" in kept.read_text(encoding="utf-8")
    written = [str(p.relative_to(kept.parent)) for p in kept.parent.rglob("*.*")]
    assert sorted(written) == ["REPORT.md", "reports/fedals.md", "reports/fedcog.md"]


def test_a_report_is_not_written_over_the_committed_one(tmp_path, capsys, monkeypatch):
    kept = tmp_path / "REPORT.md"
    kept.write_text("whole\n")
    monkeypatch.setattr(command, "COMMITTED", kept)
    with pytest.raises(ClaimError, match="use --renew"):
        command.check(["decaying_k.eq_24", "--report", str(tmp_path)])
    assert kept.read_text() == "whole\n"


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
    assert err == f"fedbounds: interrupted: 2 of {len(few)} claims were checked; no report was written\n"
    assert not list((tmp_path / "r").iterdir())


def test_a_report_made_again_is_the_same(few, tmp_path, capsys):
    for folder, workers in (("a", 1), ("b", 2)):
        assert check("--report", tmp_path / folder, "--workers", workers, "--json") == 0
    assert "wrote" not in capsys.readouterr().out  # standard output is JSON alone
    for name in ("REPORT.md", "report.json"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in ("a", "b"))
        assert first == second
        assert first


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fedals.theorem_9_9"], "unknown claim or bound"),
        (["--paper", "fedsgd"], "unknown paper"),
        (["--paper", ""], "unknown paper ''"),
        (["--workers", "0"], "--workers: must be a whole number from 1 to 1024; got '0'"),
        (["--workers", "two"], "--workers: must be a whole number from 1 to 1024; got 'two'"),
        (["--workers", "1e9"], "--workers: must be a whole number from 1 to 1024; got '1e9'"),
        ([""], "unknown claim or bound ''"),
        (["fedals.one_round", "--report", ""], "--report: must not be empty"),
        (["nowhere.py:claim"], "No such file"),
        (["--colour"], "unrecognized arguments"),
    ],
)
def test_mistakes_are_one_line_and_status_2(words, said, capsys):
    assert check(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_mistakes_in_a_file_are_one_line_and_status_2(own, tmp_path, capsys):
    bad = tmp_path / "bad.py"
    bad.write_text("import no_such_module\n", encoding="utf-8")
    said = {
        f"{bad}:claim": "No module named 'no_such_module'",
        f"{own}:no_claim": "is of type int, not a Claim",
        f"{own}:rihgt": "did you mean 'right'",
    }
    for words, line in said.items():
        assert check(words) == 2
        err = capsys.readouterr().err
        assert line in err
        assert err.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_said_before_anything_runs(own, tmp_path, capsys, monkeypatch):
    taken = tmp_path / "taken"
    taken.write_text("a file", encoding="utf-8")
    monkeypatch.setattr(command, "audit", lambda *arguments: pytest.fail("it ran"))
    assert check(f"{own}:right", "--report", taken) == 2
    err = capsys.readouterr().err
    assert f"--report {taken}: " in err
    assert err.count("\n") == 1


def test_names_that_leave_nothing_are_refused():
    name = next(n for n in CLAIMS if n.startswith("fedals."))
    with pytest.raises(BoundsError, match="no claim of fedcog is about"):
        command.chosen([name], paper="fedcog")


def test_help_is_no_mistake(capsys):
    assert check("--help") == 0
    assert "fedbounds check" in capsys.readouterr().out
