"""The verbs as functions of Python: what the shell prints, as tables."""

import csv
import inspect
import json
import pickle

import numpy as np
import pytest
from refusals import all_refused

import fedbounds
from bounds import BOUNDS
from bounds.errors import BoundsError
from bounds.scenario import Scenario
from empirics.problems.tasks import task

SMALL = dict(clients=3, rounds=2, seeds=2, batch=7, step_size=0.07)
SITE = dict(clients=7, cohort=3, local_steps=3, step_size=0.02, rounds=40, smoothness=2.5, strong_convexity=0.3)
SITE |= dict(gradient_variance=0.7, initial_gap=1.7, grad_cap_sq=2.9, initial_distance_sq=4.3, optimal_loss=0.2)


def typed(**told):
    return [f"--{name.replace('_', '-')}={value}" for name, value in told.items()]


def test_training_says_what_the_shell_prints_and_keeps_every_number(tmp_path, capsys):
    table = fedbounds.train("softmax(iris)", **SMALL, compare=["fedprox(mu=0.3)"])
    assert capsys.readouterr().out == ""
    path = tmp_path / "shell.csv"
    more = ["--compare", "fedprox(mu=0.3)", "-o", str(path)]
    assert fedbounds.main(["train", "--problem=softmax(iris)", *typed(**SMALL), *more]) == 0
    assert capsys.readouterr().out == f"{table}\nwrote {path}\n"
    assert table.to_csv(tmp_path / "own.csv").read_bytes() == path.read_bytes()
    frame = table.to_pandas()
    assert list(frame.columns) == list(table.rows[0]._fields)
    assert frame.value.tolist() == [row.value for row in table.rows]
    assert json.loads(table.to_json())[3]["value"] == table.rows[3].value
    assert table._repr_html_().count("<tr>") == 1 + 2 * 2
    assert "diverged" not in table._repr_html_()
    assert "diverged" in fedbounds.train("softmax(iris)", **{**SMALL, "step_size": 1e9})._repr_html_()


def test_a_task_and_a_dealt_problem_train_and_validate_like_their_text():
    text = fedbounds.train("softmax(iris)", **SMALL)
    what = task("softmax(iris)")
    assert str(fedbounds.train(what, **SMALL)) == str(text)
    dealt = what.deal("iid", 3, 0)
    plan = {name: value for name, value in SMALL.items() if name not in ("clients", "seeds")}
    assert str(fedbounds.train(dealt, **plan)).splitlines()[0] == str(text).splitlines()[0]
    assert "test_accuracy" in str(fedbounds.train(what.deal("iid", 3, 0, local_test="held_out"), **plan))
    with pytest.raises(BoundsError, match="3 clients"):
        fedbounds.train(dealt, clients=4)
    plan = dict(rounds=2, seeds=2, local_steps=3, batch=7)
    text = fedbounds.validate("fedinit.theorem_1", problem="ridge(iris)", clients=4, **plan)
    dealt = fedbounds.validate("fedinit.theorem_1", problem=task("ridge(iris)").deal("iid", 4, 0), **plan)
    assert [line.bound for line in dealt.rows] == [line.bound for line in text.rows]


def test_constants_are_the_object_of_the_shell_a_table_and_a_scenario(run):
    found = fedbounds.constants("ridge(iris)", clients=3, batch=7)
    assert run("constants", "--problem=ridge(iris)", "--clients=3", "--batch=7")[:2] == (0, f"{found}\n")
    frame = found.to_pandas().set_index("quantity")
    assert frame.value["smoothness"] == found["smoothness"]
    assert Scenario.of(found)["smoothness"].value == found["smoothness"]


MISTAKES = [
    ({}, "problem=MODEL(DATA), csv=FILE frame=DATAFRAME"),
    ({"problem": "ridge(iris)", "csv": "x.csv", "target": "y"}, "problem= csv="),
    ({"target": "y"}, "target= csv=FILE frame=DATAFRAME"),
    ({"csv": "x.csv"}, "x.csv"),
    ({"problem": "ridge(iris)", "clients": 3, "batch": "8"}, "batch int '8'"),
    ({"problem": "ridge(iris)", "clients": 2.5}, "clients int 2.5"),
    ({"problem": "ridge(iris)", "clients": -2}, "clients >= 1 -2"),
    ({"problem": 3}, "problem Problem 3"),
    ({"problem": task("ridge(iris)"), "keep_state": "kept.pt"}, "keep_state"),
    ({"problem": "ridge(iris)", "client": 3}, "'client' 'clients'"),
    ({"data": "ridge(iris)"}, "'data' problem"),
]
CALLS = [
    ("evaluate", (3,), "name str Bound 3"),
    ("compare", ("grad_norm_sq", 3), "scenario Known 3"),
    ("minimize", ("decaying_k.per_rounds",), "'over'"),
    ("check", (3,), "names str 3"),
]


def test_a_mistake_is_named():
    for function in (fedbounds.train, fedbounds.constants):
        all_refused(MISTAKES, lambda told, function=function: function(**told))
    all_refused([(call, words) for *call, words in CALLS], lambda call: getattr(fedbounds, call[0])(*call[1]))


def test_a_scenario_is_a_mapping_a_file_words_or_itself(tmp_path, run):
    path = tmp_path / "site.json"
    path.write_text(json.dumps(SITE))
    table = fedbounds.compare("grad_norm_sq", f"@{path}", rounds=90)
    assert run("compare", "grad_norm_sq", f"@{path}", "rounds=90")[:2] == (0, f"{table}\n")
    values = [row.value for row in table.rows]
    for same in (SITE, Scenario.of(SITE), [f"{word}={value}" for word, value in SITE.items() if word != "rounds"]):
        assert np.array_equal([r.value for r in fedbounds.compare("grad_norm_sq", same, rounds=90).rows], values, True)
    with table.to_csv(tmp_path / "rows.csv").open() as file:
        assert [row["bound"] for row in csv.DictReader(file)] == [row.bound for row in table.rows]


def test_a_validation_is_that_of_the_shell(tmp_path, run):
    table = fedbounds.validate("fedinit.lemma_2", instances=1, rounds=1, local_steps=2)
    line = ("validate", "fedinit.lemma_2", "--instances=1", "--rounds=1", "--local-steps=2", "-o", tmp_path)
    assert run(*line)[1].startswith(f"{table}\nwrote ")
    assert table.to_pandas().bound.tolist() == [line.bound for line in table.rows]
    with pytest.raises(BoundsError, match=r"fedinit.lemma_2 'batch'"):
        fedbounds.validate(BOUNDS["fedinit.lemma_2"], batch=3)


def test_every_function_is_loaded_by_its_name_and_documents_every_argument():
    assert fedbounds.get("fedals.one_round") is BOUNDS["fedals.one_round"]
    with pytest.raises(AttributeError, match="'gett'"):
        _ = fedbounds.gett
    with pytest.raises(AttributeError, match="'worst_case'; write tightness"):
        _ = fedbounds.worst_case
    wrong = []
    for name in dir(fedbounds):
        found = getattr(fedbounds, name)
        assert pickle.loads(pickle.dumps(found)) is found
        described = (inspect.getdoc(found) or "").partition("Args:")[2]
        wrong += [(name, p) for p in inspect.signature(found).parameters if f"\n    {p}: " not in described]
    assert wrong == []
    assert all(getattr(fedbounds, name) is not None for name in fedbounds.OBJECTS)
