"""What the page computes, against Python: bounds, copied commands, charts, links, all theorems of a federation."""

import json
import shlex
import shutil
import subprocess
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from urllib.parse import quote

import numpy as np
import pytest
from explorer_node import answer, needs_node, unpacked
from explorer_points import drawn, python_terms

import fedbounds
from bounds import BOUNDS, Source
from bounds.scenario import Scenario
from bounds.showing.cards import as_json
from bounds.showing.printing import escaped
from empirics.experiments import Outcome, Store
from figures.explorer import atlas, federations, records
from figures.explorer.command import entries
from figures.explorer.page import page
from figures.ours.grid import exact_cell, training_cell
from paper_checks.comparing import compare
from paper_checks.comparing.rows import EvidenceKind, RANKED, State
from paper_checks.worst_case.tightness_table import committed

pytestmark = needs_node
POINTS = 200
CLOSE = 1e-12


FEW = ["fedals.one_round", "decaying_k.per_second", "fedcog.theorem", "fedals.gaussian_mean_local_gap"]


@pytest.fixture(scope="module", params=["few", pytest.param("all", marks=pytest.mark.slow)])
def html(request):
    """A page of a few bounds, quickly made, and that of the whole catalogue."""
    if request.param == "few":
        return page(entries(FEW))
    return request.getfixturevalue("file").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def every(file):
    """The page of the whole catalogue, which has federations too."""
    return file.read_text(encoding="utf-8")


def bounds_of(html):
    return {bound["name"]: BOUNDS[bound["name"]] for bound in unpacked(html)["bounds"]}


def printed(act, *arguments):
    """What a function prints."""
    with redirect_stdout(StringIO()) as out:
        act(*arguments)
    return out.getvalue()


@pytest.mark.skipif(shutil.which("tsc") is None, reason="needs typescript from npm")
def test_the_parts_of_the_page_agree_on_what_they_hand_to_each_other():
    web = Path(records.__file__).parent / "web"
    checked = subprocess.run(["tsc", "--noEmit", "-p", web], capture_output=True, text=True)
    assert not checked.stdout


# ---- one bound ----

EVALUATE = """
return GIVEN.jobs.map(([name, points, entries]) => points.map(([v, n]) => Array.from({length: entries}, (_, i) =>
  evaluateBound(bounds.get(name), v, n, i)).map(({terms, failed}) => [terms.map(String), failed.length === 0])));
"""


def test_every_bound_is_computed_as_in_python(html):
    bounds = bounds_of(html)
    points = {name: drawn(bound, POINTS) for name, bound in bounds.items()}
    entries_ = {name: points[name][2] if bound.target.card.axis else 1 for name, bound in bounds.items()}
    jobs = [(name, points[name][1], entries_[name]) for name in bounds]
    wrong = []
    for (name, bound), found in zip(bounds.items(), answer(html, EVALUATE, jobs=jobs), strict=True):
        values, _, length = points[name]
        terms, slacks, holds = python_terms(bound, values, POINTS, length)
        js = np.array([[[float(x) for x in entry[0]] for entry in point] for point in found])
        for k, label in enumerate(bound.terms):
            ours, theirs, slack = terms[label][:, : entries_[name]], js[:, :, k], slacks[label][:, : entries_[name]]
            same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
            same |= ~(np.isfinite(ours) | np.isfinite(theirs) | holds[:, None])  # divided by 0 outside the conditions
            same |= (theirs == 0) & (np.abs(ours) < np.finfo(float).tiny)  # Python tells underflow from 0
            with np.errstate(invalid="ignore"):
                same |= np.abs(ours - theirs) <= np.fmax(CLOSE * np.abs(ours), 4 * slack)
            wrong += [] if same.all() else [(name, label)]
        wrong += [] if [point[0][1] for point in found] == holds.tolist() else [(name, "conditions")]
    assert wrong == []


COPY = """
return atlas.federations.map((_, place) => {
  state = initialState(place);
  return [state.theorem, String(explorer.value()), COPIES.python(), COPIES.shell(), COPIES.latex()];
});
"""


def alone(html):
    """The settings of a page that compares nothing: the bounds' own examples."""
    return records.alone(entries(list(bounds_of(html))))


def copied(python, shell):
    """The numbers that the copied code and the copied command print."""
    name, *words = shlex.split(shell)
    assert name == "fedbounds"
    by_shell = json.loads(printed(fedbounds.main, [*words, "--json"]))["value"]
    return [float(printed(exec, python, {})), np.ravel(by_shell)[0]]


def test_what_is_copied_gives_the_value_of_the_page_and_its_conditions(html):
    wrong = []
    for name, shown, python, shell, latex in answer(html, COPY, alone=alone(html)):
        same = copied(python, shell) == pytest.approx([float(shown)] * 2, rel=1e-9, nan_ok=True)
        wrong += [] if same else [name]
        bound, lines = BOUNDS[name], latex.splitlines()
        wrong += [] if any(as_json(bound)["latex"] in line for line in lines) else [f"{name}: formula"]
        assumed = [c.words for c in bound.conditions if c.kind != "numeric"]
        full = all(any(escaped(words) in line for line in lines) and f"# if {words}\n" in python for words in assumed)
        wrong += [] if full and latex.count(r"\text{if } ") == max(len(lines) - 3, 0) else [f"{name}: conditions"]
    assert wrong == []


ENDS = """
return atlas.federations.flatMap((_, place) => {
  const wrong = [], bound = bounds.get(initialState(place).theorem);
  state = initialState(place);
  const moved = bound.quantities.filter((q) => !q.simplex && !countsMembers(q.name) && isMissing(q.name));
  const ends = (q) => [sliderValues(q)[0], sliderValues(q).at(-1), 1e300].filter((x) => !refusalFor(q.name, x));
  for (const [k, x] of axesOf(bound).entries()) for (const end of [0, 1, 2]) {
    Object.assign(state, { x, constants: {} });  // one after the other along the first axis, else all at once
    for (const q of moved) {
      state.constants = { ...(k ? state.constants : {}), [q.name]: ends(q).at(end) ?? q.value };
      if (k && q !== moved.at(-1)) continue;
      const svg = chartSvg(curveData(bound, currentScenario()), 700), found = svg.match(/NaN|Infinity|undefined/);
      if (found || svg.split('class="tick"').length < 3) wrong.push(`${bound.name} along ${x}, ${q.name}: ${found}`);
    }
  }
  return wrong;
});
"""


def test_nothing_but_numbers_is_drawn_at_the_ends_of_every_slider_and_beyond(html):
    assert answer(html, ENDS, alone=alone(html)) == []


AROUND = """
return atlas.federations.flatMap((_, place) => {
  state = initialState(place);
  const own = shownBound().quantities.filter((q) => isMissing(q.name) && !q.simplex), list = own.find((q) => q.axis);
  for (const q of own) setQuantity(q.name, sliderValues(q).at(-3) ?? q.value);
  if (list && isMissing("clients") && list.axis === "clients") {
    setQuantity("clients", 2);
    setQuantity(list.name, [list.value, list.value]);
  }
  state.x = axesOf(shownBound()).at(-1) ?? "";
  return JSON.stringify(attempt(() => parseStateLink(stateLink()))) === JSON.stringify(state) ? [] : [state.theorem];
});
"""


def test_every_bound_goes_around_through_its_link(html):
    assert answer(html, AROUND, alone=alone(html)) == []


def test_bounds_with_given_values_and_out_of_files_are_copied_and_go_around(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    fixed = BOUNDS["fedals.one_round"].fix(smoothness=2.5, client_weight=[0.5, 0.3, 0.2])
    mine = replace(BOUNDS["fedals.one_round"], name="mine.other", source=Source("my notes", "Lemma 1"))
    named = [records.NamedBound(bound, bound.name) for bound in (fixed, mine)]
    named += entries(["examples/my_bound.py:my_bound"])
    html, given = page(named), {"alone": records.alone(named)}
    assert answer(html, AROUND, **given) == []
    assert answer(html, "return [...bounds.values()].map(loadable)") == [True, False, True], "in a command line"
    for _, shown, python, shell, _ in answer(html, COPY, **given)[::2]:
        assert copied(python, shell) == pytest.approx([float(shown)] * 2)


DRAWN = """
return atlas.federations.map((_, place) => {
  state = { ...initialState(place), x: "rounds" };
  const svg = chartSvg(curveData(shownBound(), currentScenario()), 700);
  return ["measured", "exact"].map((kind) => svg.split(`class="${kind}"`).length - 1);
});
"""


def test_runs_of_a_store_are_settings_of_their_bound_and_drawn(tmp_path):
    store = Store(tmp_path / "store")
    table = {"rounds": [1, 2], "measured": [0.5, 0.4], "error": [0.1, float("nan")], "bound": [3.0, 2.0]}
    store.keep(training_cell("smoke", "fedcog.theorem"), Outcome(table, {"constants": {"smoothness": 1.25}}), 0.1)
    whole_table = {**table, "exact": [0.6, 0.3]}
    store.keep(exact_cell("smoke", "fedcog.theorem", 0), Outcome(whole_table, {"step_size": 0.05}), 0.1)
    html = page(entries(["fedcog.theorem", "fedals.one_round"]), store.folder)
    settings = unpacked(html)["atlas"]["federations"]
    first, second, data, quadratics = settings
    assert [one["of"] for one in settings] == ["fedcog.theorem", "fedals.one_round", "fedcog.theorem", "fedcog.theorem"]
    assert data["rows"] == [["measured", 1, 0.5, 0.1], ["measured", 2, 0.4, 0.0]]
    assert data["given"] == {**first["given"], "smoothness": 1.25}
    assert "step size" in data["words"]
    assert [row[0] for row in quadratics["rows"]] == ["exact", "exact", "measured", "measured"]
    assert quadratics["given"]["step_size"] == 0.05
    assert quadratics["given"]["smoothness"] > 0
    assert quadratics["given"]["clients"] == 4, "their number, which no list of this bound tells"
    assert "rows" not in second
    assert answer(html, DRAWN) == [[0, 0], [0, 0], [2, 0], [2, 2]]


DAMAGED = """
state = initialState(atlas.federations.findIndex((one) => one.of === "fedals.one_round"));
state.constants.smoothness = 4;
const link = stateLink().slice(1), sum = (params) => `${params}&c=${checksum(params.toString())}`;
const signed = (text) => sum(new URLSearchParams(text));
const read = (text) => attempt(() => ({ ...parseStateLink(repairedLink(`#${text}`)).constants }));
return {
  link, signed: GIVEN.said.map((said) => read(signed(`v=2&b=fedals.one_round&${said}`))),
  changed: GIVEN.changed.map(([whole, now]) => link.includes(whole) ? read(link.replace(whole, now)) : "not in it"),
  nonsense: GIVEN.nonsense.map(read),
};
"""
IMPOSSIBLE = {
    "w.client_weight=0.5,0.6": "client weight", "w.smoothness=1,2": "smoothness", "w.smoothness=-1": "-1",
    "w.__proto__=1": "proto", "x=smoothnes": "x", "p.rounds=3": "p.rounds", "w.clients=10001": "10000",
    "target=divergence": "target", "f=elsewhere": "elsewhere",
}  # fmt: skip
CHANGED = (("w.smoothness=4", "w.smoothness=3"), ("w.smoothness", "w.roughness"), ("&c=", "&c=0"), ("v=2", "v=1"))
NONSENSE = ("nonsense", "v=2&b=fedals.one_round&x=clients", "%E0%A4%A", "x", "v=3", "v=2&b=nobody")
HARMED = (
    lambda link: f"{link}.", lambda link: f"{link}%3E)", lambda link: f"{link}&utm_source=mail",
    lambda link: link.replace("&", "&amp;") + ").", quote, lambda link: f"{link[:9]}%20{link[9:]}",
)  # fmt: skip


def test_links_that_were_damaged_are_refused_and_what_happens_on_their_way_is_undone(html):
    asked = {"said": list(IMPOSSIBLE), "changed": CHANGED, "nonsense": NONSENSE, "alone": alone(html)}
    found = answer(html, DAMAGED, **asked)
    accepted = {said: why for (said, named), why in zip(IMPOSSIBLE.items(), found["signed"], strict=True)
                if not isinstance(why, str) or named not in why}  # fmt: skip
    assert accepted == {}
    for kind in ("changed", "nonsense"):
        assert all(isinstance(why, str) and why != "not in it" for why in found[kind]), found[kind]
    harmed = [harm(found["link"]) for harm in HARMED]
    mended = answer(html, DAMAGED, **{**asked, "nonsense": [*harmed, "v=2&b=fedcog.theorem"]})["nonsense"]
    assert mended == [*[{"smoothness": 4}] * len(HARMED), {}]


# ---- one federation: every row against compare ----

COMPARED_STATES = (*RANKED, State.NOT_MET, State.MISSING)
ROWS = """
return GIVEN.jobs.map(([place, target, given, upTo]) => {
  state = initialState(place, target);
  return explorer.rows(target, given, upTo);
});
"""
QUADRATIC, WORST_CASES, SAMPLES, ALONE = (
    federations.of_quadratics(), federations.of_worst_cases(), federations.of_new_samples(), federations.of_one_client()
)  # fmt: skip
PLANS = (
    {"local_steps": 1, "step_size": 0.07},
    {"local_steps": 1, "step_size": 0.02, "rounds": 37},
    {"local_steps": 5, "step_size": 3e-4, "cohort": 4, "rounds": 20000},
    {"local_steps": 40, "step_size": 0.9},
    {"local_steps": 7, "step_size": 2e-4, "relaxation": 0.07},
    {"local_steps": 3, "step_size": 0.003, "runtime": 512.5},
    {"local_steps": 2, "step_size": 0.2, "client_gradient_variance": [0.0] * 10, "gradient_variance": 0.0},
    {"local_steps": 6, "step_size": 0.005, "rounds": 300, "uniform_dissimilarity": 0.0,
     "optimum_dissimilarity": 0.0, "heterogeneity": 0.0},
)  # fmt: skip
CONVEX = {"clients": 1, "cohort": 1, "smoothness": 2.2, "strong_convexity": 0.3, "pl_constant": 0.3,
          "gradient_variance": 0.4, "client_gradient_variance": [0.4], "client_weight": [1.0], "optimal_loss": 0.3,
          "initial_loss": 1.4, "initial_distance_sq": 1.7, "initial_grad_norm_sq": 3.1,
          "grad_cap_sq": 30.0}  # fmt: skip
UNSAID = ({}, {"gradient_variance": None, "client_gradient_variance": None}, {"uniform_dissimilarity": 0.3})
SAMPLED = ({"local_steps": 3, "step_size": 0.07}, {"local_steps": 20, "step_size": 0.02, "rounds": 37},
           {"local_steps": 5, "step_size": 4.5}, {})  # fmt: skip
LEARNED = atlas.TARGETS[-3:]


def cases():
    """Federation, target, what is given and up to where it holds: all kinds of federations and plans."""
    for target in ("optimality_gap", "grad_norm_sq", "distance_sq", "divergence", "consensus_distance"):
        for plan in PLANS if target == "optimality_gap" else PLANS[2::2]:
            given = {**QUADRATIC["given"], **QUADRATIC["plan"], **plan}
            if "runtime" in plan:
                del given["rounds"]
            yield 0, target, given, QUADRATIC["up_to"]
    for target in ("optimality_gap", "grad_norm_sq"):
        for plan in ({"local_steps": 1, "step_size": 0.03}, {"local_steps": 6, "step_size": 0.002}):
            yield 0, target, {**CONVEX, **plan, "rounds": 400}, {}
    for target in ("optimality_gap", "distance_sq"):
        for changed in UNSAID:
            for plan in ({}, {"local_steps": 1, "step_size": 0.0184, "rounds": 2}):
                given = {**SAMPLES["given"], **SAMPLES["plan"], **plan, **changed}
                yield 2, target, {word: x for word, x in given.items() if x is not None}, {}
    for place, one in ((2, SAMPLES), (3, ALONE)):
        for target in LEARNED:
            for plan in SAMPLED:
                yield place, target, {**one["given"], **one["plan"], **plan}, {}


def key(bound, state, kind):
    return bound, state, kind if state in RANKED else ""


def agrees(ours, theirs):
    """Whether a row of the page says what a row of ``compare`` says."""
    if theirs.state not in RANKED:
        return theirs.state != State.NOT_MET or set(ours["failed"]) == {one.condition for one in theirs.failed}
    numbers = [float(ours["value"]), *map(float, ours["terms"])]
    sets = (set(ours["assumed"]), set(ours["alias"]), tuple(ours["conversions"]))
    return numbers == pytest.approx([theirs.value, *theirs.terms.values()], rel=CLOSE, abs=0) and sets == (
        set(theirs.assumed), set(theirs.alias), theirs.conversions
    )  # fmt: skip


@pytest.mark.slow
def test_the_rows_of_a_federation_are_those_of_compare(every):
    """Rows that are composed of others too, of one client, of what is not known, and of what is learned of samples."""
    jobs, wrong, seen, assumed = list(cases()), [], set(), set()
    for (place, target, given, up_to), found in zip(jobs, answer(every, ROWS, jobs=jobs), strict=True):
        rows = compare(target, Scenario.of({**given, "_up_to": up_to})).rows
        theirs = {key(r.bound, r.state, str(r.quantity)): r for r in rows if r.state in COMPARED_STATES}
        ours = {key(r["bound"], r["state"], r["kind"]): r for r in found if r["state"] in COMPARED_STATES}
        if ours.keys() != theirs.keys():
            wrong.append((place, target, ours.keys() ^ theirs.keys()))
            continue
        wrong += [(place, target, k) for k in ours if not agrees(ours[k], theirs[k])]
        seen |= {(place, target, k[1] in RANKED) for k in ours}
        assumed |= {(place, words) for k in ours if k[1] in RANKED for words in theirs[k].assumed}
    assert wrong == []
    with_value = {(place, target) for place, target, ranked in seen if ranked}
    assert {(place, target) for place, target, _ in seen if place == 0} <= with_value
    assert {t for place, t in with_value if place == 2} & set(LEARNED) == {"generalization_gap"}
    assert {t for place, t in with_value if place == 3} == set(LEARNED)
    assert {(2, "all clients have the same loss"), (2, "every client computes exact gradients")} & assumed


def step(name, rounds, steps, share=0.9):
    """The step size of a committed place, in units of 1/L."""
    found = (r for r in committed(name) if (r["rounds"], r["local_steps"], r["step_share"]) == (rounds, steps, share))
    return next(r["step_size"] for r in found)


SHARP = step(federations.SHOWN, 2, 4)
STRETCHED = {"smoothness": 2.6, "sample_smoothness": 2.6, "strong_convexity": 0.26, "pl_constant": 0.26,
             "initial_loss": 0.9, "optimal_loss": 0.2, "heterogeneity": 0.07, "dissimilarity_offset": 0.182,
             "grad_cap_sq": 7.28}  # fmt: skip
"""L is 2.6 and the gap 0.7: everything else in its unit."""
KNOWN = (
    ("grad_norm_sq", {}, 3),
    ("grad_norm_sq", {"clients": 6, "cohort": 6, "client_weight": [1 / 6] * 6,
                      "client_gradient_variance": [0.0] * 6}, 3),
    ("grad_norm_sq", {**STRETCHED, "step_size": SHARP / 2.6}, 3),
    ("grad_norm_sq", {"relaxation": 0.05, "step_size": step("fedinit.theorem_1", 2, 4)}, 1),
    ("optimality_gap", {"rounds": 2, "local_steps": 2, "relaxation": 0.05,
                        "step_size": step("fedinit.theorem_2", 2, 2)}, 1),
    ("divergence", {**STRETCHED, "rounds": 2, "local_steps": 2, "relaxation": 0.05,
                    "step_size": step("fedinit.theorem_4", 2, 2) / 2.6}, 1),
    ("grad_norm_sq", {"step_size": 1.0001 * SHARP}, 0),
    ("grad_norm_sq", {"grad_cap_sq": 4.1}, 0),
)  # fmt: skip
"""Target, what differs from the federation of worst cases, and how many rows at least have a worst case."""


@pytest.mark.slow
def test_worst_cases_on_the_page_are_those_of_compare(every):
    start = {**WORST_CASES["given"], **WORST_CASES["plan"]}
    jobs = [(1, target, {**start, **changed}, {}) for target, changed, _ in KNOWN]
    for (_, target, given, _), (*_, known), found in zip(jobs, KNOWN, answer(every, ROWS, jobs=jobs), strict=True):
        rows = compare(target, Scenario.of(given), worst_case=0).rows
        theirs = {
            (r.bound, str(r.quantity)): r.evidence[EvidenceKind.WORST] for r in rows if EvidenceKind.WORST in r.evidence
        }
        ours = {(r["bound"], r["kind"]): one for r in found for one in r["evidence"] if one["kind"] == "worst"}
        assert ours.keys() == theirs.keys(), given
        assert len(ours) >= known > 0 or not ours, given
        for k, one in ours.items():
            assert float(one["value"]) == pytest.approx(theirs[k].value, rel=CLOSE, abs=0)
            assert one["above"] is theirs[k].upper


AT_CELLS = """
const wrong = [], { given, upTo } = currentInputs();
let compared = 0;
const target = "optimality_gap", name = "fedinit.theorem_1", least = (at, sizes) => {
  const steps = Math.max(1, Math.round(1024 ** ((Math.floor(at / 64) + 0.5) / 64)));
  const rows = explorer.rows(target, { ...given, local_steps: steps, step_size: sizes[at % 64] }, upTo);
  const of = (name) => rows.filter((r) => r.value !== "undefined" && (r.bound === name || r.alias.includes(name)));
  return (name) => Math.min(...of(name).map((r) => Number(r.value)));
};
const coarse = wholeMap(target, given, upTo);
for (const at of GIVEN.coarse) {
  const of = least(at, coarse.sizes);
  for (const [name, { value }] of coarse.fields) {
    const low = of(name), exact = !name.startsWith("fedinit") && !name.startsWith("fedcog");
    compared += low < Infinity;
    if (Number.isNaN(value[at]) !== (low === Infinity)) wrong.push([name, at, "silent"]);
    const [least, most] = [low * (1 - 1e-12), low * (exact ? 1 + 1e-12 : 10)];
    if (low < Infinity && !(value[at] >= least && value[at] <= most)) wrong.push([name, at, value[at], low]);
  }
}
given.rounds = 30000;
const fine = wholeMap(target, given, upTo, name), { value, level } = fine.fields.get(name);
const start = given.initial_loss - given.optimal_loss;
const below = (x) => (x < start ? Math.min(3, Math.floor(Math.log10(start / x))) : -1);
const cells = GIVEN.fine.filter((at) => !Number.isNaN(value[at]));
const levels = cells.map((at) => [at, below(least(at, fine.sizes)(name)), Math.max(level[at] - 5, -1)]);
wrong.push(...levels.filter(([, row, cell]) => row !== cell));
return [compared, cells.length, wrong];
"""


@pytest.mark.slow
def test_the_map_has_the_values_of_the_rows(every):
    """Levels up to their edges: FedInit chooses a pair and a contraction, a quick search errs at one cell of twenty."""
    cells = {"coarse": [(i * 2713) % 4096 for i in range(1, 30)], "fine": list(range(3, 4096, 11))}
    compared, fine, wrong = answer(every, AT_CELLS, **cells)
    assert wrong == []
    assert (compared > 50, fine > 50) == (True, True)


MOVED = """
const found = {};
state = initialState(4);
for (const smoothness of [0.9, 1.9]) {
  setQuantity("smoothness", smoothness);
  found[smoothness] = [baseValue("pl_constant"), currentInputs().given.smoothness, currentInputs().given.pl_constant];
}
atlas.federations.push(federationFromFile("mine.json", GIVEN.file));
state = initialState(atlas.federations.length - 1);
for (const [word, x] of Object.entries(GIVEN.words)) setQuantity(word, x);
const { given } = currentInputs();
const rows = explorer.rows("optimality_gap", given, currentInputs().upTo);
return [found, given, COMPARISONS.shell(), COMPARISONS.python(), rows];
"""


@pytest.mark.slow
def test_dependent_constants_move_together_and_copied_commands_give_the_same_rows(every):
    """The gap beside both losses, a pair (G^2, B^2) beside the differences it comes of, the PL constant below L."""
    start = QUADRATIC["given"]
    gap, apart = start["initial_loss"] - start["optimal_loss"], start["optimum_dissimilarity"]
    file = {**start, "_up_to": QUADRATIC["up_to"], "initial_gap": gap, "dissimilarity_offset": 2 * apart,
            "dissimilarity_factor": 9.0, **QUADRATIC["plan"]}  # fmt: skip
    words = {"initial_gap": 3 * gap, "optimum_dissimilarity": 4 * apart}
    moved, given, shell, python, rows = answer(every, MOVED, file=json.dumps(file), words=words)
    assert moved["0.9"][1:] == [0.9, 0.9]
    assert moved["1.9"][1:] == [1.9, moved["1.9"][0]]
    assert (given["initial_gap"], given["initial_loss"] - given["optimal_loss"]) == pytest.approx((3 * gap, 3 * gap))
    assert given["dissimilarity_offset"] == pytest.approx(8 * apart)
    copied_rows = json.loads(printed(fedbounds.main, [*shlex.split(shell)[1:], "--json"]))["rows"]
    theirs = sorted(row["value"] for row in copied_rows if row["state"] in RANKED)
    ours = sorted(float(row["value"]) for row in rows if row["state"] in RANKED)
    assert ours == pytest.approx(theirs, rel=CLOSE)
    assert len(ours) > 5
    assert all(row["bound"] in printed(exec, python, {}) for row in rows if row["state"] in RANKED[:1])


HEADER = "algorithm,cohort,local_steps,step_size,seed,round,quantity,value\n"


def runs(start, rounds=7, plans=((8, 0.01), (3, 0.02))):
    """A log of two seeds as ``fedbounds results`` writes it, and its gaps by plan and seed."""
    draws, lines, gaps = Random(5), [HEADER], {}
    for steps, size in plans:
        for seed in (3, 11):
            gaps[steps, size, seed] = [start, *(draws.uniform(0.1, 0.4) for _ in range(rounds))]
            lines += [
                f"fedavg(),10,{steps},{size},{seed},{r},optimality_gap,{x!r}\n"
                for r, x in enumerate(gaps[steps, size, seed])
            ]
    return "".join(lines), gaps


READ = """
state.plan.rounds = 7;
const { cohort } = currentScenario().v;
const take = (text) => checkedRuns(runsOf(text, { ...state.plan, cohort }), currentScenario());
const { given } = currentInputs(), read = GIVEN.texts.map((text) => attempt(() => take(text).plans.length));
federation().runs = { name: "mine.csv", ...take(GIVEN.texts[0]) };
return [read, ...[given, { ...given, local_steps: 9 }].map((each) => explorer.rows("optimality_gap", each, {}))];
"""
ENDINGS = (
    lambda text: text.rstrip("\n"), lambda text: text.replace("\n", "\r\n"), lambda text: f"\ufeff{text}\n\n",
    lambda text: text.replace("fedavg()", '"fedavg()"'),
)  # fmt: skip
UNFIT = (
    (lambda text: text.replace(",0.01,3,2,", ",0.01,3,1,", 1), "seed 3"),
    (lambda text: text.replace("fedavg()", "scaffold()"), "scaffold()"),
    (lambda text: text.replace(",8,0.01,", ",8.5,0.01,"), "8.5"),
    (lambda text: text.replace("optimality_gap", "train_loss"), "optimality_gap"),
    (lambda text: text.replace("seed", "run"), "seed"),
    (lambda text: "".join(x for x in text.splitlines(True) if ",11," not in x), "2 seeds"),
    (lambda text: text + "fedavg(),10,8,0.01\n", "4 fields"),
    (lambda text: text.replace("gap,0.", "gap,zero ", 3), "zero"),
    (lambda text: runs(START_GAP, rounds=6)[0], "6 rounds"),
    (lambda text: runs(2 * START_GAP)[0], "optimality gap"),
)
START_GAP = QUADRATIC["given"]["initial_loss"] - QUADRATIC["given"]["optimal_loss"]


@pytest.mark.slow
def test_runs_are_shown_beside_the_rows_of_their_plan_or_refused(every):
    text, gaps = runs(START_GAP)
    texts = [text, *(change(text) for change in ENDINGS), *(change(text) for change, _ in UNFIT)]
    read, rows, away = answer(every, READ, texts=texts)
    assert read[: 1 + len(ENDINGS)] == [2] * (1 + len(ENDINGS))
    for why, (_, named) in zip(read[1 + len(ENDINGS) :], UNFIT, strict=True):
        assert named in str(why)
    pair = [gaps[8, 0.01, 3], gaps[8, 0.01, 11]]
    least = min(range(7), key=lambda r: pair[0][r] + pair[1][r])
    entries = {
        "last over rounds, server model": [x[-1] for x in pair],
        "mean over rounds, server model": [fmean(x[:-1]) for x in pair],
        "min over rounds, server model": [x[least] for x in pair],
    }
    entries["min over iterations, virtual average of all clients"] = entries["min over rounds, server model"]
    seen = set()
    for row in rows:
        found = [one for one in row["evidence"] if one["kind"] == "measured"]
        assert bool(found) == (row["kind"] in entries and row["state"] in RANKED), row["kind"]
        for one in found:
            seen.add(row["kind"])
            assert one["above"] is ("iterations" in row["kind"]), "the server's models are among more of them"
            assert float(one["value"]) == pytest.approx(fmean(entries[row["kind"]]), rel=CLOSE)
            assert one["error"] == pytest.approx(stdev(entries[row["kind"]]) / 2**0.5, rel=1e-9)
    assert len(seen) >= 2
    assert not any(one["kind"] == "measured" for row in away for one in row["evidence"])
