"""Every stored witness replays: quickly, with every decided condition met, and to the numbers it shows."""

import json
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import paper_checks
from bounds.catalog import get
from fedbounds import main
from paper_checks.claims.checkers.instances import Broken
from paper_checks.claims.claim import Book
from paper_checks.falsifier import load_witness, replay, WitnessError
from paper_checks.falsifier.families import FAMILIES

FOLDER = Path(paper_checks.__file__).parent / "counterexamples"
WITNESSES = sorted(FOLDER.glob("*.json"))


def test_there_are_witnesses():
    assert len(WITNESSES) >= 8


@pytest.mark.parametrize("path", WITNESSES, ids=lambda path: path.stem)
def test_a_witness_violates_its_statement_in_exact_arithmetic(path):
    witness = load_witness(path)
    began = time.process_time()
    found = replay(witness)
    assert time.process_time() - began < 5
    assert found.violated
    assert found.failed == ()
    assert found.differs == ()
    assert all(isinstance(value, (int, Fraction)) for value in witness.instance.values())


@pytest.mark.parametrize("path", WITNESSES, ids=lambda path: path.stem)
def test_what_is_tried_in_place_of_a_witness_is_an_instance_too(path):
    witness = load_witness(path)
    family, bound = FAMILIES[witness.family], get(witness.bound)
    simpler = list(family.simpler(witness.instance))
    assert simpler
    assert {family.misfit(bound, instance) for instance in simpler} == {""}


def test_an_instance_that_is_no_violation_does_not_replay_as_one():
    witness = load_witness(FOLDER / "decaying_k.theorem_1.json")
    harmless = replace(witness, instance={**witness.instance, "floor": 0, "start_0": 1})
    assert not replay(harmless).violated
    outside = replace(witness, instance={**witness.instance, "step_size": Fraction(10_000)})
    found = replay(outside)
    assert found.failed == ("the step size is at most 1/(4L)",)
    assert not found.violated
    with pytest.raises(WitnessError, match="search again"):
        replay(replace(witness, formula="0"))


# ---- the file of a search that finds nothing ----

SOUND, BROKEN = "fedcog.theorem", "decaying_k.theorem_1"


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ("", ""),
        ("runs of mine", "is no witness file"),
        ("[1, 2]", "is no witness file"),
        ((FOLDER / f"{BROKEN}.json").read_text(), f"is a witness against another statement, {BROKEN}"),
    ],
)
def test_what_a_search_would_leave_in_the_place_of_its_result_is_refused(tmp_path, capsys, monkeypatch, held, said):
    path = tmp_path / "w.json"
    path.write_text(held)
    if said:
        monkeypatch.setattr("paper_checks.falsifier.command.falsify", lambda *_, **__: pytest.fail("after the work"))
    assert main(["falsify", SOUND, "--evaluations", "5", "-o", str(path)]) == (2 if said else 0)
    assert said in capsys.readouterr().err
    assert path.read_text() == held


def test_a_violation_that_was_found_before_stays_and_is_said_to_be_none_of_this_search(tmp_path, capsys):
    path, kept = tmp_path / "w.json", (FOLDER / f"{BROKEN}.json").read_text()
    path.write_text(kept)
    search = ["falsify", BROKEN, "--family", "quadratics", "-o", str(path), "--evaluations"]
    assert main([*search, "2"]) == 0
    assert capsys.readouterr().err == (
        f"fedbounds: {path} stays: the violation of this statement that was found before, not by this search\n"
    )
    assert path.read_text() == kept
    assert main([*search, "400"]) == 1
    assert path.read_text() != kept
    assert load_witness(path).command.endswith("--evaluations 400 --family quadratics")


# ---- files that somebody has changed ----


def changed(tmp_path, numbers, name="fedcog_eq_19"):
    """A stored witness with other numbers in its instance; None leaves one out."""
    instance = json.loads((FOLDER / f"{name}.json").read_text())["instance"]
    return altered(tmp_path, "instance", _without_none({**instance, **numbers}), name)


def _without_none(held):
    return {name: value for name, value in held.items() if value is not None}


def altered(tmp_path, field, value, name="fedcog_eq_19"):
    """A stored witness with one field changed; None leaves it out."""
    path = tmp_path / "altered.json"
    held = {**json.loads((FOLDER / f"{name}.json").read_text()), field: value}
    path.write_text(json.dumps(_without_none(held)))
    return path


def replayed(capsys, path, status):
    assert main(["falsify", "--replay", str(path)]) == status
    return capsys.readouterr()


@pytest.mark.parametrize(
    ("number", "value"),
    [("with_replacement", "1/3"), ("with_replacement", "2"), ("rounds", "1/3"), ("rounds", "0"), ("dim", "3"),
     ("clients", "999999999999"), ("clients", "1/2"), ("cohort", "2"), ("local_steps", "-1"),
     ("weight_0", "0"), ("noise_0", "-5"), ("curvature_0_0", "-2"), ("step_size", "0"), ("relaxation", "-1/3"),
     ("floor", None), ("start_0", None), ("colour", "3"), ("step_size", "1e3"), ("step_size", "1/0"),
     ("step_size", "1_0"), ("step_size", "٣"), ("step_size", " 3"), ("step_size", 2), ("step_size", ["2"]),
     ("step_size", "1" + 200 * "0"), ("step_size", "1/1" + 200 * "0"), ("rounds", "9" * 5000)],
)  # fmt: skip
def test_numbers_that_are_no_instance_are_refused_by_name(capsys, tmp_path, number, value):
    out, err = replayed(capsys, changed(tmp_path, {number: value}), 2)
    assert out == ""
    assert err.count("\n") == 1
    assert number in err


@pytest.mark.parametrize(
    ("name", "number", "value"),
    [("one_round_iid_claimed", "clients", "3"), ("one_round_iid_claimed", "cohort", "1"),
     ("one_round_iid_claimed", "sampling", "1"),
     ("one_round_iid_claimed", "local_steps", "3"), ("participation_case1", "sampling", "3"),
     ("participation_case1", "share_1", "1"), ("participation_case1", "share_1", None),
     ("participation_gap", "curvature_1_1", "2")],
)  # fmt: skip
def test_what_the_bound_does_not_speak_of_is_refused_though_no_condition_says_it(capsys, tmp_path, name, number, value):
    out, err = replayed(capsys, changed(tmp_path, {number: value}, f"fedals.{name}"), 2)
    assert out == ""
    assert err.count("\n") == 1


def test_weights_that_have_no_place_in_an_instance_are_refused(capsys, tmp_path):
    path = changed(tmp_path, {"weight_2": "3"}, "decaying_k_claim.lemma_1_gradient_cap")
    assert "all weigh the same" in replayed(capsys, path, 2).err


@pytest.mark.parametrize(
    ("field", "value"),
    [("measured", 6.25), ("value", None), ("ratio", "2"), ("ratio", True), ("relation", "<"), ("relation", ["<="]),
     ("conditions", [["words", "predicate"]]), ("conditions", [["words", "predicate", 1]]), ("conditions", "all"),
     ("definitions", "x"), ("definitions", [3]), ("bound", 3), ("family", None), ("statement", {}), ("command", 3),
     ("arithmetic", []), ("instance", []), ("colour", "red")],
)  # fmt: skip
def test_every_field_is_of_its_kind(capsys, tmp_path, field, value):
    out, err = replayed(capsys, altered(tmp_path, field, value), 2)
    assert out == ""
    assert err.count("\n") == 1
    assert "is no witness file" in err
    assert field in err


@pytest.mark.parametrize("text", ["[]", "7", "{}", '{"bound": "a", "bound": "b"}', "[" * 100_000, ""])
def test_a_file_that_holds_something_else_is_one_line(capsys, tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    assert replayed(capsys, path, 2).err.count("\n") == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [("measured", "7.5"), ("value", "-2.25"), ("ratio", 3.5), ("relation", ">="), ("arithmetic", "by eye"),
     ("statement", "loss_change <= 3"), ("conditions", [["the moon is round", "predicate", True]])],
)  # fmt: skip
def test_a_file_that_says_what_its_replay_does_not_is_a_finding(capsys, tmp_path, field, value):
    out, err = replayed(capsys, altered(tmp_path, field, value), 1)
    assert "VIOLATED: ratio -1" in out
    assert err.count("\n") == 1
    assert f"{field} is" in err


def test_a_family_that_there_is_not_is_refused(capsys, tmp_path):
    assert "unknown family 'cubes'" in replayed(capsys, altered(tmp_path, "family", "cubes"), 2).err


def test_a_witness_that_does_not_violate_and_says_so_wrongly_is_a_finding(capsys, tmp_path):
    out, err = replayed(capsys, changed(tmp_path, {"floor": "3"}, "decaying_k.theorem_1"), 1)
    assert "not violated" in out
    assert "value is 6000000.0000000000000, not -400000000" in err


def test_the_audit_takes_no_witness_that_says_what_its_replay_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr("paper_checks.claims.checkers.instances.COUNTEREXAMPLES", tmp_path)
    altered(tmp_path, "measured", "7.5")
    finding = Broken("fedcog.smoothness_step_printed", "altered.json")(Book())
    assert not finding.as_audited
    assert "7.5" in finding.evidence
