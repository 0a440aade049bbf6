"""The page in a real browser: the panel of a theorem, pages of single bounds, the keyboard, looks, a notebook."""

import pytest
from explorer_browser import focused, LOW_CONTRAST, press, resized

import fedbounds
from bounds import BOUNDS
from bounds.showing.cards import as_json

pytestmark = [pytest.mark.slow, pytest.mark.browser]
REPAIRED = "decaying_k.theorem_1_repaired"


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
