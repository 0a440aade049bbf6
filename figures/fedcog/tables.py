"""Tables 1 to 11: all methods, FedCOG on top of others, its cost, its parts, and what the paper sweeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Content
from ..comparing import judge, Pair
from ..drawing import ACCURACY
from ..guards import coefficient_effect, effect, gpu_times, Guard, POINT
from ..run_description import ours_for_theirs, problem_words
from ..runs import Runs
from ..sheets import by_position, comparison, entry, entry_rows, leads, printed_number
from ..substitutes import availability_note
from . import findings, grid
from .figures import local_guards, measured, MEASURES, one_round_cells
from .findings import accuracies, after_change, base_guards, caption, Compared, entries, ERROR, PLAIN, printed_value
from .grid import axis_values, columns, COMPARED, FEDCOG, KINDS, omission_note, PLANS, Setup

IN_SECONDS = "the paper prints seconds"

# ---- Table 1: all methods on three data sets, split in two ways ----

AVERAGE = "Avg."
SETTINGS = tuple(c for c in columns("1") if c != AVERAGE)


def setup_of(column: str) -> Setup:
    """Return the setup of a column; the average has that of the first column."""
    data, _, kind = (column if column != AVERAGE else SETTINGS[0]).rpartition(" ")
    return Setup(data, kind)


def methods_of(scale: str, column: str) -> tuple[str, ...]:
    """Return the methods that run in a column; none if its data are not run, even if a substitute is."""
    setup = setup_of(column)
    if setup.data not in PLANS[scale].networks or not grid.problem(scale, setup.data):
        return ()
    return (*axis_values(scale, f"methods {setup.kind}", axis_values(scale, "methods", tuple(grid.METHODS))), FEDCOG)


def all_methods(runs: Runs, scale: str) -> Content:
    """Return Table 1 and the paper's findings on the columns that were run."""
    cells_at = {(m, c): grid.cells(scale, m, setup_of(c)) for c in SETTINGS for m in methods_of(scale, c)}
    here = {
        c: f"{grid.data_name(scale, setup_of(c).data)} {setup_of(c).kind}" for c in SETTINGS if methods_of(scale, c)
    }  # fmt: skip
    listed = []
    for e in entries(runs, scale, "1", cells_at, setup=setup_of, named=lambda column: here.get(column, column)):
        if e.column == AVERAGE:  # ours only where all six settings are
            every = [accuracies(runs, scale, cells_at.get((e.row, c), ())) for c in SETTINGS]
            e = replace(e, ours=tuple(sum(v) / len(v) for v in zip(*every, strict=True)) if all(every) else ())
        listed.append(e)
    at = {place: entry.ours for place, entry in by_position(listed).items()}
    one, two = (f" {kind}" for kind in KINDS)
    data_sets = [d for d in grid.DATA if {d + one, d + two} <= set(here)]
    names = {d: here[d + one].removesuffix(one) for d in data_sets}

    def guards(columns_: Iterable[str], *compared: str, remedy: bool = True) -> list[Guard]:
        each = {c: {m: cells_at[m, c] for m in compared or methods_of(scale, c)} for c in columns_}
        setups = [Compared(those, printed_value("1", PLAIN, c), setup_of(c)) for c, those in each.items()]
        return base_guards(runs, scale, *setups, remedy=remedy)

    def gain(column: str) -> list[float]:
        pairs = zip(at[FEDCOG, here[column]], at[PLAIN, here[column]], strict=False)
        return [ours - plain for ours, plain in pairs]

    best = [
        pair
        for c, name in here.items()
        for pair in leads(listed, FEDCOG, [m for m in methods_of(scale, c) if m != FEDCOG], [name])
    ]
    worse = [d + two for d in data_sets if d != "CIFAR-100" and ("SCAFFOLD", d + two) in cells_at]
    below = [Pair(f"FedAvg over SCAFFOLD, {here[c]}", at[PLAIN, here[c]], at["SCAFFOLD", here[c]]) for c in worse]
    more = [Pair(f"gain in NIID-2 over NIID-1, {name}", gain(d + two), gain(d + one)) for d, name in names.items()]
    apart = []
    for d, name in names.items():
        first, second = (at[PLAIN, here[d + split]] for split in (one, two))
        cost = printed_value("1", PLAIN, d + one) - printed_value("1", PLAIN, d + two)
        apart.append(effect(f"accuracy that FedAvg loses from NIID-1 to NIID-2 on {name}", first, second, cost))
    both = guards([d + k for d in data_sets for k in (one, two)], PLAIN, FEDCOG)
    alone = guards(worse, PLAIN, "SCAFFOLD", remedy=False)
    judged = [
        judge("FedCOG is the most accurate in every setting that is run", best, POINT, guards(here)),
        judge("SCAFFOLD is less accurate than FedAvg in NIID-2", below, POINT, alone),
        judge("FedCOG gains more over FedAvg in NIID-2 than in NIID-1", more, POINT, [*both, *apart]),
    ]
    summary = caption(
        scale, "", [(m, cells) for (m, _), cells in cells_at.items()], ERROR,
        omission_note(scale, ("methods", tuple(grid.METHODS))), "FedReg's and FedGen's coefficients are not stated.",
    )  # fmt: skip
    return comparison(summary, listed, judged, ACCURACY)


# ---- Table 2: FLAIR, which is not installed and has no substitute: reported numbers only ----

FLAIR = availability_note("flair", "")


def flair(runs: Runs, scale: str) -> Content:
    words = (
        "Precision, recall and F1 by label and F1 by picture in percent, as reported: photographs of 200 users, 405 "
        "rounds, the last 5 of them FedCOG's in its row. Nothing is run: FLAIR is not here, and no other set of "
        "photographs has several labels each and users."
    )
    listed = entries(runs, scale, "2", {}, absent=FLAIR)
    return replace(comparison(words, listed, [], "reported / ours (%)"), unavailable=FLAIR)


# ---- Table 3: one round of a method with FedCOG on top, compared with one more round without ----

WITH, WITHOUT = "with FedCOG", "without FedCOG"
SPLITS = {f"CIFAR-10-{kind[-1]}": kind for kind in KINDS}
"""The split of each printed row."""


def _plugged(scale: str, method: str, word: str, setup: Setup) -> list[Cell]:
    if word == WITHOUT:
        return grid.cells(scale, method, setup)
    if method == PLAIN:
        return grid.cells(scale, FEDCOG, setup)
    text = grid.fedcog_call(scale, grid.method_call(scale, method))
    return grid.cells(scale, text, setup, first=method, rounds=PLANS[scale].counts["first"] + 1)


def plugged(runs: Runs, scale: str) -> Content:
    """Return Table 3. Each method is compared with itself, so that equal treatment is required per method only."""
    cells_at = {
        (row, f"{m} {word}"): _plugged(scale, m, word, Setup(kind=kind))
        for row, kind in SPLITS.items()
        for m in axis_values(scale, "plugged", grid.PLUGGED)
        for word in (WITHOUT, WITH)
    }
    listed = entries(runs, scale, "3", cells_at, after_change, later=1)
    at, pairs, compared = by_position(listed), [], []
    for row, column in cells_at:
        m, kind = column.partition(" ")[0], SPLITS[row]
        if column.endswith(WITH):
            both = {word: cells_at[row, f"{m} {word}"] for word in (WITHOUT, WITH)}
            reported = printed_value("3", row, f"FedAvg {WITHOUT}")
            compared.append(Compared({**both, FEDCOG: both[WITH]}, reported, Setup(kind=kind)))
            pairs.append(Pair(f"{m} gains, {kind}", at[row, f"{m} {WITH}"].ours, at[row, f"{m} {WITHOUT}"].ours))
    words = "Every method gains by one round with FedCOG, in both splits"
    judged = judge(words, pairs, POINT, base_guards(runs, scale, *compared, later=1))
    used = [(column, cells) for (_, column), cells in cells_at.items()]
    summary = caption(
        scale,
        "After the first round of either.",
        used,
        ERROR,
        omission_note(scale, ("plugged", grid.PLUGGED)),
        f"{FLAIR}.",
    )
    named = {row: f"{grid.data_name(scale)}, {kind}" for row, kind in SPLITS.items()}
    listed = [replace(e, row=named.get(e.row, e.row)) for e in listed]
    return replace(comparison(summary, findings.transpose(listed), [judged], ACCURACY), rows=entry_rows(listed))


# ---- Tables 4 and 11: seconds, and what one round does ----

TIME = "local time (FedAvg's = 1)"


def _seconds(runs: Runs, cells: Iterable[Cell], job: str) -> list[float]:
    """Return the seconds of one job of a timing, one per repetition; none if it was not timed."""
    return [seconds for cell in cells for name, seconds in runs.rows(cell, "job", "seconds") if name == job]


def cost_and_effect(runs: Runs, scale: str) -> Content:
    """Return Table 4: time, accuracy, and the three numbers of Figure 2, which the paper does not print."""
    paper, listed, counts = table("fedcog", "4"), [], PLANS[scale].counts
    methods = axis_values(scale, "compared", COMPARED)
    rounds, after = counts["first"] + 1, counts.get("timed", counts["first"])
    texts = {m: grid.fedcog_call(scale, after=after) if m == FEDCOG else grid.METHODS[m] for m in COMPARED}
    turns = {"after": after, "algorithms": texts, "repeats": counts["repeats"]}
    timed = grid.generation(scale, "generation_round_seconds", **turns)
    unit, taken = printed_number(paper[PLAIN, "Local Time"].value), grid.info_of(timed, later=1)
    plain = _seconds(runs, timed, PLAIN)
    for row in COMPARED:
        here = row in methods
        cells = one_round_cells(scale, row) if here else []
        times = [s / one for s, one in zip(_seconds(runs, timed, row), plain, strict=False)]
        if row == FEDCOG:  # only its last round is its own
            times = [(rounds - 1 + ratio) / rounds for ratio in times]
        info, note = grid.info_of(cells, later=1) if here else None, "" if here else findings.ABSENT
        listed += [
            entry(paper[row, "Local Time"], row, TIME, times, IN_SECONDS, taken, over=unit),
            entry(paper[row, "Acc"], row, ACCURACY, after_change(runs, cells), note, info),
            *(entry(None, row, words, measured(runs, scale, row, q) if here else [], info=info)
              for q, words in MEASURES.items()),
        ]  # fmt: skip
    at, others = by_position(listed), [m for m in methods if m != FEDCOG]
    accurate = [Pair(f"FedCOG over {m}", at[FEDCOG, ACCURACY].ours, at[m, ACCURACY].ours) for m in others]
    faster = [Pair(f"{m} over FedCOG", at[m, TIME].ours, at[FEDCOG, TIME].ours) for m in ("FedProx", "MOON")]
    guards = local_guards(runs, scale, [*others, FEDCOG])
    judged = [
        judge("FedCOG is the most accurate after one round", accurate, POINT, guards),
        judge("FedCOG takes less local time than FedProx and MOON", faster, guards=gpu_times(timed)),
    ]
    more = (
        f"Accuracy and local models: {rounds - 1} rounds of FedAvg, then one of the method; time: {rounds} rounds "
        "of the method, for FedCOG one after FedAvg's, in seconds of one core, taken in turns, ± over repetitions."
    )
    return comparison(caption(scale, more, [(m, one_round_cells(scale, m)) for m in methods], ERROR), listed, judged)


def time_of_generation(runs: Runs, scale: str) -> Content:
    samples, counts = columns("11"), PLANS[scale].counts
    least, most = samples[0], samples[-1]
    options = {"samples": [int(n) for n in samples], "steps": counts["steps"], "repeats": counts["repeats"]}
    cells = grid.generation(scale, "generation_seconds", after=counts.get("timed", counts["first"]), **options)
    paper, first = table("fedcog", "11"), _seconds(runs, cells, least)
    unit, info = printed_number(paper["Time", least].value), grid.info_of(cells, later=0)
    ratios = {n: [s / one for s, one in zip(_seconds(runs, cells, n), first, strict=True)] for n in samples}
    listed = [
        entry(paper["Time", n], n, "time (16 samples = 1)", ratios[n], IN_SECONDS, info, over=unit) for n in samples
    ]
    logs = {n: [math.log(x) for x in of] for n, of in ratios.items()}  # the noise of a time grows with it
    longer = [Pair(f"logarithm of {b} over {a} samples", logs[b], logs[a]) for a, b in pairwise(samples)]
    cheap = [Pair(f"logarithm of twice {least} over {most} samples", [math.log(2.0)] * len(logs[most]), logs[most])]
    judged = [
        judge("More samples take longer", longer, guards=gpu_times(cells)),
        judge(f"{most} samples take less than twice as long as {least}", cheap, guards=gpu_times(cells)),
    ]
    summary = (
        f"One client of {problem_words(grid.problem(scale)) or 'data that are not here'} ({grid.data_name(scale)}) "
        f"generates in {counts['steps']} steps, on one core, not on a GPU; seconds taken in turns, over those of "
        f"{least} samples; ± one standard error over {counts['repeats']} repetitions, with one seed."
    )
    return comparison(summary, listed, judged, "samples: reported / ours")


# ---- Table 5: parts of the method ----

NOISE, GLOBAL, HARD, FULL = dict.fromkeys(row for row, _ in table("fedcog", "5"))
VARIANTS: dict[str, dict[str, Any]] = {
    NOISE: {"steps": 0},
    GLOBAL: {"disagreement": 0.0},
    HARD: {"supervision": "predicted"},
    FULL: {},
}
"""The options that each row changes. The paper does not state the hard label; the released code takes the server's."""


def parts(runs: Runs, scale: str) -> Content:
    cells_at = {
        (row, kind): grid.cells(scale, FEDCOG, Setup(kind=kind), **changes)
        for kind in KINDS
        for row, changes in VARIANTS.items()
    }
    plain = {kind: grid.cells(scale, PLAIN, Setup(kind=kind)) for kind in KINDS}
    listed = entries(runs, scale, "5", cells_at)
    at = by_position(listed)
    full = [
        Pair(f"full over {row}, {kind}", at[FULL, kind].ours, at[row, kind].ours)
        for row, kind in cells_at
        if row != FULL
    ]  # fmt: skip
    noise = [
        Pair(f"FedAvg over noise, {kind}", accuracies(runs, scale, cells), at[NOISE, kind].ours)
        for kind, cells in plain.items()
    ]
    every = [
        Compared(
            {PLAIN: plain[kind], FEDCOG: cells_at[FULL, kind], **{row: cells_at[row, kind] for row in VARIANTS}},
            printed_value("1", PLAIN, f"{grid.MAIN} {kind}"),
            Setup(kind=kind),
        )
        for kind in KINDS
    ]
    words = "The full method beats noise, the global model alone and hard labels in both splits"
    judged = [
        judge(words, full, POINT, base_guards(runs, scale, *every)),
        judge("Distilling on noise is worse than FedAvg", noise, POINT, base_guards(runs, scale, *every, remedy=False)),
    ]
    used = [(row, cells) for (row, _), cells in cells_at.items()]
    summary = caption(scale, "Hard labels are those that the server's model predicts.", used, ERROR)
    return comparison(summary, listed, judged, ACCURACY)


# ---- Tables 6 to 8: what is swept ----


@dataclass(frozen=True)
class Sweep:
    """A table whose columns are values of a quantity.

    ``axis`` is the axis of the plan, ``setup`` returns the setup of a column. ``findings`` are further ones, each with
    a pair of columns of which the second has higher accuracy (None: every pair of neighbouring columns).
    """

    axis: str
    quantity: str
    columns: str
    setup: Callable[[str], Setup]
    findings: Mapping[str, tuple[str, str] | None]


SWEPT = {
    "6": Sweep(
        "taus", "number of local steps",
        "Columns are the paper's numbers of local steps; here as many times the default as 400 there.",
        lambda column: Setup(stretch=int(column) / grid.LOCAL_STEPS),
        {"All methods gain from half the default number of local steps to the default": ("200", "400"),
         "With twice the default number of local steps all methods lose": ("800", "400")},
    ),
    "7": Sweep(
        "rates", "participation rate", f"{grid.MANY} clients, columns are the part that trains in a round.",
        lambda rate: Setup(clients=grid.MANY, cohort=round(float(rate) * grid.MANY)),
        {"All methods gain with every step of the participation rate": None},
    ),
    "8": Sweep(
        "clients", "number of clients", "Columns are the number of clients.",
        lambda clients: Setup(clients=int(clients)), {},
    ),
}  # fmt: skip


def swept(name: str, runs: Runs, scale: str) -> Content:
    one, every, methods = SWEPT[name], columns(name), axis_values(scale, "swept", COMPARED)
    shown = {c: c for c in axis_values(scale, one.axis, every)}
    cells_at = {(m, c): grid.cells(scale, m, one.setup(c)) for c in shown for m in methods}
    for c in shown if one.axis == "taus" else ():
        if cells := cells_at[PLAIN, c]:
            shown[c] = ours_for_theirs(str(cells[0].arguments["local_steps"]), c)
    listed = entries(runs, scale, name, cells_at, setup=one.setup, named=lambda column: shown.get(column, column))
    at, best = by_position(listed), leads(listed, FEDCOG, columns=shown.values())
    by_method = {c: {m: cells_at[m, c] for m in methods} for c in shown}
    compared = [Compared(by_method[c], printed_value(name, PLAIN, c), one.setup(c)) for c in shown]
    judged = [
        judge(f"FedCOG is the most accurate for every {one.quantity}", best, POINT, base_guards(runs, scale, *compared))
    ]
    guards = base_guards(runs, scale, *compared, remedy=False, ended=False)
    for words, step in one.findings.items():
        steps = pairwise(shown) if step is None else [step] if {*step} <= {*shown} else []
        named = [(shown[low], shown[high]) for low, high in steps]
        pairs = [Pair(f"{m}, {b} over {a}", at[m, b].ours, at[m, a].ours) for m in methods for a, b in named]
        judged.append(judge(words, pairs, POINT, guards))
    left = omission_note(scale, ("swept", COMPARED), (one.axis, every))
    used = [(m, cells) for (m, _), cells in cells_at.items()]
    return comparison(caption(scale, one.columns, used, ERROR, left), listed, judged, ACCURACY)


# ---- Table 9: own models ----


def own_accuracy(runs: Runs, cells: Sequence[Cell]) -> list[float]:
    """Return the mean accuracy of the clients' own models in percent after the last round; 0 if a run diverged."""
    means = [findings.mean_over_clients(runs, c, "local_accuracy_own", c.arguments["rounds"]) for c in cells]
    return [0.0 if runs.diverged(cell) else 100 * mean for cell, mean in zip(cells, means, strict=True)]


def personal(runs: Runs, scale: str) -> Content:
    """Return Table 9. FT models are those after local training, before they are averaged.

    FedRep's head takes as many steps as its body; Ditto's personal models take as many as the other methods.
    """
    special = {"FedRep": f"fedrep(head_steps={grid.local_steps_of(scale, 'fedrep')})", "Ditto": "ditto(fedavg())"}
    methods = {c: special.get(c, c.removesuffix("+FT")) for c in columns("9")}
    used, best = {c: grid.cells(scale, method) for c, method in methods.items()}, f"{FEDCOG}+FT"
    cells_at = {("Acc %", c): cells for c, cells in used.items()}
    listed = findings.transpose(entries(runs, scale, "9", cells_at, own_accuracy))
    by_method = {PLAIN: used["FedAvg+FT"], FEDCOG: used[best], **used}
    place = Compared(by_method, printed_value("9", "Acc %", "FedAvg+FT"))
    guards = base_guards(runs, scale, place, read=own_accuracy, ended=False)
    steps = grid.local_steps_of(scale, "fedrep") / PLANS[scale].setting["local_steps"]
    times = 2 * steps if used["FedRep"] else math.nan
    guards.append(Guard("local steps of FedRep, head and body, over those of the others", times, 1, at_most=True))
    judged = judge("FedCOG, fine-tuned, personalises best", leads(listed, best), POINT, guards)
    words = (
        "Mean over clients, each on test samples with the class shares of its own; FT is the model after local "
        "training; coefficients of FedRep and Ditto are not stated (here as many steps for FedRep's head as its body, "
        "weight 0.1)."
    )
    return comparison(caption(scale, words, used.items(), ERROR), listed, [judged], "reported / ours (%)")


# ---- Table 10: steps of generation ----


def generation_steps(runs: Runs, scale: str) -> Content:
    """Return Table 10; columns have the same multiples of the default number of steps as in the paper."""
    every, usual_steps, default = columns("10"), PLANS[scale].counts["steps"], str(grid.STEPS)
    steps = {c: usual_steps * int(c) // grid.STEPS for c in axis_values(scale, "steps", every)}
    changes: dict[str, dict[str, Any]] = {c: {} if c == default else {"steps": n} for c, n in steps.items()}
    cells_at = {c: grid.cells(scale, FEDCOG, **changes[c]) for c in steps}
    names = {c: ours_for_theirs(str(n), c) for c, n in steps.items()}
    at = {("Accuracy", c): cells for c, cells in cells_at.items()}
    listed = findings.transpose(entries(runs, scale, "10", at, named=lambda column: names.get(column, column)))
    place = Compared({PLAIN: grid.cells(scale, PLAIN), FEDCOG: cells_at[default], **cells_at})
    levels = [accuracies(runs, scale, cells) for cells in cells_at.values()]
    guards = [
        *base_guards(runs, scale, place),
        coefficient_effect("accuracy by the number of generation steps", levels),
    ]
    guards.append(findings.paper_treatment(cells_at[default]))
    best = leads(listed, names[default], [name for c, name in names.items() if c != default])
    judged = judge("The default number of generation steps beats fewer and more", best, POINT, guards)
    words = (
        "Rows are the paper's numbers of steps; here as many times the default as 100 there; the paper does not state "
        "its split, here NIID-1."
    )
    summary = caption(scale, words, cells_at.items(), ERROR, omission_note(scale, ("steps", every)))
    return comparison(summary, listed, [judged], "steps: reported / ours (%)")
