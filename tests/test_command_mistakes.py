"""The user's mistakes: one clear line on standard error, status 2, no traceback."""

from pathlib import Path

import pytest

import fedbounds
from bounds import BOUNDS

ONE = "fedals.one_round"
GOOD = {
    "smoothness": "1.1",
    "strong_convexity": "0.1",
    "client_weight": "[.5,.3,.2]",
    "local_gap": "[.02,.03,.05]",
    "non_iidness": "[.01,.02,.04]",
}


def evaluated(**changes):
    return ["eval", ONE, *(f"{name}={text}" for name, text in (GOOD | changes).items() if text is not None)]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"smothness": "2"}, "unknown quantity of fedals.one_round 'smothness'; did you mean 'smoothness'"),
        ({"smoothness": None, "local_gap": None}, "fedals.one_round needs local_gap, smoothness"),
        ({"smoothness": "much"}, "smoothness must be a number, a range a:b:n or a:b:n:log, or a list; got 'much'"),
        ({"local_gap": "[[.02,.03,.05],[.02,.03]]"}, "local_gap must be a rectangular list of numbers"),
        ({"clients": "-3"}, "clients must be a whole number >= 1; got -3"),
        ({"smoothness": "1:2"}, "smoothness: a range is a:b:n or a:b:n:log; got '1:2'"),
        ({"smoothness": "1:2:inf"}, "smoothness: a range has a whole number of points from 1 to 1000000; got 'inf'"),
        ({"smoothness": "[" * 5000}, "smoothness: a list is [1,2,3] or [[1,2],[3,4]]"),
        ({"smoothness": "@absent.json"}, "absent.json: No such file"),
        ({"smoothness": "@"}, "@ needs the name of a JSON file"),
        ({"non_iidness": "uniform"}, "non_iidness cannot be 'uniform'; only client_weight can"),
    ],
)
def test_a_value_that_is_nonsense(refused, changes, said):
    if "clients" in changes and changes["clients"] == "-3":
        changes = changes | {"client_weight": "1", "local_gap": ".1", "non_iidness": ".1"}
    assert said in refused(*evaluated(**changes))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["evaluate", ONE], "unknown verb 'evaluate'; did you mean"),
        (["eval", "fedals.one_rond"], "unknown bound 'fedals.one_rond'; did you mean 'fedals.one_round'"),
        (["eval", "xxxxx"], f"unknown bound 'xxxxx'; there are {len(BOUNDS)}, such as "),
        (["eval"], "the following arguments are required: NAME; see fedbounds eval --help"),
        (["eval", ONE, "--outsied"], "--outsied"),
        (["eval", ONE, "smoothness"], "expected quantity=value or @file.json; got 'smoothness'"),
        (["eval", ONE, "smoothness=1", "smoothness=2"], "smoothness is given twice"),
        (["list", "--paper", "fedasl"], "unknown paper 'fedasl'; did you mean 'fedals'"),
        (["show", ONE, "smoothness=1"], "--sensitivity"),
        (["show", ONE, "--latex", "--json"], "leave out --latex"),
        (["minimize", ONE], "give over=QUANTITY once"),
        (["minimize", ONE, "over=smothness"], "did you mean 'smoothness'"),
        (["minimize", ONE, "over=smoothness", "smoothness=3"], "smoothness is what is asked for"),
        (["solve", ONE, "for=smoothness"], "give target=NUMBER once"),
        (["solve", ONE, "for=smoothness", "target=low"], "target must be a number; got 'low'"),
        (["solve", ONE, "for=smoothness", "target=1,2"], "target must be a number; got '1,2'"),
        (["solve", ONE, "for=smoothness", "target=1", "--largest", "--smallest"], "not allowed with"),
        (["plot", "x=smoothness=1:2:3"], "plot needs the name of a bound"),
        (["plot", ONE], "give x=QUANTITY=a:b:n once"),
        (["plot", ONE, "smoothness=1:2:3", "clients=2:9:8"], "give x=QUANTITY=a:b:n once"),
        (["plot", ONE, "x=smoothness"], "x must be QUANTITY=a:b:n"),
        (["plot", ONE, "x=smothness=1:2:3"], "did you mean 'smoothness'"),
        (["validate", "fedals.none"], "fedals.one_round"),
    ],
)
def test_a_command_line_that_cannot_be_read(refused, words, said):
    assert said in refused(*words)


def test_a_plot_that_cannot_be_drawn(refused, tmp_path):
    at = [f"{name}={text}" for name, text in GOOD.items() if name != "smoothness"]
    assert "two or more different points" in refused("plot", ONE, "x=smoothness=2", *at)
    other = ["decaying_k.runtime_fixed", "x=smoothness=1:2:3"]
    assert "their units are loss, second" in refused("plot", ONE, *other, *at)
    many = ["x=smoothness=1:2:3", *(a for a in at if "strong" not in a), "strong_convexity=.1:.9:9"]
    assert "9 curves are too many" in refused("plot", ONE, *many)
    nowhere = tmp_path / "no" / "such" / "folder.svg"
    assert "No such file" in refused("plot", ONE, "x=smoothness=1:2:3", *at, "-o", nowhere)
    assert "unknown picture format '.xyz'" in refused(
        "plot", ONE, "x=smoothness=1:2:3", *at, "-o", tmp_path / "picture.xyz"
    )


def test_a_plot_that_cannot_be_written_leaves_nothing_behind(refused, tmp_path):
    at = [f"{name}={text}" for name, text in GOOD.items() if name != "smoothness"]
    plot = ["plot", ONE, "x=smoothness=1:2:3", *at, "-o"]
    assert "-o needs the name of a file" in refused(*plot, "")
    assert "/dev/full is not a file" in refused(*plot, "/dev/full")
    assert "is a folder" in refused(*plot, tmp_path)
    (tmp_path / "numbers.csv").mkdir()
    assert "numbers.csv" in refused(*plot, tmp_path / "numbers.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.csv"]


def test_a_mistake_of_any_length_is_one_line_that_can_be_read(refused):
    for words in (["eval", "x" * 9000], ["eval", ONE, "y" * 9000 + "=1"], ["list", "--paper", ""]):
        assert len(refused(*words)) < 300


def a_file(folder: Path, text: str) -> Path:
    file = folder / "own.py"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nif x\n", "own.py, line 2: expected ':'"),
        ("x = 1\n\ny = x / 0\n", "own.py, line 3: ZeroDivisionError"),
        ("import no_such_module_here\n", "own.py, line 1: ModuleNotFoundError"),
        ("def f():\n    raise KeyError('a\\nb')\n\nf()\n", "own.py, line 2: KeyError"),
        ("import sys\nsys.exit(3)\n", "own.py, line 2: SystemExit"),
        ("from bounds import quantity\nquantity('a b', 'a', 'no word')\n", "own.py, line 2: a quantity's name"),
        ("x = 1\n", "own.py holds no Bound"),
        ("from bounds import get\nmine = get('fedals.one_round')\n", "unknown bound in"),
        ("from bounds import get\nmein = get('fedals.one_round')\nmy_bound = 3\n", "of type int, not a Bound"),
    ],
)
def test_a_file_of_ones_own_that_does_not_work(refused, tmp_path, text, said):
    assert said in refused("show", f"{a_file(tmp_path, text)}:my_bound")


def test_a_file_that_is_no_text_is_named(refused, tmp_path):
    file = a_file(tmp_path, "x = 1\0")
    assert refused("show", f"{file}:my_bound").startswith(f"fedbounds: {file}: ")


@pytest.mark.parametrize("body", ["erf(L)", "gamma(L)", "LambertW(L)"])
def test_a_formula_that_numpy_cannot_compute_is_refused(refused, tmp_path, body):
    text = "import sympy as sp\nfrom bounds import Bound, Source\nfrom bounds.vocabulary import smoothness as L\n"
    declared = f"Bound(name='own', target=L, terms={{'a': sp.{body}}}, source=Source('notes', '1'))"
    file = a_file(tmp_path, f"{text}mine = {declared}\n")
    said = refused("eval", f"{file}:mine", "smoothness=1.3,2.7")
    assert "bound 'own': term 'a' holds" in said
    assert f"NumPy has no function {body.partition('(')[0]}" in said


def test_a_file_named_without_its_variable_lists_its_bounds(refused, tmp_path):
    file = a_file(tmp_path, "from bounds import get\nmine = get('fedals.one_round')\n")
    assert "write path/file.py:variable; bounds in it: mine" in refused("show", file)
    assert "did you mean 'mine'" in refused("show", f"{file}:mime")
    assert "No such file" in refused("show", f"{tmp_path / 'absent.py'}:mine")


def test_what_a_file_prints_stays_out_of_the_answer(capsys, tmp_path):
    file = a_file(tmp_path, "from bounds import get\nprint('hello')\nmine = get('fedals.one_round')\n")
    assert fedbounds.main(["show", f"{file}:mine", "--latex"]) == 0
    out, err = capsys.readouterr()
    assert err == "hello\n"
    assert "hello" not in out
    assert not list(tmp_path.glob("__pycache__"))


def test_a_file_may_import_its_neighbours(capsys, tmp_path):
    (tmp_path / "my_neighbour.py").write_text("NAME = 'fedals.one_round'\n")
    text = "from bounds import get\nfrom my_neighbour import NAME\nmine = get(NAME)\n"
    assert fedbounds.main(["show", f"{a_file(tmp_path, text)}:mine", "--latex"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("raise KeyboardInterrupt", "line 5: KeyboardInterrupt"),
        ("raise SystemExit", "line 5: SystemExit"),
        ("raise SystemExit(0)", "line 5: SystemExit: 0"),
        ("raise Stop('here')", "line 5: Stop: here"),
        ("raise GeneratorExit", "line 5: GeneratorExit"),
        ("raise Silent", "line 5: Silent"),
        ("return f(f)", "line 5: RecursionError"),
    ],
)
def test_whatever_a_file_raises_is_a_line_that_names_it(refused, tmp_path, raised, said):
    classes = "class Stop(BaseException): pass\nclass Silent(Exception):\n    __str__ = None\n"
    text = f"{classes}def f(g):\n    {raised}\nf(f)\n"
    assert f"own.py, {said}" in refused("show", f"{a_file(tmp_path, text)}:mine")


def test_ctrl_c_while_a_file_runs_is_no_mistake_of_the_file(capsys, tmp_path):
    file = a_file(tmp_path, "import signal\nsignal.raise_signal(signal.SIGINT)\n")
    assert fedbounds.main(["show", f"{file}:mine"]) == 130
    assert capsys.readouterr().err == "fedbounds: interrupted\n"


HOOK = """\
from dataclasses import dataclass
from empirics.algorithms.algorithm import fedavg, renamed

class Stop(BaseException):
    pass

@dataclass(frozen=True)
class Step:
    def __call__(self, work, w, gradient, gradient_at):
        {}

mine = renamed(fedavg, "mine", direction=Step())
"""


@pytest.mark.parametrize(
    "raised",
    ["raise KeyboardInterrupt", "raise SystemExit(0)", "raise Stop", "raise OSError(5)", "raise StopIteration"],
)
def test_whatever_a_hook_raises_is_a_line_that_names_its_file(capsys, tmp_path, raised):
    file = a_file(tmp_path, HOOK.format(raised))
    status = fedbounds.main(["train", "--problem", "softmax(iris)", "--clients", "4", "--algorithm", f"{file}:mine"])
    err = capsys.readouterr().err
    assert (status, err.count("\n")) == (2, 1)
    assert "own.py, line 10: " in err


DIRECTIONS = ["None", "3", "gradient.tolist()", "gradient.bool()", "gradient * 2j", "gradient.to_sparse()"]


@pytest.mark.parametrize("body", [*(f"return {found}" for found in DIRECTIONS), "yield gradient"])
def test_a_hook_that_answers_with_no_tensor_is_told(capsys, tmp_path, body):
    file = a_file(tmp_path, HOOK.format(body))
    assert fedbounds.main(["train", "--problem", "softmax(iris)", "--clients", "4", "--algorithm", f"{file}:mine"]) == 2
    assert "mine: the direction of a step must be a tensor of shape (4, 15)" in capsys.readouterr().err


OWN = """\
from empirics.algorithms.algorithm import fedavg, renamed

class Keeps:
    def __init__(self, begun, found):
        self.begun, self.found = begun, found

    def begin(self, model, clients):
        return self.begun

    def __call__(self, work, ends, model):
        return self.found

class Steps:
    needs_loss = False

    def __init__(self, found):
        self.found = found

    def __call__(self, state, steps, step_size):
        return self.found

mine = renamed(fedavg, {})
"""

ANSWERS = {
    "'x', start=lambda *a: None": "x: what start returns must be a tensor of shape (4, 15) like the models; got NoneT",
    "'x', start=lambda state, rows: state.model": "x: what start returns must be a tensor of shape (4, 15) like the m",
    "'x', steps=Steps(None)": "x: what steps returns must be (local steps >= 1, step size); got None",
    "'x', steps=Steps((0, 0.3))": "x: what steps returns must be (local steps >= 1, step size); got (0, 0.3)",
    "'x', steps=lambda *a: (3, 0.3)": "x: steps must say needs_loss; function does not",
    "'x', objective=lambda *a: 3": "function: an objective must return a tensor of losses that depends on the models;",
    "'x', combine=lambda *a: None": "x: what combine returns must be (model, vectors); got NoneType",
    "'x', combine=lambda work, ends: (ends, {})": "x: what combine returns, model, must be a tensor of shape (15,) li",
    "'x', combine=lambda work, ends: (ends[0], None)": "x: what combine returns, vectors, must be a dictionary of ten",
    "'x', remember=(Keeps(None, {}),)": "x: what a memory begins as must be (rows, vectors); got NoneType",
    "'x', remember=(Keeps(({}, {}), None),)": "x: what a memory returns must be a dictionary of tensors; got NoneType",
    "'x', remember=Keeps(({}, {}), {})": "x: remember must be a tuple of memories; got <",
    "'x', remember=(Steps(3),)": "x: a memory of remember must be callable as (work, ends, model) and begin",
    "'x', moves=lambda *a: 3": "x: what moves returns must be a tensor of shape (15,) or None; got int",
    "'x', direction=Steps": "x: direction must be an instance; got the class Steps: call it, Steps()",
    "'x', direction=None": "x: direction must be callable as (work, w, gradient, gradient_at); got None",
    "'x', combine=Steps(3)": "x: combine must be callable as (work, ends); Steps: missing a required argument: 'step_",
    "'x', also=7": "x: also must be an algorithm or None; got 7",
    "'x', personal='mine'": "x: personal must name a memory of it; got 'mine', it has nothing",
    "''": "name of an algorithm must be a line of text; got ''",
    "7": "name of an algorithm must be a line of text; got 7",
    "'my\\nown'": "name of an algorithm must be a line of text; got 'my\\nown'",
}


@pytest.mark.parametrize("hooks", ANSWERS)
def test_a_hook_that_is_none_or_answers_with_something_else_is_told(capsys, tmp_path, hooks):
    file = a_file(tmp_path, OWN.replace("renamed(fedavg, {})", f"renamed(fedavg, {hooks})"))
    assert fedbounds.main(["train", "--problem", "softmax(iris)", "--clients", "4", "--algorithm", f"{file}:mine"]) == 2
    err = capsys.readouterr().err
    assert ANSWERS[hooks] in err
    assert err.count("\n") == 1
