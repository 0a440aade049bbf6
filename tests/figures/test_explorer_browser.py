"""The page in a real browser: the map, the history, files, the panel of a theorem, the keyboard, looks, a notebook."""

import json

import pytest
from explorer_browser import focused, LOW_CONTRAST, press, resized

import fedbounds
from bounds import BOUNDS
from bounds.showing.cards import as_json
from figures.explorer import atlas, committed, federations
from paper_checks.worst_case.tightness_table import committed as committed_cases

pytestmark = [pytest.mark.slow, pytest.mark.browser]
REPAIRED = "decaying_k.theorem_1_repaired"
EMBEDDED = atlas.embedded()
MEASURED = {one["name"]: one for one in committed.read()["federations"]}
QUADRATIC, TRAINED = MEASURED["4 quadratics, measured"], MEASURED["phishing, measured"]
EXACT = committed.read()["exact"]


def plan(whole):
    chosen = whole.js("return explorer.state().plan")
    return chosen["local_steps"], chosen["step_size"]


def rounds(whole):
    return whole.js("return explorer.state().plan.rounds")


def test_the_plan_moves_by_keys_and_buttons_and_a_link_restores_it(whole, file):
    before = whole.text("#sentence")
    whole.js("document.getElementById('map').focus()")
    press(whole, "ARROW_RIGHT", "ARROW_UP", "ARROW_UP", "ARROW_UP", "ARROW_UP", "SHIFT+ARROW_DOWN")
    assert whole.js("return explorer.state().plan") == {
        "local_steps": 9, "step_size": 0.01, "cohort": 10, "rounds": 1000, "relaxation": 0
    }  # fmt: skip
    press(whole, "ARROW_RIGHT")
    whole.choose("f-smoothness", "2.5", "input")
    whole.choose("f-rounds", "1/0", "input")
    assert whole.find("#f-rounds").get_attribute("aria-invalid") == "true"
    whole.choose("f-rounds", "20000", "input")
    whole.choose("target", "grad_norm_sq")
    whole.settle()
    assert whole.text("#sentence") != before
    whole.find("#run-table button").click()
    whole.choose("theorem", REPAIRED)
    whole.rest()
    state, sentence = whole.js("return explorer.state()"), whole.text("#sentence")
    fragment = whole.js("return location.hash")
    whole.open(file, fragment)
    whole.settle()
    assert (whole.js("return explorer.state()"), whole.text("#sentence")) == (state, sentence)


THREE = """
const field = document.getElementById("f-rounds");
for (const rounds of ["900", "901", "902"]) {
  field.value = rounds;
  field.dispatchEvent(new Event("input", {bubbles: true}));
}
"""
"""At once: a loaded machine lets each of three commands to the browser come to rest."""


def test_every_completed_change_is_one_step_of_the_history(whole):
    whole.rest()
    whole.js(THREE)
    whole.rest()
    whole.js("document.getElementById('map').focus()")
    press(whole, "ARROW_RIGHT", "ARROW_RIGHT")
    whole.rest()
    assert plan(whole) == (10, 0.01)
    whole.back()
    assert (plan(whole), whole.find("#f-local_steps").get_property("value")) == ((8, 0.01), "8")
    whole.back()
    assert rounds(whole) == 1000, "three changes in a row are one step"
    whole.back(1)
    assert rounds(whole) == 902


HOVER = """
const map = document.getElementById("map"), box = map.firstElementChild.getBoundingClientRect();
const {left, top, width, height} = box;
const at = {clientX: left + 58 + 0.1 * (width - 76), clientY: top + 8 + 0.64 * (height - 50)};  // K = 2, a small step
map.dispatchEvent(new PointerEvent("pointermove", at));
const shown = document.getElementById("map-hover").textContent.match(/K = (\\d+), η = ([\\d.]+): ([\\d.]+)/);
const [K, size, shown_value] = shown.slice(1).map(Number);
const {given, upTo} = explorer.inputs(), {target, theorem} = explorer.state();
const rows = explorer.rows(target, {...given, local_steps: K, step_size: size}, upTo);
return [shown_value, rows.filter((r) => r.bound === theorem || r.alias.includes(theorem)).map((r) => Number(r.value))];
"""


def test_the_value_at_the_pointer_is_that_of_its_plan(whole):
    """The pointer reads the exact plan, not the nearest grid point of the map."""
    for theorem in (REPAIRED, "fedinit.theorem_1"):
        whole.choose("theorem", theorem)
        shown_value, rows = whole.js(HOVER)
        assert shown_value == pytest.approx(min(rows), rel=0.006)


MAP_VALUES = """
const {fields} = explorer.map();
return [...fields].map(([name, {value, level}]) => [name, [...value].map(String).join(), [...level].join()]);
"""


def test_the_map_is_the_same_with_and_without_a_worker(whole):
    assert whole.js("return explorer.hasWorker()"), "a page from disk may start one"
    whole.choose("f-rounds", "321", "input")
    whole.settle()
    theirs = {name: numbers for name, *numbers in whole.js(MAP_VALUES)}
    shown = whole.js("return explorer.state().theorem")
    whole.js("explorer.stopWorker()")
    whole.choose("f-rounds", "322", "input")
    whole.choose("f-rounds", "321", "input")
    whole.settle()
    assert not whole.js("return explorer.hasWorker()")
    ours = {name: numbers for name, *numbers in whole.js(MAP_VALUES)}
    assert ours.keys() == theirs.keys()
    assert {name for name in ours if ours[name] != theirs[name]} <= {shown}, "the shown theorem is computed finely"


BESIDE = """
return [...document.querySelectorAll("#ranking li.row")].map((row) => [row.querySelector("button").dataset.name,
  row.querySelector(".of").textContent,
  [...row.querySelectorAll(".beside")].map((e) => e.textContent)]);
"""


def test_committed_numbers_are_shown_beside_their_bounded_quantity_only(whole):
    for place, one in (("4", QUADRATIC), ("5", TRAINED)):
        whole.choose("federations", place)
        whole.settle()
        number = next(m for m in one["measured"] if m["plan"] == {**one["plan"], "relaxation": 0})
        exact = {(name, kind) for name, kind, *_ in EXACT[one["name"]][one["target"]]}
        seen = 0
        for name, kind, besides in whole.js(BESIDE):
            assert any(b.startswith("● measured") for b in besides) is (kind == number["kind"]), name
            assert any(b.startswith("■ exact") for b in besides) is ((name, kind) in exact), name
            seen += len(besides)
        assert seen > 4
        whole.js("[...document.querySelectorAll('#measured-plans button')].at(-1).click()")
        whole.settle()
        assert "● measured" in whole.text("#ranking")
        assert "■ exact" not in whole.text("#ranking"), "exact numbers are of the plan it starts from"
        whole.choose("f-smoothness", str(1.1 * one["given"]["smoothness"]), "input")
        whole.settle()
        assert "● measured" not in whole.text("#ranking"), "no federation with another L was run"
    whole.choose("federations", "0")
    assert whole.js("return document.querySelectorAll('.worst').length") == 0
    whole.choose("federations", "1")
    whole.settle()
    whole.choose("theorem", federations.SHOWN)
    titles = whole.js("return [...document.querySelectorAll('#map g title')].map((t) => t.textContent)")
    assert sum("exact worst case" in title for title in titles) == 6
    assert sum(title.startswith("the smallest of these") for title in titles) == 1
    assert whole.text("#ranking").count("◆ ") == 3


def test_the_page_opens_with_a_story_whose_numbers_are_those_of_the_tables(whole, file):
    whole.open(file)
    whole.settle()
    texts, chosen = [], []
    for _ in range(3):
        texts.append(whole.text("#story"))
        chosen.append(plan(whole)[0])
        whole.js("document.querySelector('#story .main')?.click()")
        whole.settle()
    table = [row for row in committed_cases(federations.SHOWN) if row["rounds"] == 2 and row["step_size"] == 0.125]
    table = [row for row in table if (row["heterogeneity"], row["condition_number"]) == (0.1, 10)]
    best = {what: min(table, key=lambda row: row[what]) for what in ("bound", "worst_case")}
    swept = [m for m in TRAINED["measured"] if m["plan"]["rounds"] == committed.SWEPT and m["plan"]["cohort"] == 5]
    measured = min((m for m in swept if m["target"] == "grad_norm_sq"), key=lambda m: m["value"])
    assert chosen == [*(one["local_steps"] for one in best.values()), measured["plan"]["local_steps"]] == [2, 4, 16]
    assert f"{best['worst_case']['worst_case']:.3g}" in texts[1]
    whole.js("[...document.querySelectorAll('#story button')].at(-1).click()")
    whole.settle()
    assert plan(whole) == (8, 0.01)


def constants(**changed):
    """A file that is right but for what is changed."""
    start = federations.of_quadratics()
    return json.dumps({**start["given"], "_up_to": start["up_to"], **changed})


TAKEN = (
    {},
    {"gradient_variance": 0, "client_gradient_variance": [0] * 10},
    {"sampling": "without_replacement", "algorithm": "fedavg"},
    {"constructor": 3, "_about": {"not": "words"}},
)
WRONG = (
    (constants(local_steps=2.5), "2.5"),
    (constants(cohort=20), "20"),
    (constants(gradient_variance=-1), "-1"),
    (constants(strong_convexity=2), "μ"),
    (constants(pl_constant=2), "pl constant"),
    (constants(client_gradient_variance=[0.1, 0.2, 0.3]), "10 clients"),
    (constants(client_weight=[0.3] * 10), "client weight"),
    (constants(initial_loss="two"), "initial loss"),
    (constants(sampling="with_replacement"), "with_replacement"),
    (constants(algorithm="scaffold"), "scaffold"),
    (constants(_up_to={"grad_cap_sq": {"step_size": "far"}}), "grad cap sq"),
    (constants(_interval={"smoothness": 3}), "smoothness"),
    *((text, "wrong.json") for text in ("[1, 2]", "null", "{")),
    ('{"clients": 3}', "smoothness"),
)
TAKE = "explorer.openConstants(arguments[0], arguments[1])"


def test_a_file_of_constants_is_loaded_and_a_wrong_one_changes_nothing(whole):
    before = whole.js("return [explorer.inputs(), explorer.state()]")
    for text, named in WRONG:
        whole.js(TAKE, "wrong.json", text)
        message = whole.text("#notice")
        assert (message.startswith("wrong.json"), named in message, "\n" in message) == (True, True, False), message
        assert whole.js("return [explorer.inputs(), explorer.state()]") == before
    assert whole.js("return document.querySelectorAll('#federations option').length") == len(EMBEDDED)
    for count, changed in enumerate(TAKEN, len(EMBEDDED)):
        whole.js(TAKE, "mine.json", constants(**changed))
        assert whole.find("#notice").get_property("hidden"), changed
        assert whole.find("#federations").get_property("value") == str(count)
        assert "mine.json" in whole.text("#federation-words")
    whole.js(TAKE, "10 quadratics", constants(smoothness=1.9, sample_smoothness=1.9))
    whole.rest()
    whole.js(TAKE, "10 quadratics", constants(_interval={"smoothness": [1.7, 2.3]}, sample_smoothness=2.3))
    whole.rest()
    shown = "return document.getElementById('federations').selectedOptions[0].textContent"
    assert whole.js(shown) == "10 quadratics (3)"
    assert whole.js("return explorer.inputs().given.smoothness") == 2.3, "the end that is safe"
    whole.back()
    assert whole.js(shown) == "10 quadratics (2)"
    assert whole.js("return explorer.inputs().given.smoothness") == 1.9


def test_a_log_of_runs_is_loaded_or_refused_and_drawn(whole):
    given = whole.js("return explorer.inputs().given")
    start = given["initial_loss"] - given["optimal_loss"]
    head = "algorithm,cohort,local_steps,step_size,seed,round,quantity,value\n"
    lines = [f"fedavg(),10,8,0.01,{s},{r},optimality_gap,{start / (1 + r * s)}\n" for s in (3, 11) for r in range(8)]
    whole.choose("f-rounds", "7", "input")
    for name, log in (("wrong.csv", lines[:-1]), ("mine.csv", lines)):
        whole.js("explorer.openRuns(arguments[0], arguments[1])", name, head + "".join(log))
        whole.settle()
        right = name == "mine.csv"
        assert (name in whole.text("#runs-summary"), name in whole.text("#notice")) == (right, not right)
    titles = whole.js("return [...document.querySelectorAll('#map g title')].map((t) => t.textContent)")
    assert sum("measured" in title for title in titles) == 1
    assert "● measured" in whole.text("#ranking")


# ---- the panel of a theorem, and how all of it is used and looks ----


def property_of(page, selector, name="value"):
    return page.find(selector).get_property(name)


POINTED = """
const [kind, share] = arguments, box = document.getElementById("chart");
const {left, top, width} = box.getBoundingClientRect();
const at = {clientX: left + 58 + share * (width - 70), clientY: top + 90, pointerId: 1, bubbles: true};
box.setPointerCapture = () => {};
box.dispatchEvent(new PointerEvent(kind, at));
"""
"""A pointer over the chart, so far along its axis."""


def test_a_theorem_of_the_ranking_opens_its_panel_whose_numbers_are_those_of_the_setting(whole):
    assert property_of(whole, "#theorem-panel", "hidden")
    whole.find("#ranking li.row button").click()
    whole.settle()
    name, value = whole.state()["theorem"], whole.text("#ranking li.row strong")
    assert BOUNDS[name].source.place.split(",")[0] in whole.text("#name")
    assert value in whole.text("#plan-value")
    whole.choose("theorem", REPAIRED)
    whole.choose("x", "step_size")
    (condition,) = (c.words for c in BOUNDS[REPAIRED].conditions if "1/(4L)" in c.words)
    assert condition in whole.text("#chart")
    assert whole.js("return document.querySelectorAll('#chart rect.excluded').length") > 0
    before = whole.state()["plan"]["step_size"]
    for kind, share in (("pointerdown", 0.2), ("pointermove", 0.95), ("pointerup", 0.95)):
        whole.js(POINTED, kind, share)
        whole.settle()
    assert whole.state()["plan"]["step_size"] > 10 * before
    assert float(property_of(whole, "#f-step_size")) == pytest.approx(whole.state()["plan"]["step_size"])
    assert condition in whole.text("#conditions .fails")


def test_numbers_that_a_setting_lacks_come_from_the_example_until_they_are_told(whole, file):
    whole.open(file, "#v=2&b=fedals.one_round")
    example = whole.js("return explorer.value()")
    assert whole.state()["target"] == "generalization_gap"
    assert "one_round" not in whole.text("#ranking")
    whole.choose("f-local_gap", "nothing", "input")
    assert whole.find("#f-local_gap").get_attribute("aria-invalid") == "true"
    assert whole.js("return explorer.value()") == example, "the last good one stays"
    whole.choose("f-local_gap", "0.3", "input")
    assert whole.js("return explorer.value()") != example
    assert whole.js("return explorer.inputs().given.local_gap") == 0.3


def test_copying_with_a_clipboard_and_without_one(whole):
    whole.choose("theorem", REPAIRED)
    whole.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
    for kind in ("latex", "python", "shell"):
        whole.js("document.getElementById('copied').textContent = ''")
        whole.find(f"[data-copy={kind}]").click()
        whole.settle(f"document.getElementById('copied').textContent === '{kind} copied'")
        copied = whole.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        assert copied == whole.js(f"return explorer.texts.{kind}()")
    whole.js("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    whole.js("document.execCommand = () => false")
    whole.find("[data-copy=latex]").click()
    whole.settle("document.getElementById('copied').textContent.includes('Ctrl+C')")
    assert as_json(BOUNDS[REPAIRED])["latex"] in property_of(whole, "#manual")


REACHABLE = """
return [...document.querySelectorAll("input, select, button, summary, .scroll[tabindex]")]
  .filter((node) => node.checkVisibility() && !node.disabled)
  .map((node) => node.id || node.textContent).filter(Boolean);
"""
UNNAMED = """
return [...document.querySelectorAll("input, select, button, textarea")].filter((c) =>
  !c.labels?.length && !c.getAttribute("aria-label") && !c.textContent.trim()).map((c) => c.id);
"""


def test_the_tabulator_comes_round_through_the_whole_page(whole):
    whole.choose("theorem", REPAIRED)
    wanted, seen = set(whole.js(REACHABLE)), set()
    whole.js("document.getElementById('theme').focus()")
    for _ in range(2 * len(wanted) + 20):
        press(whole, "TAB")
        seen.add(focused(whole))
        if wanted <= seen:
            break
    assert wanted <= seen, wanted - seen
    assert not whole.js("return [...document.querySelectorAll('[tabindex]')].filter((e) => e.tabIndex > 0).length")


def test_every_text_can_be_told_from_what_is_behind_it_and_every_control_has_a_name(whole):
    for theme in ("light", "dark"):
        whole.js("document.documentElement.dataset.theme = arguments[0]", theme)
        for place in ("0", "5"):
            whole.choose("federations", place)
            whole.choose("theorem", REPAIRED)
            whole.choose("f-rounds", "nothing", "input")
            whole.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            whole.settle()
            assert not whole.js(LOW_CONTRAST), (theme, place)
            assert not whole.js(UNNAMED), place


def test_the_page_fits_every_width_and_shows_the_map_first(whole, file):
    for width, most in ((390, 3000), (1024, 2500), (1440, 2500)):
        with resized(whole, width):
            whole.open(file)
            tall, wide = (whole.js(f"return document.documentElement.scroll{end}") for end in ("Height", "Width"))
            assert tall < most, width
            assert wide <= width
            order = "return [...arguments].map((id) => document.getElementById(id).getBoundingClientRect().top)"
            places = whole.js(order, "map", "plan-sliders", "ranking")
            assert places[0] < places[1]
            assert places == sorted(places) or width == 1440


def test_a_notebook_shows_a_page_in_a_frame_that_may_keep_nothing(shared, tmp_path):
    output = fedbounds.explore("fedcog.theorem")._repr_html_()
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body style='width:900px'>{output}", encoding="utf-8")
    shared.driver.get(file.as_uri())
    shared.driver.switch_to.frame(0)
    shared.settle()
    before = shared.js("return explorer.value()")
    shared.choose("f-smoothness", "7", "input")
    assert shared.js("return explorer.value()") != before
    shared.driver.switch_to.default_content()
    assert not shared.complaints()
