"""What was once accepted and answered as something else: options, notes, columns and words that nobody reads."""

import json

import numpy as np
import pytest

from bounds import Bound, get, Source
from bounds.errors import DeclarationError, DomainError
from bounds.vocabulary import clients, grad_norm_sq, rounds, smoothness
from empirics.experiments import Cell, Outcome, Store
from fedbounds import main

ONE = "fedals.one_round"
GAP = ("strong_convexity=0.1", "client_weight=uniform", "local_gap=0.03", "non_iidness=0.01")


@pytest.fixture
def refused(capsys):
    """The one line of a command that is refused."""

    def command(*words):
        assert main([str(w) for w in words]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        return err

    return command


# ---- options ----


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("list", "--paper", "fedals", "--paper", "fedcog"), "--paper"),
        (("train", "--problem", "softmax(iris)", "--rounds", "20", "--rounds", "3"), "--rounds"),
        (("sweep", "g.toml", "--workers", "0", "--workers", "1"), "--workers"),
        (("results", "--columns", "value", "--columns", "seed"), "--columns"),
        (("falsify", "fedcog.theorem", "--seed", "3", "--seed", "5"), "--seed"),
        (("tightness", "fedcog.theorem", "-o", "one", "-o", "two"), "-o"),
        (("plot", ONE, "-o", "one.svg", "-o", "two.svg"), "-o"),
        (("validate", ONE, "--clients", "2", "--clients", "3"), "--clients"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(refused, words, option):
    assert f"argument {option} is given twice" in refused(*words)


def test_a_number_that_is_held_twice_is_refused(refused):
    assert "spread is given twice" in refused("falsify", "fedcog.theorem", "spread=2", "spread=3")


def test_an_option_that_is_none_is_named_without_the_values_behind_it(refused):
    err = refused("solve", ONE, "for=clients", "target=0.1", "--outside", "smoothness=1.1", *GAP)
    assert err == "fedbounds: unrecognized arguments: --outside; see fedbounds solve --help\n"


@pytest.mark.parametrize(
    ("option", "call", "right"),
    [
        ("--partition", "dirichlet(1,5)", "1.5, or 1, 5 if it is two"),
        ("--algorithm", "fedsam(0,1)", "0.1, or 0, 1 if it is two"),
        ("--measure", "runtime(1,5)", "1.5, or 1, 5 if it is two"),
    ],
)
def test_a_decimal_comma_in_a_call_is_not_two_numbers(refused, option, call, right):
    err = refused("train", "--problem", "softmax(iris)", "--clients", "4", option, call)
    assert err.endswith(f" in '{call}' is written {right}\n")


@pytest.mark.parametrize("words", [(ONE, "--seed", "3"), ("fedcog.theorem", "--inst", "2")])
def test_an_option_is_never_guessed_from_its_beginning(refused, words):
    assert f"unrecognized arguments: {words[1]} {words[2]}" in refused("validate", *words)


def test_the_value_of_an_option_is_no_bound_to_validate(refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "the name of a bound before its options" in refused("validate", "-o", ONE, "fedcog.theorem")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", ["sweep", "figure"])
def test_an_empty_address_of_a_cluster_is_refused(refused, verb):
    assert "--scheduler: must not be empty" in refused(verb, "fedinit.table_3", "--scheduler", "")


@pytest.mark.parametrize("words", [("train", "--rounds", "1"), ("constants", "--quick")])
def test_a_device_to_write_to_is_refused_before_the_work(refused, capsys, words):
    said = refused(words[0], "--problem", "softmax(iris)", "--clients", "3", *words[1:], "-o", "/dev/full")
    assert "-o /dev/full: it is no file that could be written" in said
    assert "/dev/full" in refused("falsify", "fedcog.theorem", "-o", "/dev/full")


@pytest.mark.parametrize("name", [ONE, "fedcog.theorem"])
def test_training_and_a_log_exclude_each_other(refused, name):
    said = "--problem trains runs, --measured reads runs of yours: leave one of the two out\n"
    for words in (
        ["--problem", "softmax(iris)", "--measured", "r.csv"],
        ["--measured=r.csv", "--problem=softmax(iris)"],
    ):
        assert refused("validate", name, *words, "--clients", "4").endswith(said)


def test_the_constants_of_a_problem_are_not_read_from_a_file(refused, tmp_path, capsys):
    path = tmp_path / "c.json"
    path.write_text('{"smoothness": 1.3}')
    said = refused("validate", "fedcog.theorem", "--problem", "softmax(iris)", "-o", tmp_path, f"@{path}")
    assert f"the constants of a problem are computed from it: leave out @{path}" in said
    assert main(["constants", "--help"]) == 0
    assert "validate --measured take it as @FILE" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "other", [["fedcog.theorem"], ["fedcog.theorem", "--sensitivity"], ["fedcog.theorem", "--json"]]
)
def test_show_takes_one_name(refused, other):
    said = refused("show", ONE, *other)
    assert (
        "expected quantity=value" in said if "--sensitivity" in other else f"one name of a bound; got {ONE}, " in said
    )


@pytest.mark.parametrize("name", ["fedcog.smoothness_step", "fedals.one_round", "decaying_k.theorem_1"])
def test_what_the_help_of_a_search_says_can_be_held(capsys, name):
    main(["falsify", "--help"])
    held = capsys.readouterr().out.partition("such as ")[2].partition(";")[0]
    assert main(["falsify", name, held, "--evaluations", "20"]) == 0


# ---- uncertain constants ----


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"smoothness": 1.3, "_interval": {"smothness": [1.1, 1.7]}}, "did you mean 'smoothness'"),
        ({"_interval": {"smoothness": [1.1, 1.7]}}, "unknown name in _interval 'smoothness'"),
        ({"smoothness": [1.3, 1.4], "_interval": {"smoothness": [1.1, 1.7]}}, "smoothness is a sweep"),
        ({"smoothness": "1.3:1.6:3", "_interval": {"smoothness": [1.1, 1.7]}}, "smoothness is a sweep"),
        ({"smoothness": "1.3,1.6", "_interval": {"smoothness": [None, 1.7]}}, "smoothness is a sweep"),
    ],
)
@pytest.mark.parametrize("verb", [("eval", ONE), ("minimize", ONE, "over=clients"), ("plot", ONE, "x=clients=2:9:3")])
def test_an_interval_is_that_of_one_value(refused, tmp_path, held, said, verb):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(held))
    number = [] if verb[0] != "eval" else ["clients=3"]
    assert said in refused(*verb, *number, *GAP, *([] if "smoothness" in held else ["smoothness=1.3"]), f"@{path}")


def test_lists_over_the_clients_that_are_swept_have_no_interval(refused, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"local_gap": [[0.2, 0.3], [0.4, 0.7]], "_interval": {"local_gap": [0.1, 0.9]}}))
    assert "local_gap is a sweep" in refused(
        "eval", ONE, *(w for w in GAP if "gap" not in w), "smoothness=1.3", f"@{path}"
    )


# ---- results ----


def test_a_filter_finds_the_runs_that_left_the_argument_at_its_default(capsys, tmp_path):
    store = Store(tmp_path)
    for seed, more in ((3, {}), (4, {"step_size": 0.05}), (5, {"step_size": 0.2}), (6, {"local_epochs": 2})):
        cell = Cell("train", {"problem": "softmax(iris)", "rounds": 2, "seed": seed, **more})
        store.keep(cell, Outcome({}, {"minutes": 0.5 + seed}), 0.1)
    assert main(["results", "--store", str(tmp_path), "--columns", "seed", "step_size", "--csv", "step_size=.05"]) == 0
    assert capsys.readouterr().out.splitlines() == ["seed,step_size", "3,0.05", "4,0.05", "6,0.05"]


def test_a_filter_takes_a_number_as_it_is_printed(capsys, refused, tmp_path):
    values = {3: 0.744109876, 4: 0.744112345, 5: 0.471588249}
    for seed, value in values.items():
        Store(tmp_path).keep(
            Cell("train", {"problem": "softmax(iris)", "seed": seed}), Outcome({}, {"loss": value}), 0.1
        )
    words = ["results", "--store", str(tmp_path), "--columns", "seed", "value", "--"]
    for seed, value in values.items():
        for text in (f"{value:.6g}", repr(value)):
            assert main([*words, f"value={text}"]) == 0
            assert [row.split()[0] for row in capsys.readouterr().out.splitlines()[1:]] == [str(seed)]
    assert "no result has value=0.5; the nearest are 0.471588, 0.74411, 0.744112" in refused(*words, "value=0.5")


def test_a_csv_of_results_has_every_digit(capsys, tmp_path):
    value = 0.123456789012345
    Store(tmp_path).keep(Cell("train", {"problem": "softmax(iris)", "seed": 3}), Outcome({}, {"minutes": value}), 0.1)
    assert main(["results", "--store", str(tmp_path), "--columns", "value", "--csv"]) == 0
    assert float(capsys.readouterr().out.splitlines()[1]) == value


# ---- from Python ----


@pytest.mark.parametrize("number", [np.ma.array([1.3, 2.7], mask=[False, True]), np.datetime64("2021")])
def test_an_entry_that_is_not_there_and_a_date_are_no_numbers(number):
    values = {"strong_convexity": 0.1, "client_weight": [0.5, 0.5], "local_gap": 0.03, "non_iidness": 0.01}
    with pytest.raises(DomainError, match="smoothness must be a number"):
        get(ONE)(smoothness=number, **values)


@pytest.mark.parametrize("name", ["strong_convexity", "local_gap", "non_iidness"])
@pytest.mark.parametrize("count", [{"client_weight": [0.3, 0.7]}, {"clients": 2, "client_weight": 0.5}])
def test_a_list_of_one_is_no_list_over_several_clients(name, count):
    """As typed; what is swept for all clients alike has an axis of its own for them."""
    values = {"smoothness": 1.3, "strong_convexity": 0.1, "local_gap": 0.03, "non_iidness": 0.01, **count}
    bound, number = get(ONE), values[name]
    if not bound.quantity(name).card.axis:
        assert bound(**{**values, name: [number]}) == pytest.approx([bound(**values)])
        return
    for function in (bound, bound.formula, bound.parts, bound.holds, bound.compile()):
        with pytest.raises(DomainError, match=f"{name}: 1|{name} has 1 entry where there are 2 clients"):
            function(**{**values, name: [number]})
    assert bound(**{**values, name: [[number], [2 * number]]})[0] == bound(**values)


@pytest.mark.parametrize(("given", "said"), [(3, "must be a dict"), ({"smothness": 2.5}, "none of its quantities")])
def test_what_an_own_bound_holds_fixed_are_its_quantities(given, said):
    with pytest.raises(DeclarationError, match=said):
        Bound("own", grad_norm_sq, {"all": smoothness / rounds}, Source("notes", "1"), given=given)


def test_how_many_clients_there_are_can_be_held_fixed():
    own = Bound("own", grad_norm_sq, {"all": smoothness / clients}, Source("notes", "1"), given={"clients": 4})
    assert own(smoothness=2.5) == 0.625


@pytest.mark.parametrize("name", ["Initial_gap", "initial gap", "Smoothness"])
def test_a_constant_in_another_spelling_would_not_be_read(refused, tmp_path, name):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"initial_gap": 2.5, name: 3.5}))
    assert f"{name!r} would not be read; write" in refused("eval", "decaying_k.theorem_1", f"@{path}")
