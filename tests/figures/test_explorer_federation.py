"""The page of one federation: its rows against ``compare``, the plane, the point, links and files, and its G^2."""

import json
import time
from random import Random

import numpy as np
import pytest
from explorer_browser import narrow, press

from bounds.scenario import Scenario
from bounds.ties import evaluated
from empirics.problems.quadratics import random_quadratics
from figures.explorer import atlas, federations
from paper_checks.comparing.compare import compare
from paper_checks.comparing.compare_rows import RANKED

CLOSE = 1e-12
TOLD = (*RANKED, "silent", "missing")
SILENCED = {"uniform_dissimilarity": 0.0, "optimum_dissimilarity": 0.0, "heterogeneity": 0.0}
NOISELESS = {"client_gradient_variance": [0.0] * 10, "gradient_variance": 0.0}
PLANS = (
    {"local_steps": 1, "step_size": 0.07},
    {"local_steps": 1, "step_size": 0.02, "rounds": 37},
    {"local_steps": 5, "step_size": 3e-4, "cohort": 4, "rounds": 20000},
    {"local_steps": 40, "step_size": 0.9},
    {"local_steps": 7, "step_size": 2e-4, "relaxation": 0.07},
    {"local_steps": 3, "step_size": 0.003, "runtime": 512.5},
    {"local_steps": 2, "step_size": 0.2, **NOISELESS},
    {"local_steps": 6, "step_size": 0.005, "rounds": 300, **SILENCED},
)


# ---- the federation that a page starts from ----


def largest_second_moment(problem, steps, size, rounds):
    """Of all stochastic gradients of a run in which all clients take part: exact moments of affine steps."""
    bend = problem.curvatures[0]
    step = np.eye(problem.dim) - size * bend
    mean, spread, most = problem.start, np.zeros((problem.dim, problem.dim)), 0.0
    for _ in range(rounds):
        means, spreads = [mean] * problem.clients, [spread] * problem.clients
        own = [np.zeros_like(spread)] * problem.clients
        for _ in range(steps):
            for k in range(problem.clients):
                slope = bend @ (means[k] - problem.minima[k])
                noise = problem.noise[k]
                most = max(most, slope @ slope + np.trace(bend @ spreads[k] @ bend) + np.trace(noise))
                means[k] = means[k] - size * slope
                spreads[k] = step @ spreads[k] @ step + size**2 * noise
                own[k] = step @ own[k] @ step + size**2 * noise
        power = np.linalg.matrix_power(step, steps)
        mean = problem.weights @ np.array(means)
        spread = power @ spread @ power + np.einsum("k,kij->ij", problem.weights**2, np.array(own))
    return most


def capped(problem, **changed):
    expression, limits = federations.FOLLOWS["grad_cap_sq"]
    words = {q.name for q in expression.free_symbols}
    away = problem.start - problem.minimiser
    known = {w: getattr(problem, w) for w in words if hasattr(problem, w)} | {"initial_distance_sq": away @ away}
    return float(evaluated(expression, known | changed)), float(evaluated(limits["step_size"], known))


@pytest.mark.parametrize("seed", range(4))
def test_the_second_moment_along_runs_stays_below_its_cap(seed):
    draws = Random(seed)
    problem = random_quadratics(
        seed, 3, 2, spread=draws.uniform(0.2, 2), noise=draws.uniform(0.1, 3), same_curvature=True
    )
    cap, largest = capped(problem)
    found = max(largest_second_moment(problem, steps, largest * share, 30) for steps, share in [(2, 1.0), (9, 0.3)])
    assert found <= cap
    without = (problem.smoothness * np.linalg.norm(problem.start - problem.minimiser)) ** 2
    assert found > without, "the start alone would be too small a cap"


def test_every_part_of_the_atlas_refers_to_what_is_there():
    from figures.explorer.command import entries

    made = atlas.atlas(entries(["classics.field_guide_theorem_1", "decaying_k.theorem_1", "fedals.optimization_rate"]))
    data = json.loads(json.dumps(made.data))
    assert set(data["bounds"]) == {"classics.field_guide_theorem_1", "decaying_k.theorem_1", "fedals.optimization_rate"}
    for places in data["ways"].values():
        assert len(places) == len(data["situations"])
        assert max(places) < len(data["reached"])
    factors = made.code.split("const SIDES")[0].split("const FACTORS")[1].count("(v,n,i)=>")
    ways = [
        way for by_target in data["reached"] for found in by_target.values() if isinstance(found, list) for way in found
    ]
    assert {way[2] for way in ways} == set(range(factors))
    assert all(len(answers) == len(data["situations"]) for answers in data["assumptions"])


# ---- numbers in the browser ----


@pytest.fixture
def whole(shared, file):
    """The page of one federation, just opened, its plane drawn."""
    shared.open(file)
    wait(shared)
    shared.complaints()
    yield shared
    assert not shared.complaints()


def wait(page):
    """Until the plane of the last change is drawn."""
    for _ in range(400):
        if page.js("return explorer.drawn() && !explorer.drawn().stale"):
            return page.settle()
        time.sleep(0.02)
    raise AssertionError("no plane was drawn")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    "target", ["optimality_gap", "grad_norm_sq", "distance_sq", "divergence", "consensus_distance"]
)
def test_the_page_says_what_compare_says(target, whole):
    """Every row, those too that are composed of others."""
    told = whole.js("return explorer.told()")
    seen = set()
    for plan in PLANS if target == "optimality_gap" else PLANS[2::2]:
        given = {**told["given"], **plan}
        if "runtime" in plan:
            del given["rounds"]
        rows = compare(Scenario.of({**given, "_up_to": told["upTo"]}), target).rows
        theirs = {key(r.bound, r.state, str(r.kind)): r for r in rows if r.state in TOLD}
        found = whole.js("return explorer.rows(...arguments)", target, given, told["upTo"])
        ours = {key(r["bound"], r["state"], r["kind"]): r for r in found if r["state"] in TOLD}
        assert ours.keys() == theirs.keys(), plan
        for k in ours:
            agrees(ours[k], theirs[k])
            seen.add(theirs[k].state)
    assert "silent" in seen
    assert seen & set(RANKED)


def key(bound, state, kind):
    return bound, state, kind if state in RANKED else ""


def agrees(ours, theirs):
    if theirs.state == "silent":
        assert set(ours["failed"]) == {failed.words for failed in theirs.failed}
    if theirs.state not in RANKED:
        return
    for js, py in [(ours["value"], theirs.value), *zip(ours["terms"], theirs.terms.values(), strict=True)]:
        assert float(js) == pytest.approx(py, rel=CLOSE, abs=0), theirs.bound
    assert tuple(ours["conversions"]) == theirs.conversions
    assert set(ours["trusted"]) == set(theirs.trusted)
    assert set(ours["alias"]) == set(theirs.alias)


ALONE = {"clients": 1, "cohort": 1, "smoothness": 2.2, "strong_convexity": 0.3, "pl_constant": 0.3,
         "gradient_variance": 0.4, "client_gradient_variance": [0.4], "client_weight": [1.0], "optimal_loss": 0.3,
         "initial_loss": 1.4, "initial_distance_sq": 1.7, "initial_grad_norm_sq": 3.1, "grad_cap_sq": 30.0}  # fmt: skip


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("target", ["optimality_gap", "grad_norm_sq"])
def test_a_federation_of_one_client_is_compared_too(target, whole):
    spoke = 0
    for plan in ({"local_steps": 1, "step_size": 0.03}, {"local_steps": 6, "step_size": 0.002}):
        given = {**ALONE, **plan, "rounds": 400}
        theirs = {key(r.bound, r.state, str(r.kind)): r for r in compare(Scenario.of(given), target).rows}
        ours = {
            key(r["bound"], r["state"], r["kind"]): r
            for r in whole.js("return explorer.rows(...arguments)", target, given, {})
        }
        told = [{k for k in rows if k[1] in TOLD} for rows in (ours, theirs)]
        assert told[0] == told[1], plan
        for k in told[0]:
            agrees(ours[k], theirs[k])
            spoke += k[1] in RANKED
    assert spoke > 5


UNSAID = ({}, {"gradient_variance": None, "client_gradient_variance": None}, {"uniform_dissimilarity": 0.3})


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("target", ["optimality_gap", "distance_sq"])
def test_what_a_federation_does_not_say_is_taken_on_trust(target, whole):
    """Not known to be alike is not known to differ; and what is derived alone is no start of one machine either."""
    whole.choose("federations", "2")
    told, trusted = whole.js("return explorer.told().given"), set()
    for changed in UNSAID:
        for plan in ({}, {"local_steps": 1, "step_size": 0.0184, "rounds": 2}):
            given = {word: x for word, x in {**told, **plan, **changed}.items() if x is not None}
            theirs = {key(r.bound, r.state, str(r.kind)): r for r in compare(Scenario.of(given), target).rows}
            ours = {
                key(r["bound"], r["state"], r["kind"]): r
                for r in whole.js("return explorer.rows(...arguments)", target, given, {})
            }
            asked = [{k for k in rows if k[1] in TOLD} for rows in (ours, theirs)]
            assert asked[0] == asked[1], (changed, plan)
            for k in asked[0]:
                if k[1] in RANKED:
                    agrees(ours[k], theirs[k])
                    trusted |= set(theirs[k].trusted)
    assert {"all clients have the same loss", "every client computes exact gradients"} & trusted


SAMPLED = ({"local_steps": 3, "step_size": 0.07}, {"local_steps": 20, "step_size": 0.02, "rounds": 37},
           {"local_steps": 5, "step_size": 4.5}, {})  # fmt: skip
"""Plans, the last the one that a federation starts from."""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("place", "spoken"), [(2, {"generalization_gap"}), (3, set(atlas.TARGETS[-3:]))])
def test_what_is_learned_of_samples_is_ranked_as_compare_ranks_it(place, spoken, whole):
    """By class: a gap to new samples, a stability and an excess risk stand on ladders of their own."""
    whole.choose("federations", str(place))
    given, spoke = whole.js("return explorer.told().given"), set()
    for target in atlas.TARGETS[-3:]:
        for plan in SAMPLED:
            rows = compare(Scenario.of({**given, **plan}), target).rows
            found = whole.js("return explorer.rows(...arguments)", target, {**given, **plan}, {})
            theirs = {key(r.bound, r.state, str(r.kind)): r for r in rows if r.state in TOLD}
            ours = {key(r["bound"], r["state"], r["kind"]): r for r in found if r["state"] in TOLD}
            assert ours.keys() == theirs.keys(), (target, plan)
            for k in ours:
                agrees(ours[k], theirs[k])
                spoke |= {target} if k[1] in RANKED else set()
                assert k[1] not in RANKED or theirs[k].kind.target == target
    assert spoke == spoken


AT_CELLS = """
const {given, upTo} = explorer.told(), grid = explorer.drawn(), wrong = [];
let spoken = 0;
for (const at of arguments[0]) {
  const steps = Math.max(1, Math.round(1024 ** ((Math.floor(at / 64) + 0.5) / 64)));
  const rows = explorer.rows(grid.target, {...given, local_steps: steps, step_size: grid.sizes[at % 64]}, upTo);
  for (const [name, {value}] of grid.found) {
    const found = rows.filter((r) => r.value !== "undefined" && (r.bound === name || r.alias.includes(name)));
    const least = Math.min(...found.map((r) => Number(r.value)));
    spoken += found.length > 0;
    const exact = !name.startsWith("fedinit") && !name.startsWith("fedcog");
    if (Number.isNaN(value[at]) !== (least === Infinity)) wrong.push([name, steps, "silent"]);
    const [low, high] = [least * (1 - 1e-12), least * (exact ? 1 + 1e-12 : 10)];
    if (least < Infinity && !(value[at] >= low && value[at] <= high)) wrong.push([name, steps, value[at], least]);
  }
}
return [spoken, wrong];
"""


@pytest.mark.slow
@pytest.mark.browser
def test_the_plane_shows_what_the_rows_say(whole):
    spoken, wrong = whole.js(AT_CELLS, [(i * 2713) % 4096 for i in range(1, 30)])
    assert wrong == []
    assert spoken > 50


# ---- hands ----


@pytest.mark.slow
@pytest.mark.browser
def test_the_point_moves_by_keys_buttons_and_the_table_and_goes_around_through_the_link(whole, file):
    before = whole.text("#sentence")
    whole.js("document.getElementById('plane').focus()")
    press(whole, "ARROW_RIGHT", "ARROW_UP", "ARROW_UP", "ARROW_UP", "ARROW_UP", "SHIFT+ARROW_DOWN")
    assert whole.js("return explorer.federation().plan") == {
        "local_steps": 9, "step_size": 0.01, "cohort": 10, "rounds": 1000, "relaxation": 0
    }  # fmt: skip
    whole.find("#more-steps").click()
    whole.choose("f-smoothness", "2.5", "input")
    whole.choose("f-rounds", "1/0", "input")
    assert whole.find("#f-rounds").get_attribute("aria-invalid") == "true"
    whole.choose("f-rounds", "20000", "input")
    whole.choose("number", "grad_norm_sq")
    wait(whole)
    assert whole.text("#sentence") != before
    whole.find("#run-table button").click()
    wait(whole)
    time.sleep(0.7)  # until the address is kept
    state, said = whole.js("return explorer.federation()"), whole.text("#sentence")
    fragment = whole.js("return location.hash")
    whole.open(file, fragment)
    wait(whole)
    assert whole.js("return explorer.federation()") == state
    assert whole.text("#sentence") == said
    whole.open(file, fragment.replace("rounds=20000", "rounds=2000"))
    assert "The link is damaged" in whole.text("#notice")
    whole.open(file, fragment)
    whole.find("#open-bound").click()
    whole.settle()
    assert whole.text("#name") == state["theorem"]
    whole.driver.back()
    wait(whole)
    assert whole.js("return explorer.federation()") == state


@pytest.mark.slow
@pytest.mark.browser
def test_a_file_of_constants_is_taken_and_a_wrong_one_refused(whole):
    told = whole.js("return explorer.told()")["given"]
    file = {**{w: v for w, v in told.items() if w not in federations.PLAN}, "smoothness": 1.7, "_up_to": {}}
    file["_interval"] = {"smoothness": [1.7, 1.9]}
    whole.js("explorer.take('mine.json', JSON.stringify(arguments[0]))", file)
    wait(whole)
    assert whole.js("return explorer.told().given.smoothness") == 1.9, "the end that is safe"
    whole.js("explorer.take('mine.json', '{\"clients\": 3}')")
    assert whole.text("#notice").startswith("mine.json is no federation: it tells no smoothness")


UNNAMED = """
const named = (e) => e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim();
const all = [...document.querySelectorAll("#federation :is(input, select, button)")];
return all.filter((e) => !named(e)).map((e) => e.id);
"""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_nothing_goes_sideways_and_every_control_has_a_name(width, whole):
    with narrow(whole, width, 900):
        assert whole.js("return document.documentElement.scrollWidth - innerWidth") <= 0
        assert whole.js(UNNAMED) == []


# ---- the thread ----

LEVELS_NEAR = """
const [cells, name, start] = arguments, {given, upTo} = explorer.told(), grid = explorer.drawn(), wrong = [];
const {value, level} = grid.found.get(name);
const below = (x) => (x < start ? Math.min(3, Math.floor(Math.log10(start / x))) : -1);
let seen = 0;
for (const at of cells.filter((k) => !Number.isNaN(value[k]))) {
  const steps = Math.max(1, Math.round(1024 ** ((Math.floor(at / 64) + 0.5) / 64)));
  const rows = explorer.rows(grid.target, {...given, local_steps: steps, step_size: grid.sizes[at % 64]}, upTo);
  const found = rows.filter((r) => r.value !== "undefined" && (r.bound === name || r.alias.includes(name)));
  const least = Math.min(...found.map((r) => Number(r.value)));
  seen += 1;
  if (below(least) !== Math.max(level[at] - 5, -1)) wrong.push([steps, grid.sizes[at % 64], least, level[at]]);
}
return [seen, wrong];
"""


@pytest.mark.slow
@pytest.mark.browser
def test_the_levels_of_the_shown_theorem_are_those_of_its_rows_up_to_the_edge(whole):
    """FedInit chooses a pair and a contraction: a quick search alone is wrong at one cell of twenty here."""
    whole.choose("f-rounds", "30000", "input")
    wait(whole)
    whole.choose("theorem", "fedinit.theorem_1")
    for _ in range(2000):
        if not whole.js("return explorer.busy()"):
            break
        time.sleep(0.01)
    given = whole.js("return explorer.told().given")
    seen, wrong = whole.js(
        LEVELS_NEAR, list(range(3, 4096, 11)), "fedinit.theorem_1", given["initial_loss"] - given["optimal_loss"]
    )
    assert seen > 50
    assert wrong == []


SAME_PLANE = """
const {found} = explorer.drawn();
return [...found].map(([name, {value, level}]) => [name, [...value].map(String).join(), [...level].join()]);
"""


@pytest.mark.slow
@pytest.mark.browser
def test_the_plane_comes_out_of_a_thread_and_without_one_is_the_same(whole):
    assert whole.js("return explorer.threaded()"), "a page from disk may start one"
    whole.choose("f-rounds", "321", "input")
    wait(whole)
    theirs = dict((row[0], row[1:]) for row in whole.js(SAME_PLANE))
    shown = whole.js("return explorer.federation().theorem")
    whole.js("explorer.dropThread()")
    whole.choose("f-rounds", "322", "input")
    whole.choose("f-rounds", "321", "input")
    wait(whole)
    assert not whole.js("return explorer.threaded()")
    ours = dict((row[0], row[1:]) for row in whole.js(SAME_PLANE))
    assert ours.keys() == theirs.keys()
    assert {name for name in ours if ours[name] != theirs[name]} <= {shown}, "that one is looked at closely"
