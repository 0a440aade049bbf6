"""``path/file.py:variable``: a user's own algorithm, partition, problem and job, in this process and in workers."""

import json
from pathlib import Path

import pytest
import torch
from refusals import all_refused, refusal

from empirics.algorithms import algorithm
from empirics.data.catalogue import digits
from empirics.experiments import Cell, Outcome, Store
from empirics.experiments.running import run_missing
from empirics.federation.partitions import partition
from empirics.problems.tasks import task

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


def test_a_partition_and_a_problem_of_a_file_which_is_run_again_once_it_changed(file):
    dealt = partition(f"{file}:my_partition")
    assert str(dealt) == "inturn()"
    problem = task(f"{file}:my_problem").deal(f"{file}:my_partition", 5, 0)
    assert problem.client_sizes == (36, 36, 36, 35, 35)
    assert problem.federation.samples(2)[1].tolist() == task("softmax(wine)").data.targets[2::5].tolist()
    assert [part.tolist()[:2] for part in dealt(digits(), 700, 0)][-1] == [699, 1399]
    file.write_text(file.read_text().replace("class InTurn", "class Dealt").replace("InTurn()", "Dealt()"))
    assert str(partition(f"{file}:my_partition")) == "dealt()"


def test_the_command_trains_what_is_in_a_file(file, run):
    own = [f"--problem={file}:my_problem", f"--partition={file}:my_partition", f"--algorithm={file}:my_algorithm"]
    status, out, _ = run("train", *own, "--clients", "6", "--batch", "8", "--rounds", "3", "--measure", "train_loss")
    assert status == 0
    assert out.startswith("sign_sgd(scale=0.5), seed 0, round 3: train_loss ")
    found = []
    for batch in (8, 500):
        assert run("constants", *own[:2], "--clients=6", f"--batch={batch}", "-o", file.with_name("c.json"))[0] == 0
        found.append(json.loads(file.with_name("c.json").read_text()))
    few, all_samples = found
    assert max(few["client_gradient_variance"]) > 0
    assert all_samples["client_gradient_variance"] == [0] * 6  # a larger batch than a client's data is all of them
    assert all_samples["sample_gradient_variance"] == few["sample_gradient_variance"]
    assert few["smoothness"] > 0


def test_a_mistake_is_one_clear_line(file, refused):
    (file.parent / "empty.py").touch()
    names = {
        f"{file}:my_algoritm": f"{file} 'my_algoritm' 'my_algorithm'",
        f"{file}:number": f"number {file} int Algorithm my_algorithm",
        f"{file}:scale": f"scale {file} type Algorithm my_algorithm",
        f"{file}": "path/file.py:variable fedavg my_algorithm",
        f"{file.parent}/empty.py:x": f"{file.parent}/empty.py Algorithm",
        f"relaxed('{file}:my_algorithm')": "relaxed",
    }
    all_refused(names, lambda text: refusal(algorithm, text))
    options = {
        f"--problem {file}:my_partition": f"my_partition {file} InTurn Task",
        f"--problem {file}:my_problem --partition {file}:my_algorithm": f"{file} Algorithm Split",
        f"--problem {file}:my_problem --algorithm {file}:my_problem": f"{file} Task Algorithm",
    }
    all_refused(options, lambda words: refused("train", "--clients", "4", "--rounds", "1", *words.split()))


def test_a_result_of_a_file_or_table_that_has_changed_since_is_marked_as_stale(file, tmp_path, run):
    sheet = tmp_path / "my.csv"
    problems = {file: f"{file}:my_problem", sheet: f"ridge(table('{sheet}', target='y'))"}
    texts = {file: (file.read_text(), f"{file.read_text()}\n# other\n"), sheet: ("x,y\n1.5,2\n", "x,y\n1.5,3\n")}
    for path, problem in problems.items():
        store = Store(tmp_path / path.stem)
        for step_size, text in zip((0.1, 0.3), texts[path], strict=True):
            path.write_text(text)
            store.keep(Cell("train", {"problem": problem, "step_size": step_size}), Outcome({}, {"minutes": 0.5}), 0.1)
        words = ["results", "--store", store.folder, "--csv"]
        status, out, err = run(*words, "--columns", "step_size", "stale")
        assert status == 0
        assert sorted(out.split()[1:]) == ["0.1,yes", "0.3,no"]
        assert "1 of these results" in err
        assert "stale" in run(*words)[1].splitlines()[0]  # not only where it is asked for
        status, out, err = run(*words, "--columns", "step_size", "--", "stale=no")
        assert (status, out.split(), err) == (0, ["step_size", "0.3"], "")
        path.unlink()  # then nobody knows
        assert run(*words, "stale=no")[::2] == (0, "")


def test_kept_runs_of_a_table_that_has_changed_since_do_not_go_on(tmp_path, run):
    sheet = tmp_path / "my.csv"
    sheet.write_text("x,y\n1.5,2.5\n0.5,3.5\n0.25,4.5\n")
    words = ["train", "--problem", f"ridge(table('{sheet}', target='y'))", "--clients", "2", "--batch", "1"]
    words += ["--keep-state", tmp_path / "kept.pt", "--rounds"]
    assert run(*words, "2")[0] == run(*words, "3")[0] == 0
    sheet.write_text(sheet.read_text().replace("0.25", "0.75"))
    status, _, err = run(*words, "4")
    assert status == 2
    assert "kept.pt" in err


def test_false_is_not_zero_and_one_is_not_true(tmp_path, store):
    job = "def own(x=False, y=1) -> Outcome:\n    return Outcome({}, {'got': repr((x, y))})\n"
    (tmp_path / "jobs.py").write_text("from empirics.experiments import Outcome\n\n" + job)
    words = [{"x": False}, {"x": 0}, {"x": 0.1}, {"y": True}, {"y": 1}, {"y": 1.0}]
    run_missing([Cell(f"{tmp_path / 'jobs.py'}:own", each) for each in words], store, workers=0)
    found = sorted(kept.card["facts"]["got"] for kept in store)
    assert found == ["(0, 1)", "(0.1, 1)", "(False, 1)", "(False, True)"]
