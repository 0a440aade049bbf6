"""Tables 1 to 5: four methods, iid and not; several averaging periods alpha; several splits; settings."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

from bounds.catalog import get
from bounds.vocabulary import adaptation, extractor_size, head_size, iterations, local_steps
from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Content
from ..comparing import judge, Pair
from ..guards import Guard, POINT
from ..run_description import describe, ours_for_theirs
from ..runs import Runs
from ..sheets import by_position, comparison, entry, leads, text_table
from . import grid
from .findings import base_guards, caption, label, method_findings, results, TABLE_1, table_entry
from .grid import ALPHA, cells_of, LOCAL_STEPS, PLANS, printed_number, SETS, TEXT

# ---- Table 1: four methods ----


def methods(runs: Runs, scale: str) -> Content:
    rows = dict.fromkeys(method for method, _ in TABLE_1)
    split = {row: row.split(" ") for row in rows}
    used = {(c, row): cells_of(scale, c, method, on) for row, (method, on) in split.items() for c in SETS}
    entries = [table_entry(runs, scale, TABLE_1[row, c], row, c, cells) for (c, row), cells in used.items()]
    columns = [column for column in SETS if grid.data_set_for(scale, column)]
    findings = [finding for column in columns for finding in method_findings(runs, scale, column)]
    return comparison(caption(scale, f"Test accuracy (%), of {TEXT} test loss.", used), entries, findings)


# ---- Table 2: averaging periods ----

SENT, HERE = "ResNet-20: parameters sent and received (10^6)", "the same, counted in these runs"
MILLION = 1e6


@cache
def exchanged_parameters(alpha: int) -> float:
    """Return the parameters that a client exchanges in the paper's run, by its network's layers and the schedule."""
    from empirics.models.networks import network

    net = network("resnet20")
    head = sum(c.stop - c.start for name, c in net.layers.items() if name.startswith("head"))
    values: dict[Any, int] = {head_size: head, extractor_size: net.dim - head, local_steps: LOCAL_STEPS}
    values |= {iterations: int(printed_number("iterations non-iid")), adaptation: alpha}
    return float(get("fedals.communicated_parameters_table_2").expr.subs(values))


def periods(runs: Runs, scale: str) -> Content:
    paper, columns = table("fedals", "Table 2", version="v2"), ("CIFAR-10", "SVHN")
    rows, first = {row: int(row.partition("=")[2]) for row, _ in paper}, columns[0]
    used = {(c, row): cells_of(scale, c, row, "non-iid") for c in columns for row in rows}
    entries = []
    for row, alpha in rows.items():
        cells = used[first, row]
        counted = [runs.last(cell, "exchanged_parameters") / MILLION for cell in cells]
        sent = paper[row, "communicated parameters per client"]
        entries += [table_entry(runs, scale, paper[row, c], row, c, used[c, row]) for c in columns]
        entries += [
            entry(sent, row, SENT, [exchanged_parameters(alpha) / MILLION], over=MILLION),
            entry(None, row, HERE, counted, info=describe(cells, grid.paper_setting(first))),
        ]
    at, accuracy, rounds = by_position(entries), label(scale, first), PLANS[scale].rounds
    alphas = [a for a in rows.values() if a <= rounds.get(grid.data_set_for(scale, first), rounds[""])]

    def above(high: int, low: int, name: str = accuracy) -> Pair:
        return Pair(f"alpha={high} over alpha={low}", at[f"alpha={high}", name].ours, at[f"alpha={low}", name].ours)

    def guards(compared: list[int], cure: bool) -> list[Guard]:
        methods = {row: used[first, row] for row in rows if rows[row] in compared}
        return base_guards(runs, scale, first, methods, cure=cure)

    falls = guards([a for a in alphas if a >= 10], False)
    late = [above(a, b) for a, b in pairwise(alphas) if a >= 10]
    less_often = "averaging the extractor less often (alpha = 5 or 10) raises accuracy"
    findings = [
        judge(less_often, [above(a, 1) for a in (5, 10)], POINT, guards([1, 5, 10], True)),
        judge("beyond alpha = 10 accuracy falls all the way", late, POINT, falls),
        judge(
            "the larger alpha, the fewer parameters are sent and received",
            [above(a, b, HERE) for a, b in pairwise(alphas)],
        ),
    ]
    summary = (
        f"Test accuracy (%) for non-iid clients. The parameters are those of ResNet-20 with 3x3 shortcuts at the "
        f"paper's {printed_number('iterations non-iid')} iterations, by formula; beside them what a client of these "
        f"runs, with their network, sent and received."
    )
    shown = used | {(first, "FedAvg iid"): cells_of(scale, first, "FedAvg", "iid")}
    ranked = [e for e in entries if e.column not in (SENT, HERE)]
    return comparison(caption(scale, summary, shown), entries, findings, ranked=ranked)


# ---- Table 3: the first L layers are the extractor ----

BORDERS = table("fedals", "Table 3", version="v2")
LAYERS = tuple(int(row.partition("=")[2]) for row in dict.fromkeys(row for row, _ in BORDERS))
BEST = 16


def splits(runs: Runs, scale: str) -> Content:
    """Return Table 3; the printed numbers of layers are scaled to the network of this scale."""
    plan, columns = PLANS[scale], ("CIFAR-10", "CIFAR-100", "SVHN")
    every, shown, borders = plan.counts["layers"], plan.axes["splits"], dict(plan.axes["borders"])
    stands_for = {n: ours_for_theirs(f"{borders[n]} of {every}", f"{n} of 20") if n in borders else n for n in LAYERS}
    used = {
        (c, n): cells_of(scale, c, "FedALS", "non-iid", borders[n]) if n in borders and c in shown else []
        for c in columns
        for n in LAYERS
    }
    here = [c for c in columns if any(used[c, n] for n in LAYERS)]
    entries = []
    for n in LAYERS:
        note = f"{borders[n]} of {every} layers" if n in borders else "no like in this network"
        entries += [
            table_entry(runs, scale, BORDERS[f"L={n}", c], f"L={stands_for[n]}", c, used[c, n], note, shown)
            for c in columns
        ]
    findings = []
    for column in here:
        name = label(scale, column, shown)
        rows = {f"L={n}": used[column, n] for n in LAYERS if used[column, n]}
        words = f"the best split is after the first {stands_for[BEST]} layers, {name}"
        best = leads(entries, f"L={stands_for[BEST]}", columns=[name])
        findings.append(judge(words, best, POINT, base_guards(runs, scale, column, rows)))
    trained_too = {(c, f"L={stands_for[n]}"): cells for (c, n), cells in used.items()}
    for c in here:
        trained_too |= {(c, f"FedAvg {split}"): cells_of(scale, c, "FedAvg", split) for split in ("iid", "non-iid")}
    shortest = ", ".join(f"L = {n}" for n, border in borders.items() if border == min(borders.values()))
    summary = (
        f"Test accuracy (%), non-iid, alpha = {ALPHA}; L of the paper's 20 layers; with all layers in the extractor it "
        f"is FedAvg with {ALPHA * LOCAL_STEPS} local steps."
    )
    more = "" if scale == "paper" else f"L = 1 would be the run of {shortest}."
    return comparison(caption(scale, summary, trained_too, more=more), entries, findings)


# ---- Tables 4 and 5: settings as printed, beside the plan for the paper's scale ----

WORDS = {
    False: {
        "objective": ("cross entropy", "cross entropy"),
        "network": ("ResNet-20", "resnet20, group norm for batch norm"),
        "representation extractor": ("convolutional layers", "all layers but the last"),
        "head": ("dense layers at the end", "the last layer"),
        "non-iid": ("sorted by label, cut in that order", "sorted('label')"),
        "optimizer": ("SGD, Nesterov's momentum (main text: momentum)", "sgd, nesterov"),
        "step size": ("constant, tuned for each set, method and split; none printed", "0.01, where the search starts"),
    },
    True: {
        "objective": ("cross entropy", "next_token"),
        "network": ("OPT-125M, fine-tuned", "opt: its shape, tokens are bytes, random start"),
        "non-iid": ("sorted by genre, cut in that order", "sorted('group')"),
        "optimizer": ("AdamW", "adamw"),
        "step size": ("eta / (t/100 + 10), eta tuned, none printed", "harmonic, eta = 0.01"),
    },
}
"""Settings that are texts, the paper's and ours; True: of the language model."""


def planned_numbers(text: bool = False) -> dict[str, Any]:
    """Return the numbers of Table 4 or 5 in the plan for the paper's scale, read off its runs, network and rule."""
    from empirics.models.networks import Opt
    from empirics.training.step_sizes import harmonic

    plan, opt, (first, later) = PLANS["paper"], Opt(), (1 / float(harmonic(1.0, t)) for t in (0, 1))
    taken = {s: grid.arguments("paper", TEXT if text else "CIFAR-10", "FedALS", s) for s in ("iid", "non-iid")}
    given = taken["non-iid"]
    return {
        **{row: given[argument] for row, argument in grid.ARGUMENTS.items() if argument in given},
        **{f"iterations {split}": one["rounds"] * LOCAL_STEPS for split, one in taken.items()},
        "repetitions": plan.seeds,
        "rounds averaged for reported metric": plan.window,
        "adaptation coefficient alpha": int(given["algorithm"].partition("alpha=")[2].rstrip(")")),
        "representation extractor": opt.depth - opt.head_layers,
        "head": opt.head_layers,
        "learning-rate offset": first,
        "learning-rate time scale": round(1 / (later - first)),
    }


def searches(scale: str) -> list[Cell]:
    """Return the runs that search the step sizes of all other runs.

    While the best committed result lies at an end of a search, a further step size joins; they are complete when no
    run is left to do.
    """
    return [cell for cells in grid.step_size_searches(scale).values() for cell in cells]


def _searched(runs: Runs, scale: str) -> list[dict[str, Any]]:
    """Return a row for each search with the accuracy of every step size."""
    rows = []
    for (column, method, split), cells in grid.step_size_searches(scale).items():
        sizes = [cell.arguments["step_size"] for cell in cells]
        reached = dict(zip(sizes, results(runs, scale, column, cells), strict=True))
        tried = ", ".join(f"{size:g}: {reached[size]:.1f}" for size in sorted(reached)).replace("nan", "–")
        name = f"step size, {label(scale, column)}, {method} {split}"
        info = describe(cells, grid.paper_setting(column, split))
        rows.append({"setting": name, "printed": "–", "planned": tried, "ran": info})
    return rows


def settings(text: bool, runs: Runs, scale: str) -> Content:
    """Return Table 4 or 5 beside the numbers of the plan for the paper's scale, then the searches for step sizes."""
    printed, searched = (grid.TABLE_5, []) if text else (grid.TABLE_4, _searched(runs, scale))
    numbers = planned_numbers(text)
    listed = [(row, words, ours) for row, (words, ours) in WORDS[text].items()]
    listed += [(row, cell.value, f"{numbers[row]:g}") for (row, _), cell in printed.items()]
    rows = [{"setting": row, "printed": words, "planned": ours, "ran": None} for row, words, ours in listed]
    return text_table(
        "Settings as printed, in words of ours, and those of the runs at the paper's scale. 'Rounds averaged' are the "
        "last evaluations, every 20 rounds as in the released code. Momentum and moments restart every round."
        + (f" Below: accuracies (%) at the end of searches for step sizes, seed {grid.SEED}." if searched else ""),
        rows + searched,
        ["setting", "printed", "runs at the paper's scale"],
    )
