"""Runs that go on: with every method the same bits as at once, in the rows too; and what would make another run."""

import re

import pytest
import torch
from empirics_toys import needs_an_algorithm
from refusals import all_refused

from empirics.algorithms import algorithm, ALGORITHMS
from empirics.measuring import measurement, Run
from empirics.measuring.kept import CLASSES, FORMAT, Keeper, KeptRun, read
from empirics.problems.tasks import task
from empirics.training.setting import Setting
from empirics.training.threads import single_thread

FIRST, ALL, EVERY = 2, 4, 2
QUICK = {  # what else would take long, or begin after these rounds
    "fedcog": "(after=1, samples=7, steps=2)",
    "with_consensus_data": "(scaffold(), after=2, samples=7, steps=2)",
    "fedgen": "(generator_steps=2, hidden=9)",
    "vhl": "(per_class=5, batch=11)",
}
METHODS = [
    *(name + QUICK.get(name, "(scaffold())" if needs_an_algorithm(name) else "()") for name in ALGORITHMS),
    "scheduled(scaffold(), schedule='k_error', window=2)",
    "relaxed(feddyn(alpha=0.3), beta=0.07)",
]
MEASURED = ["train_loss", "divergence", "mean_divergence", "mean_grad_norm_sq", "round_averaged_gap",
            "exchanged_parameters"]  # fmt: skip


@pytest.fixture(scope="module")
def dealt():
    return task("femnist_dnn(held_out(digits))").deal("dirichlet(0.5)", clients=5, seed=3)


def run(problem, method, rounds, **how):
    setting = Setting(rounds=rounds, cohort=2, batch=7, local_steps=3, step_size=0.07, step_size_decay=0.93)
    return Run(problem, algorithm(method), setting, 3, [measurement(m) for m in MEASURED], EVERY, **how)


def tensors(state):
    """Everything that a state holds, by name."""
    found = {"model": state.model, **state.memory, **{f"server {k}": v for k, v in state.server.items()}}
    return found | {f"{k} {part}": t for k, e in state.exchanges.items() for part, t in e._asdict().items()}


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_goes_on_is_the_run_at_once_bit_by_bit(method, dealt, tmp_path):
    with single_thread():
        *_, (end, _) = at_once = list(run(dealt, method, ALL))
        keeper = Keeper(tmp_path / "kept.pt", {"a": [1, None]}, {})
        first, earlier = keeper.resumed(run(dealt, method, FIRST))
        assert earlier == []
        keeper.add(first, first.rows())
        keeper.write()
        second, earlier = Keeper(tmp_path / "kept.pt", {"a": [1, None]}, {}).resumed(run(dealt, method, ALL))
        *_, (reached, _) = later = list(second)
    assert [state.round for state, _ in later] == list(range(FIRST + 1, ALL + 1))
    assert [*earlier, *(row for _, rows in later for row in rows)] == [row for _, rows in at_once for row in rows]
    assert reached.losses == end.losses
    expected, found = tensors(end), tensors(reached)
    assert set(found) == set(expected)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_run_goes_on_from_where_it_was_kept_on_the_way_bit_by_bit(dealt, tmp_path):
    """Whatever becomes of the run after that: each round is kept in a file of its own, and one of them goes on."""
    rows = []

    def keep(reached):
        keeper = Keeper(tmp_path / f"{reached.state.round}.pt", {}, {})
        keeper.runs["fedinit(beta=0.3)", 3], keeper.changed = KeptRun(reached, list(rows)), True
        keeper.write()
        (again,) = read(keeper.path)[0].values()
        assert (again.reached.largest, again.reached.seconds) == (reached.largest, reached.seconds)
        assert again.rows == rows

    with single_thread():
        seen = []
        for state, told in run(dealt, "fedinit(beta=0.3)", ALL, keep=keep, keep_now=lambda: True):
            rows += told
            seen.append(state)
        assert {path.name for path in tmp_path.iterdir()} >= {f"{r}.pt" for r in range(1, ALL + 1)}
        going, earlier = Keeper(tmp_path / f"{FIRST}.pt", {}, {}).resumed(run(dealt, "fedinit(beta=0.3)", ALL))
        *_, (reached, _) = later = list(going)
    assert [*earlier, *(row for _, told in later for row in told)] == rows
    expected, found = tensors(seen[-1]), tensors(reached)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


WORDS = ["--problem", "softmax(held_out(digits))", "--clients", "6", "--cohort", "2", "--partition", "dirichlet(0.3)",
         "--batch", "7", "--local-steps", "3", "--every", "2", "--algorithm", "scaffold"]  # fmt: skip


@pytest.fixture
def train(tmp_path, monkeypatch, run):
    """Status, output and errors of ``fedbounds train`` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *more: run("train", *WORDS, *more)


def test_the_command_goes_on_with_more_rounds_seeds_and_methods(train, run, tmp_path):
    kept = ["--keep-state", "kept.pt"]
    assert train("--rounds", "3", *kept, "-o", "first.csv")[0] == 0
    more = ["--rounds", "5", "--seeds", "2", "--compare", "feddyn", "-o"]
    status, out, err = train(*more, "on.csv", *kept)
    assert (status, err) == (0, "")
    assert train(*more, "once.csv")[1].replace("once", "on") == out
    assert (tmp_path / "on.csv").read_bytes() == (tmp_path / "once.csv").read_bytes()
    assert (tmp_path / "first.csv").read_bytes() != (tmp_path / "once.csv").read_bytes()
    before = (tmp_path / "kept.pt").read_bytes()
    respelled = [word.replace("(held_out", "( held_out").replace("0.3", ".3") for word in WORDS]
    assert run("train", *respelled, *more, "again.csv", *kept)[0] == 0  # nothing is left to train
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "once.csv").read_bytes()
    assert (tmp_path / "kept.pt").read_bytes() == before
    train("--rounds", "3", "--step-size", "1e300", "--keep-state", "diverged.pt")
    assert not (tmp_path / "diverged.pt").exists()


def test_another_run_is_not_the_one_that_is_kept_and_leaves_it(train, tmp_path):
    assert train("--rounds", "3", "--keep-state", "kept.pt")[0] == 0
    (tmp_path / "notes.pt").write_text("milk, bread")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def line(more):
        words = more.split() if "--rounds" in more else ["--rounds", "5", *more.split()]
        status, _, err = train(*words, *([] if "--keep-state" in more else ["--keep-state", "kept.pt"]))
        assert status == 2
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        return err.splitlines()[-1]

    wrong = {
        "--rounds 2": "kept.pt 3 scaffold() --rounds 2",
        "--step-size 0.1": "kept.pt step_size=0.05 0.1",
        "--measure train_loss": "kept.pt measure=None 'train_loss'",
        "--engine compiled": "torch compiled-2 --engine",
        "--keep-state notes.pt": "notes.pt",
        "--keep-state kept.csv": "--keep-state .pt kept.csv",
        "--keep-state no/kept.pt": "--keep-state no/kept.pt",
    }
    all_refused(wrong, line)
    with torch.serialization.safe_globals(CLASSES):
        found = torch.load(tmp_path / "kept.pt", weights_only=True)
    torch.save({**found, "format": 7}, tmp_path / "kept.pt")
    assert re.search(rf"kept.pt.* 7.* {FORMAT}", train("--keep-state", "kept.pt")[2])
    torch.save({**found, "versions": {**found["versions"], "torch": "1.2.3"}}, tmp_path / "kept.pt")
    status, _, err = train("--rounds", "4", "--keep-state", "kept.pt")
    assert status == 0
    assert "kept.pt" in err  # kept with other versions, which is said
