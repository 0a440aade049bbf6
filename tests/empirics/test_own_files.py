"""``path/file.py:variable``: a user's own algorithm, partition and problem, in this process and in workers."""

import csv
import json
from pathlib import Path

import pytest
import torch
from empirics_toys import ragged, small

from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from empirics.data.catalogue import digits
from empirics.experiments import Cell, Outcome, Store
from empirics.federation.partitions import partition
from empirics.problems.tasks import task
from empirics.training.engines import ClientLoop
from empirics.training.rounds import rounds
from empirics.training.setting import Setting
from fedbounds import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_algorithm.py"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(EXAMPLE.read_text() + "\nnumber = 3\nscale = SignStep\n")
    return path


def test_an_algorithm_of_a_file_does_what_the_file_says(file):
    own = algorithm(f"{file}:my_algorithm")
    gradient = torch.tensor([[0.5, -0.25, 0.0], [3.0, 0.0, -1.5]])
    step = own.direction(None, None, gradient, None)
    torch.testing.assert_close(step, 0.5 * torch.tensor([[0.25, -0.25, 0.0], [1.5, 0.0, -1.5]]))
    assert own.name == "sign_sgd(scale=0.5)"
    assert algorithm(f" {file}:my_algorithm ") is own  # the file is run once


BREAKS = """\
from dataclasses import dataclass
from empirics.algorithms.algorithm import fedavg, renamed
CALLS = []
@dataclass(frozen=True)
class Breaks:
    def __call__(self, work, w, gradient, gradient_at):
        CALLS.append(1)
        return gradient if len(CALLS) < {after} else gradient / missing
breaks = renamed(fedavg, "breaks()", direction=Breaks())
"""


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("after", [1, 25])
@pytest.mark.parametrize("verb", ["train", "sweep"])
def test_an_algorithm_that_raises_names_file_and_line(tmp_path, capsys, verb, after, imported):
    """At once or in a later round, from the file itself or from a neighbour that it imports."""
    inner = tmp_path / f"inner_{verb}_{after}.py"
    own = tmp_path / "outer.py" if imported else inner
    own.write_text(f"from {inner.stem} import breaks\n")
    inner.write_text(BREAKS.format(after=after))
    if verb == "train":
        words = [
            "--problem",
            "softmax(iris)",
            "--clients",
            "2",
            "--rounds",
            "9",
            "--local-steps",
            "4",
            "--algorithm",
            f"{own}:breaks",
        ]
    else:
        grid = {
            "problem": "softmax(iris)",
            "clients": 2,
            "rounds": 9,
            "local_steps": 4,
            "seed": 3,
            "algorithm": f"{own}:breaks",
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in {**grid, "measure": ["train_loss"]}.items()]
        (tmp_path / "g.toml").write_text("\n".join(["[fixed]", *lines]))
        words = [str(tmp_path / "g.toml"), "--workers", "0", "--store", str(tmp_path / "store")]
    assert main([verb, *words]) == (1 if verb == "sweep" and after > 1 else 2)
    assert f"{inner}, line 8: NameError: name 'missing' is not defined" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raised", "after"), [("SystemExit(0)", 1), ("KeyboardInterrupt", 1), ("KeyboardInterrupt", 25)]
)
def test_an_algorithm_that_would_end_its_worker_names_file_and_line(tmp_path, capfd, raised, after):
    """Before a sweep starts and in a later round, raised by a neighbour of the file."""
    inner, own = tmp_path / f"ends_{after}.py", tmp_path / "outer.py"
    own.write_text(f"from {inner.stem} import breaks\n")
    quits = f"if len(CALLS) >= {after}:\n            raise {raised}\n        return gradient\n"
    inner.write_text(BREAKS.replace("return gradient if len(CALLS) < {after} else gradient / missing\n", quits))
    grid = {"problem": "softmax(iris)", "clients": 2, "rounds": 9, "local_steps": 4, "seed": 3}
    grid |= {"algorithm": f"{own}:breaks", "measure": ["train_loss"]}
    lines = [f"{name} = {json.dumps(value)}" for name, value in grid.items()]
    (tmp_path / "g.toml").write_text("\n".join(["[fixed]", *lines]))
    status = main(["sweep", str(tmp_path / "g.toml"), "--workers", "1", "--store", str(tmp_path / "store")])
    assert status == (1 if after > 1 else 2)
    err = capfd.readouterr().err
    assert f"{inner}, line 9: {raised.partition('(')[0]}" in err
    assert "Traceback" not in err


def test_a_partition_and_a_problem_of_a_file(file):
    dealt = partition(f"{file}:my_partition")
    assert str(dealt) == "inturn()"
    problem = task(f"{file}:my_problem").deal(f"{file}:my_partition", 5, 0)
    assert problem.client_sizes == (36, 36, 36, 35, 35)
    assert problem.federation.samples(2)[1].tolist() == task("softmax(wine)").data.targets[2::5].tolist()
    assert [part.tolist()[:2] for part in dealt(digits(), 700, 0)][-1] == [699, 1399]


def test_a_file_that_changed_is_run_again(file):
    first = partition(f"{file}:my_partition")
    file.write_text(file.read_text().replace("class InTurn", "class Dealt").replace("InTurn()", "Dealt()"))
    assert str(first) != str(partition(f"{file}:my_partition")) == "dealt()"


def test_workers_know_what_a_file_defines(file, two):
    own = algorithm(f"{file}:my_algorithm")
    setting = Setting(rounds=2, cohort=4, batch=8, step_size=0.11, local_steps=3)
    ends = [list(rounds(small(), ragged(), own, setting, 3, e))[-1].model for e in (two, ClientLoop())]
    assert torch.equal(*ends)


MISTAKES = {
    "{}/mine.py:my_algoritm": "unknown algorithm in {}/mine.py 'my_algoritm'; did you mean 'my_algorithm'?",
    "{}/mine.py:number": "number in {}/mine.py is of type int, not an Algorithm; algorithms in it: fedavg, my_",
    "{}/mine.py:scale": "scale in {}/mine.py is of type type, not an Algorithm; algorithms in it: fedavg, my_algorithm",
    "{}/mine.py": "write path/file.py:variable; algorithms in it: fedavg, my_algorithm",
    "{}/empty.py:x": "{}/empty.py holds no Algorithm",
    "relaxed('{}/mine.py:my_algorithm')": "relaxed must be given an algorithm first",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_one_clear_line(text, file):
    folder = file.parent
    (folder / "empty.py").touch()
    with pytest.raises(BoundsError) as raised:
        algorithm(text.format(folder))
    assert MISTAKES[text].format(folder) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--problem", "{}:my_partition"], "my_partition in {} is of type InTurn, not a Task"),
        (["--problem", "{}:my_problem", "--partition", "{}:my_algorithm"], "is of type Algorithm, not a Split"),
        (["--problem", "{}:my_problem", "--algorithm", "{}:my_problem"], "is of type Task, not an Algorithm"),
    ],
)
def test_the_command_says_it_too(options, says, file, capsys):
    assert main(["train", "--clients", "4", "--rounds", "1", *(o.format(file) for o in options)]) == 2
    printed = capsys.readouterr()
    assert says.format(file) in printed.err
    assert (printed.err.count("\n"), printed.out) == (1, "")


def test_the_command_trains_what_is_in_a_file(file, capsys):
    own = [f"--problem={file}:my_problem", f"--partition={file}:my_partition", f"--algorithm={file}:my_algorithm"]
    assert main(["train", *own, "--clients", "6", "--batch", "8", "--rounds", "3", "--measure", "train_loss"]) == 0
    assert capsys.readouterr().out.startswith("sign_sgd(scale=0.5), seed 0, round 3: train_loss ")
    assert main(["constants", *own[:2], "--clients", "6", "--batch", "8", "-o", str(file.parent / "c.json")]) == 0
    few = json.loads((file.parent / "c.json").read_text())
    assert max(few["client_gradient_variance"]) > 0
    assert main(["constants", *own[:2], "--clients", "6", "--batch", "500", "-o", str(file.parent / "c.json")]) == 0
    all_samples = json.loads((file.parent / "c.json").read_text())  # a batch larger than a client's data is all of them
    assert all_samples["client_gradient_variance"] == [0] * 6
    assert all_samples["sample_gradient_variance"] == few["sample_gradient_variance"]
    assert '"smoothness": ' in (file.parent / "c.json").read_text()


def test_a_result_of_a_file_that_has_changed_since_is_marked_as_stale(file, tmp_path, capsys):
    store = Store(tmp_path / "store")
    cells = []
    for step_size, more in ((0.1, ""), (0.3, "\n# another text\n")):
        file.write_text(file.read_text() + more)
        cells.append(Cell("train", {"problem": f"{file}:my_problem", "step_size": step_size}))
        store.keep(cells[-1], Outcome({}, {"minutes": 0.5}), 0.1)
    words = ["results", "--store", str(store.folder), "--csv"]
    assert main([*words, "--columns", "step_size", "stale"]) == 0
    told = capsys.readouterr()
    assert sorted(told.out.split()[1:]) == ["0.1,yes", "0.3,no"]
    assert "1 of these results are stale" in told.err
    assert main(words) == 0
    assert "stale" in capsys.readouterr().out.splitlines()[0]  # not only where it is asked for
    assert main([*words, "--columns", "step_size", "--", "stale=no"]) == 0
    told = capsys.readouterr()
    assert (told.out.split(), told.err) == (["step_size", "0.3"], "")
    file.unlink()  # then nobody knows
    assert main([*words, "stale=no"]) == 0
    assert capsys.readouterr().err == ""


def test_a_result_of_a_table_that_has_changed_since_is_stale(tmp_path, capsys):
    sheet, store = tmp_path / "my.csv", Store(tmp_path / "store")
    cells = []
    for step_size, number in ((0.1, 5.5), (0.3, 6.5)):
        sheet.write_text(f"x,y\n1.5,2\n{number},3\n")
        cells.append(Cell("train", {"problem": f"ridge(table('{sheet}', target='y'))", "step_size": step_size}))
        store.keep(cells[-1], Outcome({}, {"minutes": 0.5}), 0.1)
    assert main(["results", "--store", str(store.folder), "--csv", "--columns", "step_size", "stale"]) == 0
    assert sorted(capsys.readouterr().out.split()[1:]) == ["0.1,yes", "0.3,no"]


def test_kept_runs_of_a_table_that_has_changed_since_do_not_go_on(tmp_path, capsys):
    sheet = tmp_path / "my.csv"
    sheet.write_text("x,y\n1.5,2.5\n0.5,3.5\n0.25,4.5\n")
    words = ["train", "--problem", f"ridge(table('{sheet}', target='y'))", "--clients", "2", "--batch", "1"]
    words += ["--keep-state", str(tmp_path / "kept.pt"), "--rounds"]
    assert main([*words, "2"]) == main([*words, "3"]) == 0
    sheet.write_text(sheet.read_text().replace("0.25", "0.75"))
    capsys.readouterr()
    assert main([*words, "4"]) == 2
    assert "which makes other runs" in capsys.readouterr().err


def own_job(tmp_path, text):
    path = tmp_path / "jobs.py"
    path.write_text("from empirics.experiments import Outcome\n\n" + text)
    return f"{path}:own"


def swept(tmp_path, capsys, job, values, name="x"):
    """What ``results`` prints of a sweep over an own job's argument, as rows of CSV."""
    grid = tmp_path / "g.toml"
    grid.write_text(f'job = "{job}"\n[vary]\n{name} = {values}\n')
    store = ["--store", str(tmp_path / "store")]
    assert main(["sweep", str(grid), *store, "--workers", "0"]) == 0
    capsys.readouterr()
    assert main(["results", *store, "--csv"]) == 0
    return list(csv.DictReader(capsys.readouterr().out.splitlines()))


def test_false_is_not_zero_and_one_is_not_true(tmp_path, capsys):
    job = own_job(tmp_path, "def own(x=False, y=1) -> Outcome:\n    return Outcome({}, {'got': repr((x, y))})\n")
    rows = swept(tmp_path, capsys, job, "[false, 0, 0.1]")
    assert sorted(row["value"] for row in rows) == ["(0, 1)", "(0.1, 1)", "(False, 1)"]
    rows = swept(tmp_path, capsys, job, "[true, 1, 1.0]", name="y")
    assert sorted({row["value"] for row in rows}) == ["(0, 1)", "(0.1, 1)", "(False, 1)", "(False, True)"]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("{'accuracy': [x / 4]}", [("accuracy", "0.5", ""), ("accuracy", "0.75", "")]),
        ("{'accuracy': [0.5]}, {'size': 7 * x}", [("size", "14", ""), ("size", "21", "")]),
        ("{'round': [1, 2], 'loss': [9.5, x]}", [("loss", "2.0", "2"), ("loss", "3.0", "2")]),
        (
            "{'quantity': ['a'], 'value': [x]}",
            [("a", "2", ""), ("a", "3", "")],
        ),
    ],
)
def test_of_a_table_of_an_own_shape_the_facts_are_shown_or_itself(tmp_path, capsys, returned, expected):
    job = own_job(tmp_path, f"def own(x) -> Outcome:\n    return Outcome({returned})\n")
    rows = swept(tmp_path, capsys, job, "[2, 3]")
    assert [(row["quantity"], row["value"], row.get("round") or "") for row in rows] == expected


def test_a_table_of_several_rows_tells_them_apart(tmp_path, capsys):
    job = own_job(tmp_path, "def own(x) -> Outcome:\n    return Outcome({'a': [x, 2 * x], 'b': [5, 6]})\n")
    rows = swept(tmp_path, capsys, job, "[3]")
    assert [(r["row"], r["quantity"], r["value"]) for r in rows] == [
        ("1", "a", "3"), ("1", "b", "5"), ("2", "a", "6"), ("2", "b", "6"),
    ]  # fmt: skip


def test_a_number_too_small_for_a_float_is_no_zero_in_a_grid(tmp_path, capsys):
    grid = tmp_path / "g.toml"
    grid.write_text("[vary]\nstep_size = [1e-400, 0.1]\n")
    assert main(["sweep", str(grid), "--store", str(tmp_path / "store")]) == 2
    assert "of a size that a floating-point number can have" in capsys.readouterr().err
