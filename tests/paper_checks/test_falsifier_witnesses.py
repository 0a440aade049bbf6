"""Every stored witness replays: quickly, with every decided condition met, and to the numbers it shows."""

import json
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from loops import cases

import paper_checks
from bounds.catalog import get
from paper_checks.claims.checkers.instances import Broken
from paper_checks.claims.claim import Book
from paper_checks.falsifier import load_witness, replay, WitnessError
from paper_checks.falsifier.falsify import FAMILIES
from paper_checks.falsifier.simplify import simpler

FOLDER = Path(paper_checks.__file__).parent / "counterexamples"
WITNESSES = sorted(FOLDER.glob("*.json"))


@cases("path", WITNESSES)
def test_a_witness_violates_its_statement_in_exact_arithmetic_and_can_be_made_simpler(path):
    witness = load_witness(path)
    began = time.process_time()
    found = replay(witness)
    assert time.process_time() - began < 5
    assert found.violated
    assert (found.failed, found.differs) == ((), ())
    assert all(isinstance(value, (int, Fraction)) for value in witness.instance.values())
    family, bound = FAMILIES[witness.family], get(witness.bound)
    tried = list(simpler(witness.instance))
    assert tried
    assert {family.misfit(bound, instance) for instance in tried} == {""}


def test_an_instance_that_is_no_violation_does_not_replay_as_one():
    assert len(WITNESSES) >= 8
    witness = load_witness(FOLDER / "decaying_k.theorem_1.json")
    harmless = replace(witness, instance={**witness.instance, "floor": 0, "start_0": 1})
    assert not replay(harmless).violated
    outside = replace(witness, instance={**witness.instance, "step_size": Fraction(10_000)})
    found = replay(outside)
    assert found.failed == ("the step size is at most 1/(4L)",)
    assert not found.violated
    with pytest.raises(WitnessError):
        replay(replace(witness, formula="0"))


SOUND, BROKEN = "fedcog.theorem", "decaying_k.theorem_1"


@cases("held said", [("", ""), ("runs of mine", "w.json"), ("[1, 2]", "w.json"),
                     ((FOLDER / f"{BROKEN}.json").read_text(), BROKEN)])  # fmt: skip
def test_what_a_search_would_leave_in_the_place_of_its_result_is_refused(tmp_path, run, monkeypatch, held, said):
    path = tmp_path / "w.json"
    path.write_text(held)
    with monkeypatch.context() as before:
        if said:
            before.setattr("paper_checks.falsifier.command.search", lambda *_, **__: pytest.fail("after the work"))
        status, _, err = run("falsify", SOUND, "--evaluations", "5", "-o", path)
    assert (status, said in err) == (2 if said else 0, True)
    assert path.read_text() == held


def test_a_violation_that_was_found_before_stays_and_is_said_to_be_none_of_this_search(tmp_path, run):
    path, kept = tmp_path / "w.json", (FOLDER / f"{BROKEN}.json").read_text()
    path.write_text(kept)
    search = ["falsify", BROKEN, "--family", "quadratics", "-o", path, "--evaluations"]
    status, _, err = run(*search, 2)
    assert (status, str(path) in err, path.read_text() == kept) == (0, True, True)
    assert run(*search, 400)[0] == 1
    assert path.read_text() != kept
    assert load_witness(path).command.endswith("--evaluations 400 --family quadratics")


LINEAR, ONE_ROUND = "fedcog_eq_19", "fedals.one_round_iid_claimed"


def without_none(held):
    return {name: value for name, value in held.items() if value is not None}


def changed(tmp_path, name, instance=(), fields=()):
    """A stored witness with other numbers in its instance or other fields; None leaves one out."""
    held = json.loads((FOLDER / f"{name}.json").read_text())
    held |= {"instance": without_none({**held["instance"], **dict(instance)})} | dict(fields)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(without_none(held)))
    return path


NUMBERS = (
    ("with_replacement", "1/3"), ("with_replacement", "2"), ("rounds", "1/3"), ("rounds", "0"), ("dim", "3"),
    ("clients", "999999999999"), ("clients", "1/2"), ("cohort", "2"), ("local_steps", "-1"), ("weight_0", "0"),
    ("noise_0", "-5"), ("curvature_0_0", "-2"), ("step_size", "0"), ("relaxation", "-1/3"), ("floor", None),
    ("start_0", None), ("colour", "3"), ("step_size", "1e3"), ("step_size", "1/0"), ("step_size", "1_0"),
    ("step_size", "٣"), ("step_size", " 3"), ("step_size", 2), ("step_size", ["2"]),
    ("step_size", "1" + 200 * "0"), ("step_size", "1/1" + 200 * "0"), ("rounds", "9" * 5000),
)  # fmt: skip
"""Numbers that are no instance."""
MEANT_OTHERWISE = (
    (ONE_ROUND, "clients", "3"), (ONE_ROUND, "cohort", "1"), (ONE_ROUND, "sampling", "1"),
    (ONE_ROUND, "local_steps", "3"), ("fedals.participation_case1", "sampling", "3"),
    ("fedals.participation_case1", "share_1", "1"), ("fedals.participation_case1", "share_1", None),
    ("fedals.participation_gap", "curvature_1_1", "2"), ("decaying_k_claim.lemma_1_gradient_cap", "weight_2", "3"),
)  # fmt: skip
"""Instances that the bound is not about, though no condition says so."""
FIELDS = (
    ("measured", 6.25), ("value", None), ("ratio", "2"), ("ratio", True), ("relation", ["<="]),
    ("conditions", "all"), ("definitions", "x"), ("bound", 3), ("family", None), ("statement", {}), ("command", 3),
    ("arithmetic", []), ("instance", []), ("colour", "red"), ("family", "cubes"),
)  # fmt: skip
"""Fields of another kind."""
UNREADABLE = [
    *((LINEAR, {number: value}, {}, number) for number, value in NUMBERS),
    *((name, {number: value}, {}, "") for name, number, value in MEANT_OTHERWISE),
    *((LINEAR, {}, {field: value}, field) for field, value in FIELDS),
]


@cases("name instance fields said", UNREADABLE)
def test_what_is_no_witness_is_refused_in_one_line_that_names_what_is_wrong(
    refused, tmp_path, name, instance, fields, said
):
    assert said in refused("falsify", "--replay", changed(tmp_path, name, instance, fields))


@cases("text", ["[]", "7", "{}", '{"bound": "a", "bound": "b"}', "[" * 100_000, ""])
def test_a_file_that_holds_something_else_is_one_line(refused, tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    assert "other.json" in refused("falsify", "--replay", tmp_path / "other.json")


UNTRUE = (
    ("measured", "7.5"), ("value", "-2.25"), ("ratio", 3.5), ("relation", ">="), ("arithmetic", "by eye"),
    ("statement", "loss_change <= 3"), ("conditions", [["the moon is round", "predicate", True]]),
    ("conditions", [*json.loads((FOLDER / f"{LINEAR}.json").read_text())["conditions"], 7]),
)  # fmt: skip


@cases("field value", UNTRUE)
def test_a_file_that_says_what_its_replay_does_not_is_a_finding(run, tmp_path, field, value):
    status, out, err = run("falsify", "--replay", changed(tmp_path, LINEAR, fields={field: value}))
    assert (status, "VIOLATED: ratio -1" in out, err.count("\n"), field in err) == (1, True, 1, True)


def test_the_audit_takes_no_witness_that_says_what_its_replay_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr("paper_checks.claims.checkers.instances.COUNTEREXAMPLES", tmp_path)
    changed(tmp_path, LINEAR, fields={"measured": "7.5"})
    finding = Broken("fedcog.smoothness_step_printed", "changed.json")(Book())
    assert not finding.as_audited
    assert "7.5" in finding.evidence
