"""The explorer at the ends of what people can ask of it: ranges, sliders, colours, frames of a notebook."""

import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from explorer_browser import FAINT, narrow

import fedbounds
from bounds import BOUNDS

pytestmark = [pytest.mark.slow, pytest.mark.browser]
LINK = """
const [name, asked] = arguments, said = new URLSearchParams({v: "1", b: name});
for (const [key, value] of Object.entries(asked)) said.set(key, value);
let hash = 2166136261;
for (const c of said.toString()) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
said.set("c", hash.toString(36));
return `#${said}`;
"""
DRAWN_WRONG = """
const svg = document.querySelector("#chart svg")?.outerHTML ?? "";
return ["NaN", "Infinity", "undefined"].filter((word) => svg.includes(word));
"""
ENDS = """  // redrawn at once and out of sight: thousands of frames and layouts would take minutes
const name = explorer.state().bound, wrong = [], frames = window.requestAnimationFrame, { style } = document.body;
const atOnce = (redraw) => (redraw(), 0), never = () => 0;
const set = (id, value, kind) => {
  const node = document.getElementById(id);
  node.value = value;
  node.dispatchEvent(new Event(kind, {bubbles: true}));
};
const look = (where) => {
  const svg = document.querySelector("#chart svg")?.outerHTML ?? "";
  const found = svg.match(/NaN|Infinity|undefined/);
  if (found) wrong.push(`${name} along ${where}: ${found[0]}`);
};
try {
  window.requestAnimationFrame = atOnce;
  style.display = "none";
  for (const x of [...document.getElementById("x").options].map((o) => o.value)) {
    set("x", x, "change");
    look(x);
    for (const {id, min, max, value} of [...document.querySelectorAll("#sliders input[type=range]")]) {
      for (const end of [min, max]) {
        set(id, end, "input");
        look(`${x}, ${id} at ${end}`);
      }
      window.requestAnimationFrame = never;  // nobody looks at the way back
      set(id, value, "input");
      window.requestAnimationFrame = atOnce;
    }
  }
  return wrong;
} finally {
  window.requestAnimationFrame = frames;
  style.display = "";
}
"""
OVERFLOW = """
return [...document.querySelectorAll("#formula > math")].map((m) => m.scrollWidth - m.parentElement.clientWidth);
"""


# ---- ranges ----


@pytest.mark.parametrize("value", ["1e15", "10001", "1e300"])
def test_more_clients_than_a_page_can_draw_are_refused(value, page):
    page.choose("q-clients", "4", "input")
    words = page.text("#readout")
    page.choose("q-clients", value, "input")
    assert page.text("#e-clients") == "must be at most 10000 on this page"
    assert page.find("#q-clients").get_attribute("aria-invalid") == "true"
    assert "on this page at most 10000" in page.text("#h-clients")
    assert page.state()["values"] == {"clients": 4}
    assert page.text("#readout") == words


def test_the_largest_number_of_clients_is_drawn(page):
    page.choose("to", "10000", "input")
    page.choose("q-clients", "10000", "input")
    assert page.text("#readout").startswith("At clients = 10000: ")


def test_a_list_of_too_many_clients_is_refused(page):
    page.choose("l-local_gap", ",".join(["1"] * 10001))
    assert page.text("#e-local_gap") == "must hold at most 10000 numbers on this page; it holds 10001"
    assert page.state()["lists"] == {}


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("fedals.one_round", {"x": "smoothness", "f": "1e300", "t": "1e308"}),
        ("fedals.one_round", {"x": "smoothness", "f": "5e-324", "t": "1e308"}),
        ("fedals.one_round", {"x": "smoothness", "f": "1e300", "t": "1.0000000000000002e300"}),
        ("fedcog.theorem", {"x": "rounds", "f": "1e300", "t": "1e308"}),
        ("decaying_k.per_second", {"x": "current_loss", "f": "-1.7e308", "t": "1.7e308"}),
        ("decaying_k.per_second", {"x": "current_loss", "f": "-5e-324", "t": "5e-324", "u": "1e308"}),
    ],
)
def test_any_finite_range_is_drawn(name, asked, page, file):
    page.open(file, page.js(LINK, name, asked))
    assert page.find("#notice").get_property("hidden")
    assert page.state()["from"] == asked["f"]
    for kind in ("linear", "log", "auto"):
        page.choose("y", kind, "input")
        for terms in ("stacked", "lines"):
            page.choose("terms", terms, "input")
            assert page.js("return document.querySelectorAll('#chart .tick').length") > 1
            assert not page.js(DRAWN_WRONG)


def test_a_link_to_more_clients_than_a_page_can_draw_is_refused(page, file):
    page.open(file, page.js(LINK, "fedals.one_round", {"f": "1e300", "t": "1e308"}))
    assert "must be at most 10000 on this page" in page.text("#notice")
    assert page.state()["from"] == ""


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("from", "-3", "from: must be a whole number >= 1; got -3"),
        ("to", "many", "to: write a number, such as 0.5, 1e-3 or 1/3; got many"),
        ("from", "9", "from: must be below 8, where the axis ends; got 9"),
        ("vacuous", "1//2", "vacuous above: write a number, such as 0.5, 1e-3 or 1/3; got 1//2"),
    ],
)
def test_a_wrong_choice_above_the_chart_is_said_and_the_last_good_one_stays(field, value, words, page):
    page.choose("to", "8", "input")
    page.choose("vacuous", "0.1", "input")
    before, drawn = page.state(), page.js("return document.querySelector('#chart svg').outerHTML")
    page.choose(field, value, "input")
    invalid = page.js("return [...document.querySelectorAll('.choices [aria-invalid=true]')].map((e) => e.id)")
    assert (page.text("#e-choices"), invalid) == (words, [field])
    assert page.state() == before
    assert page.js("return document.querySelector('#chart svg').outerHTML") == drawn
    page.choose(field, "5", "input")
    assert page.text("#e-choices") == ""
    assert page.find(f"#{field}").get_attribute("aria-invalid") == "false"
    assert page.state()[field] == "5"


def test_a_range_is_moved_one_end_after_the_other(page):
    page.choose("to", "8", "input")
    page.choose("from", "20", "input")
    assert "must be below 8" in page.text("#e-choices")
    page.choose("to", "30", "input")
    assert page.text("#e-choices") == ""
    assert (page.state()["from"], page.state()["to"]) == ("20", "30")


# ---- what is drawn ----


@pytest.mark.parametrize("name", BOUNDS)
def test_nothing_but_numbers_is_drawn_at_the_ends_of_every_slider(name, used):
    used.choose("bound", name)
    assert used.js(ENDS) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_told_from_what_is_behind_it(theme, page):
    page.js("document.documentElement.dataset.theme = arguments[0]", theme)
    seen = set()
    for name in ("fedals.one_round", "fedcog.theorem", "decaying_k.per_second", "fedinit.theorem_5"):
        page.choose("bound", name)
        page.choose("from", "nothing", "input")
        page.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        page.settle()
        assert not page.js(FAINT), name
        seen |= set(page.js("return [...document.querySelectorAll('.verdict')].map((e) => e.textContent)"))
    assert seen == {"HOLDS", "FAILS", "REPAIRED"}  # what is open speaks of no bound


@pytest.mark.parametrize("width", [360, 1280])
def test_long_formulas_go_on_in_the_next_line(width, page):
    with narrow(page, width):
        for name in ("fedinit.theorem_5", "decaying_k.per_second", "fedcog.theorem"):
            page.choose("bound", name)
            assert max(page.js(OVERFLOW)) <= 0, name


def test_a_formula_goes_on_before_a_term_or_a_definition(page):
    page.choose("bound", "fedinit.theorem_4")
    rows = page.js(
        "return [...document.querySelectorAll('#formula > math > mrow')].map((row) => row.textContent.trim())"
    )
    rows = [row for row in rows if row]
    assert [row[0] for row in rows[1:6]] == ["+"] * 5
    assert rows[-1].startswith("κ2=")
    assert rows[-1].endswith("+13")
    assert rows[-2].startswith("κ1=")
    assert rows[-2].endswith("+17,")


def test_on_a_phone_the_sliders_stand_right_below_the_chart(page):
    with narrow(page, 360):
        top = {
            what: page.js("return document.querySelector(arguments[0]).getBoundingClientRect().top", what)
            for what in ("#bound", "#chart", "#controls", "#conditions", "#claims")
        }
        assert sorted(top, key=lambda what: top[what]) == list(top)


# ---- a notebook ----


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A page that holds two outputs as a notebook shows them, from a server as notebooks come from."""
    folder = tmp_path_factory.mktemp("notebook")
    outputs = [fedbounds.explore(name)._repr_html_() for name in ("fedals.one_round", "fedcog.theorem")]
    cells = "".join(f'<div class="jp-OutputArea-output jp-RenderedHTMLCommon">{output}</div>' for output in outputs)
    text = f"<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><body style='width:900px'>{cells}"
    (folder / "notebook.html").write_text(text, encoding="utf-8")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/notebook.html"
        server.shutdown()


def inside(page, index):
    page.driver.switch_to.default_content()
    frame = page.driver.find_elements("css selector", "iframe")[index]
    page.js("arguments[0].scrollIntoView()", frame)  # a browser draws no frame that is out of sight
    page.driver.switch_to.frame(frame)
    page.settle()


def test_two_frames_of_a_notebook_work_beside_each_other(shared, notebook):
    shared.driver.get(notebook)
    try:
        sizes = shared.js("return [...document.querySelectorAll('iframe')].map((f) => [f.clientWidth, f.clientHeight])")
        assert all(width == 900 and height >= 700 for width, height in sizes)
        for index, (name, quantity) in enumerate([("fedals.one_round", "smoothness"), ("fedcog.theorem", "rounds")]):
            inside(shared, index)
            assert shared.text("#name") == name
            assert shared.js("return document.documentElement.scrollWidth - innerWidth") <= 0
            words = shared.text("#readout")
            beside = "return document.getElementById('controls').getBoundingClientRect().top < innerHeight / 2"
            assert shared.js(beside), "the sliders can be seen together with the chart"
            shared.choose(f"s-{quantity}", "200", "input")
            assert shared.text("#readout") != words
            assert set(shared.state()["values"]) == {quantity}
        inside(shared, 0)
        assert set(shared.state()["values"]) == {"smoothness"}, "the second frame moved nothing here"
        assert not shared.js("return document.querySelector('[data-copy=link]').offsetParent")
        assert not shared.complaints()
    finally:
        shared.driver.switch_to.default_content()


def test_copying_out_of_a_notebook(shared, notebook):
    shared.driver.execute_cdp_cmd("Browser.resetPermissions", {})  # leave to write must be the frame's own
    shared.driver.get(notebook)
    try:
        inside(shared, 1)
        shared.js("document.execCommand = () => false")
        shared.find("[data-copy=latex]").click()
        time.sleep(0.3)
        assert shared.text("#copied") == "latex copied"
        assert not shared.complaints()
        shared.driver.switch_to.default_content()
        shared.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
        shared.js("window.focus()")
        copied = shared.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        assert BOUNDS["fedcog.theorem"].latex() in copied
    finally:
        shared.driver.switch_to.default_content()
