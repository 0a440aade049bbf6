"""One grammar for every verb: help, mistakes, and ``--json`` that programs can read; completion knows them all."""

import json
import subprocess
from pathlib import Path

import pytest

from bounds.showing.completion import options, script
from bounds.showing.usage import VERBS
from fedbounds import main

ROOT = Path(__file__).parents[1]
GAP = ["smoothness=1.1", "strong_convexity=0.1", "client_weight=uniform", "local_gap=0.03", "non_iidness=0.01"]
IRIS = ["--problem", "softmax(iris)", "--clients", "3"]
JSON = {
    "list": ["--paper", "fedals"],
    "quantities": ["smoothness"],
    "show": ["fedals.one_round", "--sensitivity", "clients=7", *GAP],
    "eval": ["fedals.one_round", "clients=7", *GAP],
    "minimize": ["decaying_k.per_rounds", "over=local_steps"],
    "solve": ["fedals.one_round", "for=clients", "target=0.1", "--smallest", *GAP],
    "validate": ["fedinit.lemma_2", "--instances", "1", "--rounds", "2", "--clients", "3"],
    "train": [*IRIS, "--rounds", "2", "--engine", "torch"],
    "constants": IRIS,
    "data": ["iris"],
    "sweep": [f"{ROOT}/examples/beta.toml", "--status"],
    "check": [f"{ROOT}/examples/my_bound.py:my_bound"],
    "falsify": ["fedcog.smoothness_step", "--evaluations", "7", "clients=2"],
    "tightness": [],
    "rate": ["fedavg()", "local_steps=2", "step_size=0.2", "smoothness=1.3", "strong_convexity=0.4"],
    "figure": [],
}
FILES = {"plot", "explore", "open", "bundle", "completion"}
"""Verbs whose answer is files, or a script: their numbers are written beside them."""
ELSEWHERE = {"results", "compare", "advise", "verdict"}
"""Read as JSON where a store or their answers are there anyway: by tests of their own."""


def test_the_table_names_every_verb():
    assert set(VERBS) == {*JSON, *FILES, *ELSEWHERE}


@pytest.mark.parametrize("verb", VERBS)
def test_help_says_what_json_holds_and_a_nonsense_option_is_one_line(verb, capsys):
    assert main([verb, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: fedbounds {verb}")
    assert f"example: {VERBS[verb].example}" in out
    assert ("--json prints" in out) == (verb not in FILES) or verb in ("validate", "constants", "verdict", "results")
    assert main([verb, "--no-such-option"]) == 2
    err = capsys.readouterr().err.splitlines()
    assert len([line for line in err if "loading ..." not in line]) == 1
    assert err[-1].startswith("fedbounds: ")


@pytest.mark.parametrize("verb", JSON)
def test_json_is_read_by_strict_parsers(verb, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status = main([verb, *JSON[verb], "--json"])
    said = capsys.readouterr()
    assert status == 0, said.err

    def refuse(word):
        pytest.fail(f"{word} is no JSON")

    assert json.loads(said.out, parse_constant=refuse)


def test_minima_and_solutions_have_stable_keys(capsys):
    main(["solve", "fedals.one_round", "for=smoothness", "target=0.3", "clients=5,9", *GAP[1:], "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [answer["where"] for answer in found["answers"]] == [{"clients": 5}, {"clients": 9}]
    assert all({"at", "value", "limited_by", "note"} == set(answer) - {"where"} for answer in found["answers"])
    assert found["unit"] == "loss"
    assert main(["show", "fedals.one_round", "--json", "--latex"]) == 2


# ---- completion ----


def test_options_are_read_off_the_help(capsys):
    main(["solve", "--help"])
    assert options(capsys.readouterr().out) == ["-h", "--help", "--largest", "--smallest", "--zip", "--json"]
    main(["train", "--help"])
    assert {"--nesterov", "--beta1", "--beta2", "--device"} <= set(options(capsys.readouterr().out))


def test_the_shell_completes_verbs_options_and_names():
    text = script("bash", {"eval": ["--json", "fedals.one_round", "smoothness="], "list": ["--paper"]})
    asked = 'COMP_WORDS=({}); COMP_CWORD={}; _fedbounds 2>/dev/null; echo "${{COMPREPLY[@]}}"\n'
    lines = [("fedbounds ev", 1), ("fedbounds eval fedals", 2), ("fedbounds eval x smo", 3), ("fedbounds list -", 2)]
    told = text + "".join(asked.format(words, at) for words, at in lines)
    done = subprocess.run(["bash", "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["eval", "fedals.one_round", "smoothness=", "--paper"]
    assert script("zsh", {"list": []}).startswith("autoload")
