"""Every stored witness replays: quickly, with every decided condition met, and to the numbers it shows."""

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import paper_checks
from paper_checks.falsifier import load_witness, loaded, replay, WitnessError
from paper_checks.falsifier.runs.instance import misweighted

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
    assert float(found.measured) == pytest.approx(float(witness.measured), rel=1e-12)
    assert float(found.bound) == pytest.approx(float(witness.value), rel=1e-12)
    assert all(isinstance(value, (int, Fraction)) for value in witness.instance.values())


@pytest.mark.parametrize("path", WITNESSES, ids=lambda path: path.stem)
def test_weights_of_a_witness_mean_what_the_bound_means(path):
    witness = load_witness(path)
    if witness.family != "atoms":
        assert misweighted(loaded(witness.bound, witness.definitions), dict(witness.instance)) == ""


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
