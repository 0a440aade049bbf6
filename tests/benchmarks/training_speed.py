"""The project against the federated-learning simulators that install from a package index, on the same work.

    python tests/benchmarks/training_speed.py --cache FOLDER [--repeats 3] [--write]

``peers/training_work.py`` says what the work is; every run reports the loss after a fixed round, so that one that does
other work is seen. Each peer lives in an environment of its own under ``--cache``, made when it is missing, with the
same build of torch as here. Repeats are interleaved, figures are medians. One core: the process is pinned to one core
and CPU seconds per round count, which neighbours disturb least (for Flower those of all its processes). Two cores: wall
seconds. Exit status 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from results import machine, publish, table

HERE = Path(__file__).resolve().parent
PEERS = {  # driver, and what pip is told, call by call
    "pfl-research": ("pfl_research.py", ["pfl[pytorch] scikit-learn"]),
    # Version 2 says it needs a newer Python than it does; version 3 needs one that is free-threaded.
    "BlazeFL": ("blaze.py", ["torch tqdm scikit-learn", "--no-deps --ignore-requires-python blazefl<3"]),
    "Flower": ("flower.py", ["flwr[simulation] torch scikit-learn"]),
}
OURS, COMPILED, PLAIN = "fedbounds", "fedbounds, compiled", "plain loop"
CELLS = [("softmax", "20of20", 5, 1), ("softmax", "20of20", 20, 1), ("softmax", "10of100", 5, 1),
         ("softmax", "10of100", 20, 1), ("cnn", "20of20", 5, 1), ("cnn", "20of20", 20, 1), ("cnn", "10of100", 5, 1),
         ("cnn", "10of100", 20, 1), ("softmax", "20of20", 5, 2), ("cnn", "20of20", 5, 2)]  # fmt: skip
QUICK = [("softmax", "20of20", 5, 1), ("cnn", "20of20", 5, 1), ("softmax", "20of20", 5, 2), ("cnn", "20of20", 5, 2)]
TARGETS = [  # who, cell, rival, at least so many times faster
    (OURS, ("softmax", "20of20", 5, 1), "pfl-research", 15.0),
    (OURS, ("cnn", "20of20", 5, 1), "best", 1.2),
    (OURS, ("cnn", "20of20", 5, 2), "best", 1.6),
    (COMPILED, ("cnn", "20of20", 5, 1), "best", 3.5),
    (COMPILED, ("cnn", "20of20", 5, 2), "best", 5.0),
]
LOSSES = {("softmax", "20of20", 5): 1.8417, ("cnn", "20of20", 5): 2.252}
Cell = tuple[str, str, int, int]


# ---- peers ----


def environment(cache: Path, name: str, calls: list[str]) -> Path | str:
    """The interpreter of a peer's environment, made by these calls of pip; or why there is none."""
    import torch

    folder, constraints, wanted = cache / name, cache / "constraints.txt", "\n".join([torch.__version__, *calls])
    python, ready = folder / "bin/python", folder / ".ready"
    if ready.exists() and ready.read_text() == wanted:
        return python
    cache.mkdir(parents=True, exist_ok=True)
    constraints.write_text(f"torch=={torch.__version__}\n")
    venv.create(folder, with_pip=True, clear=True)
    for call in calls:
        command = [python, "-m", "pip", "install", "--quiet", "-c", constraints, *call.split()]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return f"not installed: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}"
    ready.write_text(wanted)
    return python


def run(python: Path, driver: str, cell: Cell, seconds: float) -> dict[str, Any] | str:
    """One run of a driver: its result, or its last words."""
    task, setting, steps, cores = cell
    name, *words = driver.split()
    command = [python, HERE / "peers" / name, *words, "--task", task, "--setting", setting, "--steps", str(steps),
               "--cores", str(cores), "--seconds", str(seconds)]  # fmt: skip
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        return "no result in 900 s"
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    result: dict[str, Any] = json.loads(lines[-1].removeprefix("RESULT "))
    return result


def compare(
    drivers: dict[str, tuple[Path, str]], cells: list[Cell], repeats: int, seconds: float
) -> dict[Any, list[Any]]:
    """The results of every driver in every cell, one run of all after another."""
    results: dict[Any, list[Any]] = {(name, cell): [] for name in drivers for cell in cells}
    for repeat in range(repeats):
        for cell in cells:
            for name, (python, driver) in drivers.items():
                result = run(python, driver, cell, seconds)
                results[name, cell].append(result)
                print(f"{repeat + 1}/{repeats} {cell} {name}: {_short(result, cell)}", file=sys.stderr, flush=True)
    return results


def _short(result: dict[str, Any] | str, cell: Cell) -> str:
    return result if isinstance(result, str) else f"{1e3 * _seconds(result, cell):.4g} ms, loss {result['loss']:.4f}"


def _seconds(result: dict[str, Any], cell: Cell) -> float:
    value: float = result["cpu"] if cell[3] == 1 else result["wall"]
    return value


def medians(results: dict[Any, list[Any]]) -> dict[Any, float]:
    """Median seconds per round by (driver, cell), without the runs that failed."""
    found = {}
    for (name, cell), runs in results.items():
        good = [_seconds(r, cell) for r in runs if not isinstance(r, str)]
        if good:
            found[name, cell] = statistics.median(good)
    return found


def peer_rows(drivers: Any, cells: list[Cell], spent: dict[Any, float]) -> list[dict[str, Any]]:
    """Milliseconds per round, and in brackets how many times what this project takes."""
    rows = []
    for name in drivers:
        row: dict[str, Any] = {"ms per round (times ours)": name}
        for cell in cells:
            mine, theirs = spent.get((OURS, cell)), spent.get((name, cell))
            if theirs is None or mine is None:
                row[title(cell)] = "-"
            else:
                row[title(cell)] = f"{1e3 * theirs:.3g}" + ("" if name == OURS else f" ({theirs / mine:.3g}x)")
        rows.append(row)
    return rows


def title(cell: Cell) -> str:
    task, setting, steps, cores = cell
    return f"{task} {setting} K={steps}, {'1 core' if cores == 1 else f'{cores} cores'}"


def verdicts(cells: list[Cell], spent: dict[Any, float]) -> list[tuple[str, bool]]:
    """Every target in words and whether it is met."""
    said = []
    for who, cell, rival, wanted in TARGETS:
        rivals = {n: s for (n, c), s in spent.items() if c == cell and n in ([rival] if rival != "best" else PEERS)}
        if cell not in cells or not rivals or (who, cell) not in spent:
            continue
        best = min(rivals, key=lambda n: rivals[n])
        ratio = rivals[best] / spent[who, cell]
        met = ratio >= wanted
        said.append(
            (f"{who}, {title(cell)}: {ratio:.2f} times {best} (target {wanted:g}){'' if met else ', MISSED'}", met)
        )
    return said


def loss_rows(results: dict[Any, list[Any]]) -> list[dict[str, Any]]:
    """What every driver reports about itself: check losses on the two reference cells, versions, others' load."""
    rows = []
    for name in dict.fromkeys(n for n, _ in results):
        row: dict[str, Any] = {"": name}
        runs = [(cell, r) for (n, cell), rs in results.items() if n == name for r in rs if not isinstance(r, str)]
        for reference, wanted in LOSSES.items():
            losses = [r["loss"] for cell, r in runs if cell[:3] == reference]
            row[f"{reference[0]} loss ({wanted})"] = f"{statistics.median(losses):.4f}" if losses else "-"
        row["others' cores"] = f"{statistics.median(r['others'] for _, r in runs):.2f}" if runs else "-"
        row["versions"] = ", ".join(f"{k} {v}" for k, v in runs[0][1]["versions"].items()) if runs else "-"
        rows.append(row)
    return rows


def peers_report(options: argparse.Namespace) -> tuple[str, bool]:
    drivers: dict[str, tuple[Path, str]] = {OURS: (Path(sys.executable), "fedbounds.py")}
    drivers[COMPILED] = (Path(sys.executable), "fedbounds.py --engine compiled")
    drivers[PLAIN] = (Path(sys.executable), "plain_loop.py")
    missing = []
    for name, (driver, calls) in PEERS.items():
        python = environment(options.cache, name, calls)
        if isinstance(python, str):
            missing.append(f"{name}: {python}")
        else:
            drivers[name] = (python, driver)
    cells = [c for c in (CELLS if options.all else QUICK) if options.only in title(c)]
    results = compare(drivers, cells, options.repeats, options.seconds)
    spent = medians(results)
    said = verdicts(cells, spent)
    failed = [f"{n}, {title(c)}: {r}" for (n, c), rs in results.items() for r in rs if isinstance(r, str)]
    lines = [PEERS_TEXT.format(repeats=options.repeats), table(peer_rows(drivers, cells, spent)), ""]
    lines += [f"* {text}" for text, _ in said] + [f"* {text}" for text in dict.fromkeys(missing + failed)]
    lines += ["", table(loss_rows(results))]
    return "\n".join(lines), all(met for _, met in said)


PEERS_TEXT = """## Against other simulators

FedAvg, 160 samples per client, K local steps of batch 32 (see `peers/training_work.py`). One core: CPU milliseconds per
round of a process pinned to one core; two cores: wall milliseconds, worth what the load of others allows. Medians of
{repeats} interleaved runs. *plain loop*: deep copy, DataLoader, optimiser, average of states.
"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True, help="folder for the peers' environments")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of rounds per run")
    parser.add_argument("--all", action="store_true", help="all settings and numbers of steps")
    parser.add_argument("--only", default="", help="cells whose title holds this, such as 'cnn 20of20 K=5, 1 core'")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    options = parser.parse_args(arguments)
    told, met = peers_report(options)
    head = (
        "# Training: speed and memory\n\nWritten by `python tests/benchmarks/training_speed.py --cache FOLDER --write`"
    )
    report = f"{head}.\n{machine()}.\n\n{told}\n"
    publish(report, options.write)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
