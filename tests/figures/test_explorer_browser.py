"""The explorer in a real browser: numbers against Python, keyboard, overlay, dark mode, phones."""

import time
from math import log

import numpy as np
import pytest
from explorer_browser import by_python, by_shell, focused, narrow, press, SINGLE
from explorer_points import drawn, python_terms

from bounds import BOUNDS

pytestmark = [pytest.mark.slow, pytest.mark.browser]
POINTS = 1000
CLOSE = 1e-12
EVALUATE = """
const [name, points, entries] = arguments;
return points.map(([v, n]) => Array.from({length: entries}, (_, i) => explorer.evaluated(name, v, n, i))
  .map(({terms, failed}) => [terms.map(String), failed.length === 0]));
"""
CELLS = """
return [...document.querySelectorAll(arguments[0])].map((row) => [...row.cells].map((cell) => cell.textContent));
"""
REACHABLE = """
return [...document.querySelectorAll("input, select, button, .scroll[tabindex]")]
  .filter((node) => node.getClientRects().length && !node.disabled && !node.closest("details:not([open])"))
  .map((node) => node.id || node.dataset.copy).filter(Boolean);
"""
EXAMPLE = "return Object.fromEntries(explorer.bounds().get(arguments[0]).quantities.map((q) => [q.name, q.value]));"


# ---- numbers ----


@pytest.mark.parametrize("name", BOUNDS)
def test_the_page_computes_what_python_computes(name, used):
    bound = BOUNDS[name]
    values, points, length = drawn(bound, POINTS)
    entries_ = length if bound.target.card.axis else 1
    found = used.js(EVALUATE, name, points, entries_)
    terms, scales, holds = python_terms(bound, values, POINTS, length)
    js = np.array([[[float(x) for x in entry[0]] for entry in point] for point in found])
    for k, label in enumerate(bound.terms):
        ours, theirs, scale = terms[label][:, :entries_], js[:, :, k], scales[label][:, :entries_]
        same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        same |= (theirs == 0) & (np.abs(ours) < np.finfo(float).tiny)  # Python tells underflow from 0
        with np.errstate(invalid="ignore"):
            assert np.all(same | (np.abs(ours - theirs) <= CLOSE * np.maximum(np.abs(ours), scale))), label
    assert [point[0][1] for point in found] == holds.tolist()


# ---- choosing ----


def test_a_slider_moves_by_keyboard_and_the_value_is_said(page):
    from selenium.webdriver.common.keys import Keys

    slider = page.find("#s-smoothness")
    before, words = float(page.find("#q-smoothness").get_property("value")), page.text("#readout")
    slider.send_keys(Keys.ARROW_RIGHT)
    page.settle()
    after = float(page.find("#q-smoothness").get_property("value"))
    assert after > before
    assert page.text("#readout") != words
    assert slider.get_attribute("aria-valuetext") == f"{after:g}"
    assert page.state()["values"] == {"smoothness": after}


POINTED = """
const [kind, share] = arguments, box = document.getElementById("chart");
const {left, top, width} = box.getBoundingClientRect();
const at = {clientX: left + 62 + share * (width - 76), clientY: top + 120, pointerId: 1, bubbles: true};
box.setPointerCapture = () => {};
box.dispatchEvent(new PointerEvent(kind, at));
"""
"""A pointer over the chart, so far along its axis."""
FIVE = log(5 / 2) / log(11 / 2)
"""How far 5 is along a logarithmic axis from 2 to 11."""


def test_a_pointer_reads_the_chart_and_takes_the_axis_along(page):
    page.choose("from", "2", "input")
    page.choose("to", "11", "input")
    before = page.state()
    page.js(POINTED, "pointermove", FIVE)
    place, value = page.text("#chart-pointer").split(": ")
    assert place == "5"
    assert page.state() == before, "nothing is chosen by looking"
    page.js(POINTED, "pointerdown", FIVE)
    page.settle()
    assert page.text("#readout").startswith(f"At clients = 5: generalization gap ≤ {value} (")
    page.js(POINTED, "pointermove", 0.99)
    page.settle()
    assert page.text("#readout").startswith("At clients = 11: ")
    page.js(POINTED, "pointerup", 0.99)
    page.js(POINTED, "pointermove", FIVE)
    assert page.text("#chart-pointer") == f"5: {value}"
    assert page.text("#readout").startswith("At clients = 11: "), "it was let go"


def test_every_control_can_be_reached_and_has_a_name(page):
    unnamed = page.js(
        """return [...document.querySelectorAll("input, select, button, textarea")].filter((c) =>
        !c.labels?.length && !c.getAttribute("aria-label") && !c.textContent.trim()).map((c) => c.id)"""
    )
    assert not unnamed
    assert not page.js("return [...document.querySelectorAll('[tabindex]')].filter((e) => e.tabIndex > 0).length")


@pytest.mark.parametrize("key", ["TAB", "SHIFT+TAB"])
def test_the_tabulator_comes_round_through_the_whole_page(key, page):
    wanted = set(page.js(REACHABLE))
    rounds, seen = 0, []
    for _ in range(2 * len(wanted) + 20):
        press(page, key)
        seen.append(focused(page))
        rounds += seen[-1] == "theme"
    assert wanted <= set(seen)
    assert rounds >= 2, "no control keeps the focus"


def test_after_a_list_the_focus_goes_on_to_the_next_control(page):
    page.js("document.querySelectorAll('.control details').forEach((box) => { box.open = true; })")
    field = page.find("#l-local_gap")
    field.click()
    field.send_keys("0.1, 0.2")
    press(page, "TAB")
    assert focused(page) == "q-non_iidness"
    assert page.find("#q-clients").get_property("value") == "2"
    press(page, "SHIFT+TAB")
    assert focused(page) == "l-local_gap"
    page.choose("l-local_gap", "")
    assert page.find("#q-clients").get_property("value") == "3", "their number is the chosen one again"
    assert not page.find("#q-clients").get_property("disabled")


def test_a_value_outside_the_domain_is_refused_in_words(page):
    page.choose("q-smoothness", "-3", "input")
    assert page.text("#e-smoothness") == "must be > 0"
    assert page.find("#q-smoothness").get_attribute("aria-invalid") == "true"
    assert page.state()["values"] == {}


def test_search_leaves_what_fits(page):
    page.choose("search", "decaying_k star", "input")
    names = page.js("return [...document.getElementById('bound').options].map((o) => o.value)")
    assert "decaying_k.k_star_printed" in names
    assert all(name.startswith("decaying_k") for name in names)


def test_overlay_shares_the_values_of_one_name(page):
    page.choose("bound", "decaying_k.per_rounds")
    page.choose("overlay", "decaying_k.per_second")
    page.choose("q-smoothness", "2.9", "input")
    assert page.js("return document.querySelectorAll('#chart path.second').length") > 0
    value = float(page.js("return explorer.texts.python()").split("smoothness=")[1].split(",")[0])
    assert value == 2.9
    assert page.js("return Boolean(document.getElementById('q-runtime'))"), "a quantity of the second bound alone"


def test_printed_and_derived_minimisers_stand_side_by_side(page):
    page.choose("bound", "decaying_k.per_second")
    page.choose("x", "local_steps")
    rows = page.js(CELLS, "#minimum tbody tr")
    found = {row[0]: float(row[2]) for row in rows}
    values = page.js(EXAMPLE, "decaying_k.per_second")
    for name in ("decaying_k.k_star", "decaying_k.k_star_printed"):
        words = {q.name: values[q.name] for q in BOUNDS[name].quantities}
        assert found[name] == pytest.approx(float(BOUNDS[name].formula(**words)), rel=1e-3)
    assert found["derived here"] == found["decaying_k.k_star"] != found["decaying_k.k_star_printed"]


def test_failing_conditions_are_hatched_and_said_in_words(page):
    page.choose("bound", "decaying_k.per_rounds")
    page.choose("x", "step_size")
    assert page.js("return document.querySelectorAll('#chart rect.silent').length") > 0
    assert "fails: the step size is at most 1/(4L)" in page.text("#chart")
    page.choose("q-step_size", "5", "input")
    assert "outside: the step size is at most 1/(4L)" in page.text("#readout")
    assert page.text("#conditions .fails").startswith("fails the step size")


def test_the_table_holds_the_curve(page):
    page.js("document.getElementById('table').open = true")
    time.sleep(0.1)
    page.settle()
    rows = page.js(CELLS, "#values tbody tr")
    clients = int(rows[0][0])
    values = page.js(EXAMPLE, "fedals.one_round")
    told = {q.name: values[q.name] for q in BOUNDS["fedals.one_round"].quantities}
    wanted = BOUNDS["fedals.one_round"](**{**told, "client_weight": [1 / clients] * clients})
    assert float(rows[0][-2]) == pytest.approx(float(wanted), rel=1e-5)


def test_a_vacuous_value_is_drawn_and_said(page):
    page.choose("vacuous", "0.01", "input")
    assert "vacuous above 0.01" in page.text("#chart")
    assert "vacuous: above the trivial value" in page.text("#readout")


def test_a_list_over_the_clients_sets_their_number(page):
    page.choose("l-local_gap", "0.1, 0.2")
    assert page.state()["lists"]["local_gap"] == [0.1, 0.2]
    assert page.find("#q-clients").get_property("disabled")
    page.choose("l-non_iidness", "0.1, 0.2, 0.3")
    assert "has 3 numbers; local gap has 2" in page.text("#e-non_iidness")
    page.choose("l-client_weight", "0.5, 0.6")
    assert "must sum to 1" in page.text("#e-client_weight")


# ---- one client of many ----


def test_a_target_per_client_is_shown_of_the_client_that_is_chosen(page, file, capsys):
    page.choose("bound", "fedals.gaussian_mean_local_gap")
    assert page.find("#member-choice").get_property("hidden"), "all clients are alike"
    assert "local gap of every client" in page.text("#readout")
    page.choose("l-client_gradient_variance", "0.4, 0.8, 1.6")
    first = page.js("return explorer.value()")
    page.choose("member", "3")
    assert page.js("return explorer.value()") == pytest.approx(4 * first)
    assert "local gap of client 3" in page.text("#readout")
    assert "of client 3" in page.text("#chart")
    assert by_python(page, capsys) == pytest.approx(4 * first)
    assert by_shell(page, capsys)[2] == pytest.approx(4 * first)
    before = page.state()
    page.around(file)
    assert page.state() == before
    assert page.find("#member").get_property("value") == "3"
    page.choose("l-client_gradient_variance", "0.4, 0.8")
    assert page.state()["member"] == "2", "there is no third client any more"


# ---- looks ----


def background(page):
    return page.js("return getComputedStyle(document.body).backgroundColor")


def test_dark_mode_by_the_system_and_by_the_button(page):
    light = background(page)
    page.find("#theme").click()
    assert background(page) != light
    page.find("#theme").click()
    assert background(page) == light
    page.js("localStorage.clear()")
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.js("delete document.documentElement.dataset.theme")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    assert background(page) != light
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_theme_that_was_chosen_is_kept(page, file):
    light = background(page)
    page.find("#theme").click()
    dark = background(page)
    try:
        page.open(file, SINGLE)
        assert background(page) == dark != light
        page.find("#theme").click()
        page.open(file, SINGLE)
        assert background(page) == light
    finally:
        page.js("localStorage.clear()")


@pytest.mark.parametrize("name", ["fedals.one_round", "fedinit.theorem_5", "decaying_k.per_second"])
def test_a_phone_shows_everything_without_scrolling_sideways(name, page):
    with narrow(page, 360):
        page.choose("bound", name)
        assert page.js("return document.documentElement.scrollWidth") <= 360
        boxes = page.js(
            """return [...document.querySelectorAll("button, input, select, #chart svg")]
            .map((e) => e.getBoundingClientRect()).filter((r) => r.width && (r.right > 361 || r.left < 0)).length"""
        )
        assert boxes == 0


IN_SIGHT = """
const inside = (node) => {
  const box = node.getBoundingClientRect();
  return box.top >= -1 && box.bottom <= innerHeight + 1 && box.height > 0;
};
return [...document.querySelectorAll("#sliders input:not([id^=l-])")].filter((node) => {
  node.scrollIntoView({block: "nearest"});
  const [a, b] = [document.querySelector("#chart svg"), node].map((n) => n.getBoundingClientRect());
  const covered = a.bottom > b.top && a.top < b.bottom && a.right > b.left && a.left < b.right;
  return !inside(node) || !inside(document.querySelector("#chart svg")) || covered;
}).map((node) => node.id);
"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
@pytest.mark.parametrize("name", ["fedals.one_round", "fedinit.theorem_1", "decaying_k.per_second"])
def test_the_chart_stays_in_sight_beside_whatever_control_is_used(name, width, height, page):
    with narrow(page, width, height):
        page.choose("bound", name)
        page.js("document.getElementById('picture').scrollIntoView({block: 'start'})")
        assert page.js("return document.querySelectorAll('#sliders input').length") > 5
        assert not page.js(IN_SIGHT)


def test_what_a_run_chooses_stands_apart_with_local_steps_and_step_size_first(page):
    page.choose("bound", "fedinit.theorem_1")
    told = page.js(
        "return [...document.querySelectorAll('#sliders h4, #sliders .control')].map((e) => e.id || e.textContent)"
    )
    problem = told.index("The problem")
    assert told[:4] == ["You choose", "c-local_steps", "c-step_size", "c-cohort"]
    assert "c-relaxation" in told[:problem]
    assert {"c-smoothness", "c-clients", "c-gradient_variance"} <= set(told[problem:])


TICKS = """
return [...document.querySelectorAll("#chart text.tick")].map((t) => t.getBoundingClientRect())
  .map((r) => [r.left, r.right, r.top, r.bottom]);
"""


def test_every_bound_opens_without_a_complaint_and_without_overlapping_ticks(page):
    for name in BOUNDS:
        page.choose("bound", name)
        boxes = page.js(TICKS)
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                assert min(a[1], b[1]) <= max(a[0], b[0]) or min(a[3], b[3]) <= max(a[2], b[2]), name
        assert "NaN" not in page.js("return document.getElementById('chart').innerHTML"), name
