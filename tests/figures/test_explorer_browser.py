"""The explorer in a real browser: numbers against Python, keyboard, overlay, links, copying, dark mode, phones."""

import json
import re
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from explorer_browser import browser, narrow
from explorer_points import drawn, python_terms

from bounds import BOUNDS, Source
from empirics.store import Outcome, Store
from fedbounds import explore, main
from figures.explorer.command import entries
from figures.explorer.page import page as made
from figures.ours.grid import exact

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
SIGNED = """
const said = new URLSearchParams(arguments[0]);
said.set('c', explorer.mark(said.toString()));
return said.toString();
"""
ONLY_SECOND = """
const [a, b] = ["bound", "overlay"].map((key) => explorer.bounds().get(explorer.state()[key]).quantities);
return b.filter((q) => !q.axis && !a.some((o) => o.name === q.name)).map((q) => q.name);
"""
EXAMPLE = "return Object.fromEntries(explorer.bounds().get(arguments[0]).quantities.map((q) => [q.name, q.value]));"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    path.write_text(made(entries([])), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def shared():
    with browser() as page:
        yield page


@pytest.fixture
def page(shared, file):
    """A freshly opened page, which complains of nothing and asks for nothing but itself."""
    shared.open(file)
    shared.complaints(), shared.requests()
    yield shared
    assert not shared.complaints()
    assert not [url for url in shared.requests() if not url.startswith((file.as_uri(), "data:", "about:"))]


# ---- numbers ----


@pytest.mark.parametrize("name", BOUNDS)
def test_the_page_computes_what_python_computes(name, shared, file):
    if not shared.driver.current_url.startswith(file.as_uri()):
        shared.open(file)
    bound = BOUNDS[name]
    values, points, length = drawn(bound, POINTS)
    entries_ = length if bound.target.card.axis else 1
    found = shared.js(EVALUATE, name, points, entries_)
    terms, scales, holds = python_terms(bound, values, POINTS, length)
    js = np.array([[[float(x) for x in entry[0]] for entry in point] for point in found])
    for k, label in enumerate(bound.terms):
        ours, theirs, scale = terms[label][:, :entries_], js[:, :, k], scales[label][:, :entries_]
        same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
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


def test_every_control_can_be_reached_and_has_a_name(page):
    unnamed = page.js(
        """return [...document.querySelectorAll("input, select, button, textarea")].filter((c) =>
        !c.labels?.length && !c.getAttribute("aria-label") && !c.textContent.trim()).map((c) => c.id)"""
    )
    assert not unnamed
    assert not page.js("return [...document.querySelectorAll('[tabindex]')].filter((e) => e.tabIndex > 0).length")


def focused(page):
    return page.js("const now = document.activeElement; return now.id || now.dataset.copy || now.tagName")


def press(page, *keys):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    for key in keys:
        held = ActionChains(page.driver)
        for part in key.split("+"):
            held.key_down(getattr(Keys, part))
        for part in reversed(key.split("+")):
            held.key_up(getattr(Keys, part))
        held.perform()
    page.settle()


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


# ---- links and copying ----


def test_the_state_goes_around_through_the_address(page, file):
    page.choose("bound", "decaying_k.per_rounds")
    page.choose("overlay", "fedcog.theorem")
    page.choose("x", "step_size")
    page.choose("q-rounds", "123", "input")
    page.choose("terms", "stacked", "input")
    link = page.js("return explorer.texts.link()")
    before, words = page.state(), page.text("#readout")
    page.open(file, "#" + link.split("#")[1])
    assert page.state() == before
    assert page.text("#readout") == words
    assert len(link.split("#")[1]) < 200


@pytest.mark.parametrize("name", BOUNDS)
def test_every_bound_goes_around_through_its_link(name, page, file):
    page.choose("bound", name)
    before, words = page.state(), page.text("#readout")
    page.open(file, "#" + page.js("return explorer.texts.link()").split("#")[1])
    assert page.find("#notice").get_property("hidden"), page.text("#notice")
    assert (page.state(), page.text("#readout")) == (before, words)


@pytest.mark.parametrize(
    ("name", "second"),
    [("fedcog.complementary_count", "fedcog.complementary_allocation"), ("fedals.one_round", "fedals.rounds_v2")],
)
def test_a_comparison_goes_around_through_its_link_and_ends(name, second, page, file):
    page.choose("bound", name)
    page.choose("overlay", second)
    (only, *_) = page.js(ONLY_SECOND) or ["samples"]
    page.js("explorer.state().values[arguments[0]] = 7", only)
    before = page.state()
    page.open(file, "#" + page.js("return explorer.texts.link()").split("#")[1])
    assert page.find("#notice").get_property("hidden"), page.text("#notice")
    assert page.state() == before
    page.choose("overlay", "")
    page.open(file, "#" + page.js("return explorer.texts.link()").split("#")[1])
    assert page.find("#notice").get_property("hidden"), "what the second bound alone had is forgotten"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("l.client_weight=0.5,0.6", "must sum to 1"),
        ("l.client_weight=0.5,0.5&l.local_gap=1,2,3", "numbers; "),
        ("l.smoothness=1,2", "smoothness cannot be 1,2"),
        ("q.smoothness=", "write a number"),
        ("q.smoothness=-1", "must be > 0"),
        ("q.__proto__=1", "unknown"),
        ("toString=1", "it speaks of toString"),
        ("y=cubic", "y cannot be cubic"),
        ("d=heaps", "terms cannot be heaps"),
        ("x=smoothnes", "no x-axis smoothnes"),
        ("f=abc", "from cannot be abc"),
        ("u=abc", "vacuous cannot be abc"),
        ("p=0", "run cannot be 0"),
        ("p=-1", "run cannot be -1"),
        ("m=2", "member cannot be 2"),
        ("m=0", "member cannot be 0"),
        ("o=fedals.none", "nothing to compare with"),
    ],
)
def test_a_link_says_only_what_could_be_typed(said, words, page, file):
    page.open(file, "#" + page.js(SIGNED, f"v=1&b=fedals.one_round&{said}"))
    assert "The link is damaged" in page.text("#notice")
    assert words in page.text("#notice")
    assert page.state() == page.js("return explorer.fresh('fedals.one_round')")


def test_words_that_are_no_number_are_marked_and_stay_out_of_the_link(page, file):
    page.choose("from", "abc", "input")
    assert page.find("#from").get_attribute("aria-invalid") == "true"
    assert page.state()["from"] == ""


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        ("q.smoothness=4", "q.smoothness=3"),
        ("q.smoothness", "q.roughness"),
        ("&c=", "&c=0"),
        ("v=1", "v=2"),
        ("b=fedals.one_round", "b=fedals.none"),
    ],
)
def test_a_damaged_link_opens_the_defaults_and_says_so(whole, damaged, page, file):
    page.choose("q-smoothness", "4", "input")
    fragment = page.js("return explorer.texts.link()").split("#")[1]
    assert whole in fragment
    page.open(file, "#" + fragment.replace(whole, damaged))
    assert "The link is damaged" in page.text("#notice")
    assert page.state()["bound"] == "fedals.one_round"
    assert page.state()["values"] == {}


@pytest.mark.parametrize("fragment", ["#nonsense", "#v=1&b=fedals.one_round&x=clients", "#%E0%A4%A"])
def test_what_is_no_link_at_all_is_treated_the_same(fragment, page, file):
    page.open(file, fragment)
    assert "The link is damaged" in page.text("#notice")
    assert page.state()["x"] == "clients"


def test_a_link_that_names_a_bound_alone_needs_no_more(page, file):
    page.open(file, "#v=1&b=fedcog.theorem")
    assert page.state()["bound"] == "fedcog.theorem"
    assert page.find("#notice").get_property("hidden")


@pytest.mark.parametrize("kind", ["latex", "python", "shell", "link"])
def test_copying(kind, page):
    page.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
    page.find(f"[data-copy={kind}]").click()
    time.sleep(0.2)
    assert page.text("#copied") == f"{kind} copied"
    assert page.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])") == page.js(
        f"return explorer.texts.{kind}()"
    )


def test_copying_without_a_clipboard(page):
    page.js("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    page.find("[data-copy=latex]").click()
    time.sleep(0.2)
    assert page.text("#copied") == "latex copied"
    page.js("document.execCommand = () => false")
    page.find("[data-copy=latex]").click()
    time.sleep(0.2)
    assert "press Ctrl+C" in page.text("#copied")
    assert page.find("#manual").get_property("value") == BOUNDS["fedals.one_round"].latex()


def by_shell(page, capsys):
    """What the copied command prints as its value."""
    said = shlex.split(page.js("return explorer.texts.shell()"))
    assert said[0] == "fedbounds"
    capsys.readouterr()
    assert main([*said[1:], "--json"]) == 0
    return json.loads(capsys.readouterr().out)["value"]


def by_python(page, capsys):
    """What the copied code prints."""
    capsys.readouterr()
    exec(page.js("return explorer.texts.python()"), {})
    return float(capsys.readouterr().out)


@pytest.mark.parametrize("name", BOUNDS)
def test_what_is_copied_gives_the_value_of_the_page(name, page, capsys):
    page.choose("bound", name)
    value = pytest.approx(page.js("return explorer.value()"), rel=1e-9)
    assert by_python(page, capsys) == value
    assert np.ravel(by_shell(page, capsys))[0] == value


def test_the_copied_code_runs_on_its_own(page):
    said = page.js("return explorer.texts.python()")
    python = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True).stdout
    assert float(python) == pytest.approx(page.js("return explorer.value()"))


def test_a_shell_takes_the_copied_command_word_by_word(page, tmp_path):
    page.choose("bound", "decaying_k.theorem_1_appendix")
    said = page.js("return explorer.texts.shell()")
    words = shlex.split(said)
    for word in words:
        (tmp_path / re.sub(r"\[.*\]", "1", word)).touch()
    shown = f"fedbounds() {{ printf '%s\\n' \"$@\"; }}\n{said}"
    run = subprocess.run(["bash", "-c", shown], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == words[1:]


def test_what_a_bound_is_fixed_at_is_copied_too(shared, tmp_path, capsys):
    fixed = BOUNDS["fedals.one_round"].fix(smoothness=2.5, client_weight=[0.5, 0.3, 0.2])
    mine = replace(BOUNDS["fedals.one_round"], name="mine.other", source=Source("my notes", "Lemma 1"))
    explore(fixed, mine).save(tmp_path / "page.html")
    shared.open(tmp_path / "page.html")
    value = pytest.approx(shared.js("return explorer.value()"))
    assert by_python(shared, capsys) == value
    assert by_shell(shared, capsys) == value
    assert not any(shared.js("return [...document.getElementById('x').options].map((o) => o.value === 'clients')"))
    shared.choose("bound", "mine.other")
    assert shared.find("[data-copy=shell]").get_property("hidden"), "no command line knows this bound"
    assert "explore was given" in shared.js("return explorer.texts.python()")


def test_where_the_clipboard_is_refused_the_text_is_copied_all_the_same_and_the_focus_stays(page):
    permission = {"permission": {"name": "clipboard-write"}, "setting": "denied"}
    page.driver.execute_cdp_cmd("Browser.setPermission", permission)
    try:
        page.js("document.querySelector('[data-copy=shell]').focus()")
        press(page, "ENTER")
        time.sleep(0.2)
        assert page.text("#copied") == "shell copied"
        assert focused(page) == "shell"
        page.js("document.getElementById('search').focus()")
        page.find("#search").send_keys("\ue009v")  # Ctrl+V
        assert page.find("#search").get_property("value") == page.js("return explorer.texts.shell()")
    finally:
        page.driver.execute_cdp_cmd("Browser.resetPermissions", {})


# ---- bounds of one's own, and runs of a store ----


def test_a_bound_out_of_a_file_goes_around_and_is_copied(shared, tmp_path, capsys, monkeypatch):
    name = "examples/my_bound.py:my_bound"
    monkeypatch.chdir(Path(__file__).parents[2])
    (tmp_path / "page.html").write_text(made(entries(["fedals.one_round", name])), encoding="utf-8")
    shared.open(tmp_path / "page.html")
    shared.choose("bound", name)
    shared.choose("q-kept", "0.3", "input")
    before = shared.state()
    shared.open(tmp_path / "page.html", "#" + shared.js("return explorer.texts.link()").split("#")[1])
    assert shared.state() == before
    assert shared.find("#notice").get_property("hidden")
    assert shared.js("return [...document.querySelectorAll('#bound optgroup')].map((g) => g.label)")[1] == "your own"
    value = pytest.approx(shared.js("return explorer.value()"))
    assert by_python(shared, capsys) == value
    assert by_shell(shared, capsys) == value
    assert not shared.complaints()


def test_a_run_of_a_store_is_drawn_and_goes_around(shared, tmp_path):
    store = Store(tmp_path / "store")
    table = {"rounds": [1, 2, 3], "measured": [0.5, 0.4, 0.3], "error": [0.1, 0.1, 0.1]}
    for name in ("fedcog.theorem", "decaying_k.theorem_1_appendix"):
        store.keep(exact("smoke", name, 0), Outcome({**table, "exact": [0.6, 0.3, 0.2]}, {"step_size": 0.05}), 0.1)
    named = entries(["fedcog.theorem", "decaying_k.theorem_1_appendix"])
    (tmp_path / "page.html").write_text(made(named, store.folder), encoding="utf-8")
    shared.open(tmp_path / "page.html")
    shared.choose("runs", "0")
    drawn_ = "return ['measured', 'exact'].map((kind) => document.querySelectorAll(`#chart .${kind}`).length)"
    assert shared.js(drawn_) == [3, 3]
    words = "The quantities have the values of this run."
    assert shared.text("#run-words") == words
    link = shared.js("return explorer.texts.link()").split("#")[1]
    shared.choose("q-smoothness", "3", "input")
    assert shared.text("#run-words") == "Some quantities no longer have the values of this run."
    shared.open(tmp_path / "page.html", "#" + link)
    assert shared.text("#run-words") == words
    shared.choose("bound", "decaying_k.theorem_1_appendix")
    assert shared.text("#run-words") == "", "what another bound's run told is gone"
    shared.choose("runs", "0")
    before = shared.state()
    assert {len(numbers) for numbers in before["lists"].values()} == {0, 4}, "none is left of the example's three"
    shared.open(tmp_path / "page.html", "#" + shared.js("return explorer.texts.link()").split("#")[1])
    assert shared.state() == before
    assert shared.find("#notice").get_property("hidden"), shared.text("#notice")
    assert not shared.complaints()


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
    page.open(file, "#" + page.js("return explorer.texts.link()").split("#")[1])
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
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.js("delete document.documentElement.dataset.theme")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    assert background(page) != light
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("name", ["fedals.one_round", "fedinit.theorem_5", "decaying_k.per_second"])
def test_a_phone_shows_everything_without_scrolling_sideways(name, page):
    narrow(page, 360)
    try:
        page.choose("bound", name)
        assert page.js("return document.documentElement.scrollWidth") <= 360
        boxes = page.js(
            """return [...document.querySelectorAll("button, input, select, #chart svg")]
            .map((e) => e.getBoundingClientRect()).filter((r) => r.width && (r.right > 361 || r.left < 0)).length"""
        )
        assert boxes == 0
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


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
