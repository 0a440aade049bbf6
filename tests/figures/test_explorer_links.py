"""Links of the explorer: what is chosen goes around through the address, and a damaged link is refused in words."""

from urllib.parse import quote

import pytest

from bounds import BOUNDS
from empirics.experiments import Outcome, Store
from figures.explorer.command import entries
from figures.explorer.page import page as made
from figures.ours.grid import exact

pytestmark = [pytest.mark.slow, pytest.mark.browser]
SIGNED = """
const said = new URLSearchParams(arguments[0]);
said.set('c', explorer.mark(said.toString()));
return said.toString();
"""
ONLY_SECOND = """
const [a, b] = ["bound", "overlay"].map((key) => explorer.bounds().get(explorer.state()[key]).quantities);
return b.filter((q) => !q.axis && !a.some((o) => o.name === q.name)).map((q) => q.name);
"""


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
def test_every_bound_goes_around_through_its_link(name, used):
    used.choose("bound", name)
    before, words = used.state(), used.text("#readout")
    link = used.js("return explorer.texts.link()").split("#")[1]
    used.choose("bound", next(other for other in BOUNDS if other != name))
    used.js("history.replaceState(null, '', '#'); location.hash = arguments[0]", link)
    used.settle()
    assert used.find("#notice").get_property("hidden"), used.text("#notice")
    assert (used.state(), used.text("#readout")) == (before, words)


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
    page.around(file)
    assert page.find("#notice").get_property("hidden"), page.text("#notice")
    assert page.state() == before
    page.choose("overlay", "")
    page.around(file)
    assert page.find("#notice").get_property("hidden"), "what the second bound alone had is forgotten"


def test_a_range_ends_with_the_second_bound_it_was_of(page, file):
    page.choose("overlay", "fedinit.lemma_5")
    page.choose("x", "samples")
    page.choose("from", "5000", "input")
    page.choose("overlay", "fedals.gaussian_mean_local_gap")
    assert (page.state()["x"], page.state()["from"]) == ("samples", ""), "its slider ends before"
    page.around(file)
    assert page.find("#notice").get_property("hidden"), page.text("#notice")


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
        ("f=20&t=8", "from cannot be 20 (must be below 8"),
        ("f=8&t=8", "from cannot be 8 (must be below 8"),
        ("f=9999", "from cannot be 9999 (must be below"),
        ("x=smoothness&t=1e-300", "to cannot be 1e-300 (must be above"),
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
        ("v=1", "v=3"),
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


@pytest.mark.parametrize(
    "harmed",
    [
        lambda link: f"{link}.",
        lambda link: f"{link}%3E)",
        lambda link: f"{link}&utm_source=mail",
        lambda link: link.replace("&", "&amp;") + ").",
        lambda link: quote(link),
        lambda link: f"{link[:9]}%20{link[9:]}",
    ],
)
def test_what_happens_to_links_on_their_way_is_undone(harmed, page, file):
    page.choose("q-smoothness", "4", "input")
    link = page.js("return explorer.texts.link()").split("#")[1]
    page.open(file, f"#{harmed(link)}")
    assert page.find("#notice").get_property("hidden"), page.text("#notice")
    assert page.state()["values"] == {"smoothness": 4}
    assert page.js("return explorer.texts.link()").split("#")[1] == link


@pytest.mark.parametrize("fragment", ["#nonsense", "#v=1&b=fedals.one_round&x=clients", "#%E0%A4%A"])
def test_what_is_no_link_at_all_is_treated_the_same(fragment, page, file):
    page.open(file, fragment)
    assert "The link is damaged" in page.text("#notice")
    assert page.state()["x"] == "clients"


def test_a_link_that_names_a_bound_alone_needs_no_more(page, file):
    page.open(file, "#v=1&b=fedcog.theorem")
    assert page.state()["bound"] == "fedcog.theorem"
    assert page.find("#notice").get_property("hidden")


def test_a_run_of_a_store_is_drawn_and_goes_around(shared, tmp_path):
    store = Store(tmp_path / "store")
    table = {"rounds": [1, 2, 3], "measured": [0.5, 0.4, 0.3], "error": [0.1, 0.1, 0.1]}
    for name in ("fedcog.theorem", "decaying_k.theorem_1_appendix"):
        store.keep(exact("smoke", name, 0), Outcome({**table, "exact": [0.6, 0.3, 0.2]}, {"step_size": 0.05}), 0.1)
    named = entries(["fedcog.theorem", "decaying_k.theorem_1_appendix"])
    (tmp_path / "page.html").write_text(made(named, store.folder), encoding="utf-8")
    shared.open(tmp_path / "page.html")
    shared.choose("x", "smoothness")
    shared.choose("from", "0.5", "input")
    shared.choose("runs", "0")
    assert (shared.state()["x"], shared.state()["from"]) == ("rounds", ""), "what was another axis's start is gone"
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
    shared.around(tmp_path / "page.html")
    assert shared.state() == before
    assert shared.find("#notice").get_property("hidden"), shared.text("#notice")
    assert not shared.complaints()
