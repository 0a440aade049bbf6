"""The page of one bound in a real browser: hands, links, copies, looks."""

from dataclasses import replace
from math import log
from pathlib import Path

import pytest
from explorer_browser import by_python, by_shell, FAINT, focused, press, SINGLE, until

from bounds import BOUNDS, Source
from empirics.experiments import Outcome, Store
from fedbounds import explore
from figures.explorer.command import entries
from figures.explorer.page import page as made
from figures.ours.grid import exact

pytestmark = [pytest.mark.slow, pytest.mark.browser]
EXAMPLE = "return Object.fromEntries(explorer.bounds().get(arguments[0]).quantities.map((q) => [q.name, q.value]));"
CELLS = """
return [...document.querySelectorAll(arguments[0])].map((row) => [...row.cells].map((cell) => cell.textContent));
"""


def property_of(page, selector, name="value"):
    return page.find(selector).get_property(name)


# ---- choosing ----


def test_a_slider_moves_by_keyboard_and_the_value_is_said(page):
    before, words = float(property_of(page, "#q-smoothness")), page.text("#readout")
    page.find("#s-smoothness").click()
    press(page, "ARROW_RIGHT")
    after = float(property_of(page, "#q-smoothness"))
    assert after != before
    assert page.text("#readout") != words
    assert page.find("#s-smoothness").get_attribute("aria-valuetext") == f"{after:g}"
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
    before, words = page.state(), page.text("#readout")
    page.js(POINTED, "pointermove", FIVE)
    place, value = page.text("#chart-pointer").split(": ")
    assert (place, page.state(), page.text("#readout")) == ("5", before, words), "nothing is chosen by looking"
    for kind, share, clients in (("pointerdown", FIVE, 5), ("pointermove", 0.99, 11), ("pointerup", 0.99, 11)):
        page.js(POINTED, kind, share)
        page.settle()
        assert page.text("#readout").startswith(f"At clients = {clients}: ")
        assert value in page.text("#readout") or clients != 5
    page.js(POINTED, "pointermove", FIVE)
    assert page.text("#readout").startswith("At clients = 11: "), "it was let go"


REACHABLE = """
return [...document.querySelectorAll("input, select, button, .scroll[tabindex]")]
  .filter((node) => node.getClientRects().length && !node.disabled && !node.closest("details:not([open])"))
  .map((node) => node.id || node.dataset.copy).filter(Boolean);
"""


def test_the_tabulator_comes_round_through_the_whole_page(page):
    for key in ("TAB", "SHIFT+TAB"):
        wanted, seen, rounds = set(page.js(REACHABLE)), set(), 0
        for _ in range(2 * len(wanted) + 20):
            press(page, key)
            seen.add(focused(page))
            rounds += focused(page) == "theme"
        assert wanted <= seen, key
        assert rounds >= 2, "no control keeps the focus"
    assert not page.js("return [...document.querySelectorAll('[tabindex]')].filter((e) => e.tabIndex > 0).length")


REFUSED = (
    ("q-smoothness", "-3", "input", "e-smoothness", "> 0"),
    ("q-clients", "10001", "input", "e-clients", "10000"),
    ("q-clients", "1e300", "input", "e-clients", "10000"),
    ("from", "-3", "input", "e-choices", "-3"),
    ("to", "many", "input", "e-choices", "many"),
    ("from", "9", "input", "e-choices", "8"),
    ("vacuous", "1//2", "input", "e-choices", "1//2"),
    ("l-client_weight", "0.5, 0.6", "change", "e-client_weight", "1.1"),
    ("l-local_gap", ",".join(["1"] * 10001), "change", "e-local_gap", "10001"),
    ("l-non_iidness", "0.1, 0.2, 0.3", "change", "e-non_iidness", "local gap"),
)
"""Control, what is typed, its event, where it is refused, and what is named there."""


def test_a_wrong_choice_is_said_and_the_last_good_one_stays(page):
    page.choose("to", "8", "input")
    page.choose("vacuous", "0.1", "input")
    chart = "return document.querySelector('#chart svg').outerHTML"
    for control, value, kind, error, named in REFUSED:
        if control == "l-non_iidness":
            page.choose("l-local_gap", "0.1, 0.2")
        good, before, drawn = property_of(page, f"#{control}"), page.state(), page.js(chart)
        page.choose(control, value, kind)
        assert named in page.text(f"#{error}"), control
        assert page.find(f"#{control}").get_attribute("aria-invalid") == "true", control
        assert (page.state(), page.js(chart)) == (before, drawn), control
        page.choose(control, good, kind)
        assert page.text(f"#{error}") == "", control
        assert page.find(f"#{control}").get_attribute("aria-invalid") == "false", control


def test_the_chart_its_table_and_words_say_where_a_bound_is_silent_or_vacuous(page):
    page.choose("vacuous", "0.01", "input")
    assert "vacuous above 0.01" in page.text("#chart")
    assert "vacuous" in page.text("#readout")
    page.js("document.getElementById('table').open = true")
    until(page, "document.querySelector('#values tbody tr')")
    rows = page.js(CELLS, "#values tbody tr")
    clients, values = int(rows[0][0]), page.js(EXAMPLE, "fedals.one_round")
    told = {q.name: values[q.name] for q in BOUNDS["fedals.one_round"].quantities}
    wanted = BOUNDS["fedals.one_round"](**{**told, "client_weight": [1 / clients] * clients})
    assert float(rows[0][-2]) == pytest.approx(float(wanted), rel=1e-5)
    page.choose("bound", "decaying_k.per_rounds")
    page.choose("x", "step_size")
    assert page.js("return document.querySelectorAll('#chart rect.silent').length") > 0
    (condition,) = (c.words for c in BOUNDS["decaying_k.per_rounds"].conditions if "1/(4L)" in c.words)
    assert condition in page.text("#chart")
    page.choose("q-step_size", "5", "input")
    assert condition in page.text("#readout")
    assert condition in page.text("#conditions .fails")


def test_a_target_per_client_is_shown_of_the_client_that_is_chosen(page, file, capsys):
    page.choose("bound", "fedals.gaussian_mean_local_gap")
    assert property_of(page, "#member-choice", "hidden"), "all clients are alike"
    page.choose("l-client_gradient_variance", "0.4, 0.8, 1.6")
    first = page.js("return explorer.value()")
    page.choose("member", "3")
    assert page.js("return explorer.value()") == pytest.approx(4 * first)
    assert all("client 3" in page.text(place) for place in ("#readout", "#chart"))
    assert by_python(page, capsys) == pytest.approx(4 * first)
    assert by_shell(page, capsys)[2] == pytest.approx(4 * first)
    before = page.state()
    page.around(file)
    assert (page.state(), property_of(page, "#member")) == (before, "3")
    page.choose("l-client_gradient_variance", "0.4, 0.8")
    assert page.state()["member"] == "2", "there is no third client any more"


def test_the_state_goes_around_through_the_address_and_a_damaged_one_opens_the_defaults(page, file):
    page.choose("bound", "decaying_k.per_rounds")
    page.choose("overlay", "fedcog.theorem")
    page.choose("x", "step_size")
    page.choose("q-rounds", "123", "input")
    page.choose("terms", "stacked", "input")
    link = page.js("return explorer.texts.link()").split("#")[1]
    before, words = page.state(), page.text("#readout")
    page.open(file, f"#{link}.")
    assert (page.state(), page.text("#readout")) == (before, words)
    assert len(link) < 200
    page.js("history.replaceState(null, '', '#'); location.hash = arguments[0]", SINGLE)
    page.settle()
    assert page.state()["bound"] == "fedals.one_round"
    for damaged in (link.replace("123", "124"), "nonsense", "v=2&p.local_steps=7"):
        page.open(file, f"#{damaged}")
        assert "damaged" in page.text("#notice"), damaged
        assert page.state() in ({}, page.js("return explorer.fresh('fedals.one_round')")), damaged


def test_a_run_of_a_store_is_drawn_and_goes_around(shared, tmp_path):
    store, file = Store(tmp_path / "store"), tmp_path / "page.html"
    table = {"rounds": [1, 2, 3], "measured": [0.5, 0.4, 0.3], "error": [0.1, 0.1, 0.1]}
    names = ["fedcog.theorem", "decaying_k.theorem_1_appendix"]
    for name in names:
        store.keep(exact("smoke", name, 0), Outcome({**table, "exact": [0.6, 0.3, 0.2]}, {"step_size": 0.05}), 0.1)
    file.write_text(made(entries(names), store.folder), encoding="utf-8")
    shared.open(file)
    shared.choose("x", "smoothness")
    shared.choose("from", "0.5", "input")
    shared.choose("runs", "0")
    assert (shared.state()["x"], shared.state()["from"]) == ("rounds", ""), "what was another axis's start is gone"
    drawn = "return ['measured', 'exact'].map((kind) => document.querySelectorAll(`#chart .${kind}`).length)"
    assert shared.js(drawn) == [3, 3]
    words, link = shared.text("#run-words"), shared.js("return explorer.texts.link()").split("#")[1]
    shared.choose("q-smoothness", "3", "input")
    assert shared.text("#run-words") != words
    shared.open(file, "#" + link)
    assert shared.text("#run-words") == words != ""
    shared.choose("bound", names[1])
    assert shared.text("#run-words") == "", "what another bound's run told is gone"
    shared.choose("runs", "0")
    before = shared.state()
    assert {len(numbers) for numbers in before["lists"].values()} == {0, 4}, "none is left of the example's three"
    shared.around(file)
    assert shared.state() == before
    assert property_of(shared, "#notice", "hidden"), shared.text("#notice")
    assert not shared.complaints()


COPIED = "document.getElementById('copied').textContent"


def test_copying_with_a_clipboard_without_one_and_where_it_is_refused(page):
    page.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
    for kind in ("latex", "python", "shell", "link"):
        page.find(f"[data-copy={kind}]").click()
        until(page, f"{COPIED} === '{kind} copied'")
        copied = page.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        assert copied == page.js(f"return explorer.texts.{kind}()")
    permission = {"permission": {"name": "clipboard-write"}, "setting": "denied"}
    page.driver.execute_cdp_cmd("Browser.setPermission", permission)
    try:
        page.js("document.querySelector('[data-copy=shell]').focus()")
        press(page, "ENTER")
        until(page, f"{COPIED} === 'shell copied'")
        assert focused(page) == "shell"
        page.js("document.getElementById('search').focus()")
        page.find("#search").send_keys("\ue009v")  # Ctrl+V
        assert property_of(page, "#search") == page.js("return explorer.texts.shell()")
    finally:
        page.driver.execute_cdp_cmd("Browser.resetPermissions", {})
    page.js("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    page.js("document.execCommand = () => false")
    page.find("[data-copy=latex]").click()
    until(page, f"{COPIED}.includes('Ctrl+C')")
    assert BOUNDS["fedals.one_round"].latex() in property_of(page, "#manual")


def test_bounds_with_given_values_and_out_of_files_are_copied_and_go_around(shared, tmp_path, capsys, monkeypatch):
    fixed = BOUNDS["fedals.one_round"].fix(smoothness=2.5, client_weight=[0.5, 0.3, 0.2])
    mine = replace(BOUNDS["fedals.one_round"], name="mine.other", source=Source("my notes", "Lemma 1"))
    file, name = tmp_path / "page.html", "examples/my_bound.py:my_bound"
    explore(fixed, mine).save(file)
    shared.open(file)
    value = pytest.approx(shared.js("return explorer.value()"))
    assert (by_python(shared, capsys), by_shell(shared, capsys)) == (value, value)
    assert not any(shared.js("return [...document.getElementById('x').options].map((o) => o.value === 'clients')"))
    shared.choose("bound", "mine.other")
    assert property_of(shared, "[data-copy=shell]", "hidden"), "no command line knows this bound"
    monkeypatch.chdir(Path(__file__).parents[2])
    file.write_text(made(entries(["fedals.one_round", name])), encoding="utf-8")
    shared.open(file)
    shared.choose("bound", name)
    shared.choose("q-kept", "0.3", "input")
    before = shared.state()
    shared.around(file)
    assert shared.state() == before
    assert property_of(shared, "#notice", "hidden")
    value = pytest.approx(shared.js("return explorer.value()"))
    assert (by_python(shared, capsys), by_shell(shared, capsys)) == (value, value)
    assert not shared.complaints()


UNNAMED = """
return [...document.querySelectorAll("input, select, button, textarea")].filter((c) =>
  !c.labels?.length && !c.getAttribute("aria-label") && !c.textContent.trim()).map((c) => c.id);
"""


def test_every_text_can_be_told_from_what_is_behind_it_and_every_control_has_a_name(page):
    for theme in ("light", "dark"):
        page.js("document.documentElement.dataset.theme = arguments[0]", theme)
        for name in ("fedals.one_round", "fedcog.theorem", "decaying_k.per_second", "fedinit.theorem_5"):
            page.choose("bound", name)
            page.choose("from", "nothing", "input")
            page.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            page.settle()
            assert not page.js(FAINT), (theme, name)
            assert not page.js(UNNAMED), name
