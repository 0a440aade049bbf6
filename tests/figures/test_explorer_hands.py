"""The page of one federation by hand: steps back, the focus, its limits, files and links that are wrong."""

import json
import shlex
import time

import pytest
from explorer_browser import FAINT, focused, narrow, press, settled

import fedbounds
from figures.explorer import atlas, federations
from paper_checks.comparing.compare_rows import RANKED

pytestmark = [pytest.mark.slow, pytest.mark.browser]
EMBEDDED = atlas.embedded()
REST = 0.7
"""Seconds after which a change is a step of the back button."""


def rest(page):
    """Wait until a change is a step of the back button, however busy the machine is."""
    settled(page)
    time.sleep(REST)


@pytest.fixture
def whole(shared, file):
    """The page of one federation, just opened."""
    shared.open(file)
    rest(shared)
    shared.complaints()
    yield shared
    assert not shared.complaints()


def plan(whole):
    told = whole.js("return explorer.federation().plan")
    return told["local_steps"], told["step_size"]


THREE = """
const field = document.getElementById("f-rounds");
for (const rounds of ["900", "901", "902"]) {
  field.value = rounds;
  field.dispatchEvent(new Event("input", {bubbles: true}));
}
"""
"""At once: a loaded machine lets each of three commands to the browser come to rest."""


def test_every_change_that_comes_to_rest_is_one_step_back(whole):
    steps = whole.js("return history.length")
    whole.js(THREE)
    rest(whole)
    assert whole.js("return history.length") == steps + 1, "three in a row are one"
    whole.js("document.getElementById('plane').focus()")
    press(whole, "ARROW_RIGHT", "ARROW_RIGHT")
    rest(whole)
    assert plan(whole) == (10, 0.01)
    whole.driver.back()
    rest(whole)
    assert plan(whole) == (8, 0.01)
    assert whole.find("#f-local_steps").get_property("value") == "8"
    whole.driver.back()
    rest(whole)
    assert whole.js("return explorer.federation().plan.rounds") == 1000
    whole.driver.forward()
    rest(whole)
    assert whole.js("return explorer.federation().plan.rounds") == 902


def test_the_views_link_to_each_other_with_their_plans(whole):
    whole.choose("f-local_steps", "13", "input")
    rest(whole)
    whole.find("#view-bound").click()
    whole.settle()
    whole.find("#view-federation").click()
    rest(whole)
    assert plan(whole) == (13, 0.01)


@pytest.mark.parametrize("box", ["ladder", "quiet"])
def test_the_focus_stays_on_a_name_that_was_chosen(box, whole):
    name = whole.js(
        "const b = [...document.querySelectorAll(`#${arguments[0]} button`)][3]; b.focus(); return b.textContent", box
    )
    press(whole, "ENTER")
    rest(whole)
    assert whole.js("return explorer.federation().theorem") == name
    assert whole.js("return document.activeElement.textContent") == name


def test_the_focus_stays_on_next_through_a_story(whole):
    whole.choose("stories", "0")
    whole.js("[...document.querySelectorAll('#story button')][1].focus()")
    for _ in range(3):
        press(whole, "ENTER")
        assert whole.js("return document.activeElement.textContent") == "next"
    press(whole, "ENTER")
    assert whole.js("return document.activeElement.textContent") == "back", "there is no next at the end"


def test_a_story_keeps_one_axis_and_gives_the_plan_back(whole):
    whole.choose("federations", "1")
    whole.choose("f-local_steps", "13", "input")
    rest(whole)
    before = whole.js("return [explorer.federation(), document.getElementById('federations').value]")
    whole.choose("stories", "2")
    axes, bars = set(), []
    for _ in range(3):
        rest(whole)
        axes.add(whole.js("return [...document.querySelectorAll('#ladder .rule path')].map((p) => p.outerHTML).join()"))
        bars.append(float(whole.find("#ladder .row .length").get_attribute("width")))
        whole.js("document.querySelectorAll('#story button')[1].click()")
    assert len(axes) == 1
    assert bars == sorted(set(bars)), "the bounds grow in beta, and so do their bars"
    whole.js("[...document.querySelectorAll('#story button')].at(-1).click()")
    assert whole.js("return [explorer.federation(), document.getElementById('federations').value]") == before


def test_steps_back_lead_through_a_story_and_out_of_it(whole):
    whole.choose("f-rounds", "900", "input")
    rest(whole)
    whole.choose("stories", "0")
    rest(whole)
    whole.js("document.querySelectorAll('#story button')[1].click()")
    rest(whole)
    second = whole.text("#story")
    assert (second[:40], whole.js("return explorer.federation().plan.rounds")) == (
        "Where does any theorem say anything? 2 of 5. A hundred rounds"[:40], 100
    )  # fmt: skip
    whole.driver.back()
    rest(whole)
    assert "1 of 5" in whole.text("#story")
    assert whole.js("return explorer.federation().plan.rounds") == 10
    whole.driver.back()
    rest(whole)
    assert whole.find("#story").get_property("hidden")
    assert whole.js("return explorer.federation().plan.rounds") == 900
    whole.driver.forward()
    whole.driver.forward()
    rest(whole)
    assert whole.text("#story") == second
    whole.driver.refresh()
    whole.settle()
    rest(whole)
    assert whole.text("#story") == second
    whole.js("[...document.querySelectorAll('#story button')].at(-1).click()")
    assert whole.js("return explorer.federation().plan.rounds") == 900, "what was there before the story"


def test_a_smaller_smoothness_takes_the_pl_constant_along(whole):
    """Which is above it of no loss: the copied command would be refused."""
    whole.choose("federations", "4")
    before = whole.js("return explorer.told().given")
    assert before["strong_convexity"] < 0.9 < before["pl_constant"]
    whole.choose("f-smoothness", "0.9", "input")
    told = whole.js("return explorer.told().given")
    assert told["smoothness"] == told["pl_constant"] == 0.9
    whole.choose("f-smoothness", "1.9", "input")
    assert whole.js("return explorer.told().given.pl_constant") == before["pl_constant"]


def test_two_files_of_one_name_are_two_federations(whole):
    for smoothness in (1.9, 2.3):
        whole.js(
            "explorer.take('10 quadratics', arguments[0])",
            constants(smoothness=smoothness, sample_smoothness=smoothness),
        )
        rest(whole)
    shown = "return [...document.getElementById('federations').selectedOptions].map((o) => o.textContent)[0]"
    assert whole.js(shown) == "10 quadratics (3)"
    whole.driver.back()
    rest(whole)
    assert whole.js(shown) == "10 quadratics (2)"
    assert whole.js("return explorer.told().given.smoothness") == 1.9


HOVER = """
const box = document.getElementById("plane"), {left, top} = box.getBoundingClientRect();
box.dispatchEvent(new PointerEvent("pointermove", {clientX: left + arguments[0], clientY: top + arguments[1]}));
const [, K, size] = document.getElementById("plane-hover").textContent.match(/K = (\\d+), η = ([^:]+)/);
const mantissa = size.split("·10"), power = [..."⁻⁰¹²³⁴⁵⁶⁷⁸⁹"], eta = mantissa.length < 2 ? Number(size)
  : Number(`${mantissa[0]}e${[...mantissa[1]].map((c) => "-0123456789"[power.indexOf(c)]).join("")}`);
const {given, upTo} = explorer.told(), {target, theorem} = explorer.federation();
const rows = explorer.rows(target, {...given, local_steps: Number(K), step_size: eta}, upTo);
const own = rows.filter((r) => r.value !== "undefined" && (r.bound === theorem || r.alias.includes(theorem)));
return [document.getElementById("plane-hover").textContent, Math.min(...own.map((r) => Number(r.value)))];
"""


@pytest.mark.parametrize("theorem", ["decaying_k.theorem_1_repaired", "fedinit.theorem_1"])
def test_the_pointer_reads_what_the_theorem_says_at_its_very_plan(theorem, whole):
    """Cells of the plane are 1.2 times apart, and of theorems with constants to choose looked at quickly."""
    settled(whole)
    whole.choose("theorem", theorem)
    seen = 0
    for x in range(70, 400, 30):
        for y in range(20, 300, 30):
            said, least = whole.js(HOVER, x, y)
            value = said.split(": ", 1)[1].split(",")[0]
            if least is None:  # infinite: no row of it has a number
                assert value == "silent"
                continue
            seen += 1
            mantissa, _, power = value.partition("·10")
            power = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
            assert float(f"{mantissa}e{power or 0}") == pytest.approx(least, rel=0.006), said
    assert seen > 10


def test_the_headline_counts_what_the_lists_show_and_conversions_are_explained(whole):
    whole.choose("federations", "1")
    rest(whole)
    said, rows = whole.text("#sentence"), whole.js("return document.querySelectorAll('#ladder li.row').length")
    assert f"{rows} bars: {rows} vacuous" in said
    assert all(
        title.lower() in said
        for title in whole.js("return [...document.querySelectorAll('#quiet summary')].map((s) => s.textContent)")
    )
    named = set(
        whole.js(
            "return [...document.querySelectorAll('#ladder .bars')].map((b) => b.title).join().match(/\\bC\\d+(?=:)/g)"
        )
    )
    assert named
    assert all(f"{name}: " in whole.text("#ladder-via") for name in named)


def test_keys_stay_on_the_plane_and_a_plan_beyond_it_is_said(whole):
    whole.js("document.getElementById('plane').focus()")
    press(whole, *["SHIFT+ARROW_UP"] * 12)
    assert plan(whole)[1] == 10
    press(whole, *["SHIFT+ARROW_RIGHT"] * 14)
    assert plan(whole)[0] == 1024
    assert focused(whole) == "plane"
    assert "beyond" not in whole.text("#plane-stars")
    whole.choose("f-local_steps", "2000", "input")
    assert whole.text("#plane-stars").startswith("Your plan, K = 2000 and η = 10, lies beyond this plane")


@pytest.mark.parametrize("word", ["smoothness", "initial_gap", "rounds", "local_steps", "step_size", "grad_cap_sq"])
def test_numbers_of_any_size_are_drawn_or_refused(word, whole):
    for value in ("1e-100", "1e100", "1e15", "1e-7"):
        whole.choose(f"f-{word}", value, "input")
        time.sleep(0.1)
        drawn = whole.js("return [...document.querySelectorAll('#federation svg')].map((s) => s.outerHTML).join()")
        assert not [bad for bad in ("NaN", "Infinity", "undefined") if bad in drawn], value
    whole.choose(f"f-{word}", "1e101", "input")
    assert whole.text(f"#fe-{word}").startswith("must be ")


@pytest.mark.parametrize(
    ("fragment", "why"),
    [
        ("#x", "it is none of this page, or of another version of it"),
        ("#v=3", "it is none of this page, or of another version of it"),
        ("#v=1", "it names no bound"),
        ("#v=1&b=nobody", "this page holds no bound nobody"),
        ("#v=2&p.local_steps=7", "something in it is missing or changed"),
        ("#v=2&f=mine.json", "something in it is missing or changed"),
    ],
)
def test_a_wrong_link_is_said_in_a_sentence(fragment, why, whole, file):
    whole.open(file, fragment)
    assert whole.text("#notice") == f"The link is damaged: {why}. The page shows its defaults instead."


# ---- looks ----


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_word_of_the_federation_can_be_told_from_what_is_behind_it(theme, whole):
    whole.js("document.documentElement.dataset.theme = arguments[0]", theme)
    for federation in ("0", "1"):
        whole.choose("federations", federation)
        settled(whole)
        whole.choose("f-step_size", "nothing", "input")
        whole.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert not whole.js(FAINT)


FIRST = """
const cells = [...document.querySelector("#run-table tbody tr").cells];
const top = (cell) => cell.getBoundingClientRect().top;
return cells.sort((a, b) => top(a) - top(b))[0].textContent;
"""


@pytest.mark.parametrize("width", [320, 768])
def test_a_narrow_page_scrolls_one_way(width, whole):
    with narrow(whole, width, 700):
        whole.choose("stories", "0")
        settled(whole)
        assert whole.js("return document.documentElement.scrollWidth - innerWidth") <= 0
        table = whole.find("#run-table .scroll")
        assert table.get_property("scrollWidth") <= table.get_property("clientWidth")
        assert whole.js(FIRST) == "go there", "the button of a row is in sight before its numbers"


AWAY = """
document.getElementById("plane").scrollIntoView({block: "center"});
const inside = (b) => b.top >= -1 && b.bottom <= innerHeight + 1 && b.height > 0;
const plane = document.querySelector("#plane svg").getBoundingClientRect();
return ["local_steps", "step_size", "rounds"].flatMap((word) => [`f-${word}`, `fs-${word}`]).filter((id) => {
  const box = document.getElementById(id).getBoundingClientRect();
  const covers = box.top < plane.bottom && box.bottom > plane.top && box.left < plane.right && box.right > plane.left;
  return covers || !inside(box) || !inside(plane);
});
"""
SMALL = """
const all = [...document.querySelectorAll("#choose :is(input, select, button), .stepping button")];
return all.filter((e) => e.getClientRects().length && e.getBoundingClientRect().height < 44).map((e) => e.id);
"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844), (360, 640)])
def test_the_plane_and_what_one_chooses_are_in_sight_together(width, height, whole):
    with narrow(whole, width, height):
        settled(whole)
        assert whole.js(AWAY) == []
        if width < 760:
            assert whole.js(SMALL) == []
            assert not whole.find("#f-cohort").is_displayed()
            whole.find("#more-choices").click()
            assert whole.find("#f-cohort").is_displayed()
            assert whole.js(SMALL) == []
            assert whole.text("#brief").startswith(whole.text("#ladder .row .plain[aria-pressed=true] + strong"))


# ---- the table of plans ----


@pytest.mark.parametrize("row", [0, 3])
def test_going_to_a_plan_draws_the_plane_of_its_theorem_at_the_exact_step_size(row, whole):
    settled(whole)
    whole.js("document.querySelectorAll('#run-table button')[arguments[0]].click()", row)
    settled(whole)
    name, at = whole.text("#theorem-name"), plan(whole)
    best = whole.js("return [...explorer.drawn().best.values()].map((b) => [b.name, b.steps, b.size])")
    assert [name, *at] in best
    cells = "return document.querySelector('#plane svg g').outerHTML"
    drawn = whole.js(cells)
    whole.choose("theorem", name)
    settled(whole)
    assert whole.js(cells) == drawn
    other = whole.js("return [...document.getElementById('theorem').options].map((o) => o.value)")[-1]
    whole.choose("theorem", other)
    settled(whole)
    assert whole.js(cells) != drawn, "planes of two theorems differ"


# ---- why a theorem is silent ----


def test_a_step_size_that_a_theorem_asks_for_is_said_so_that_it_can_be_typed(whole):
    whole.choose("theorem", "fedcog.corollary")
    settled(whole)
    whole.choose("f-step_size", "0.0112", "input")
    tau, rounds = 8, 1000
    asked = f"{(tau * rounds) ** -0.5:.12g}"
    assert f"the step size is 1/sqrt(tau T): 0.0112 is not {asked}." in whole.text("#plane-terms")
    assert whole.text("#plane-marks").endswith(f"asks for a step size of its own:at K = {tau}, η = {asked}")
    whole.choose("f-step_size", asked, "input")
    assert whole.text("#plane-terms").startswith("At your plan 0.")


def test_an_inequality_that_fails_shows_both_sides_at_the_plan_and_in_the_list(whole):
    whole.choose("theorem", "fedcog.theorem")
    whole.choose("f-step_size", "0.3", "input")
    settled(whole)
    smoothness, tau = whole.js("return explorer.told().given.smoothness"), 8
    first, second = whole.text("#plane-terms").removeprefix("At your plan: silent, a condition fails. ").split("; ")
    assert first == f"eta L <= 1/(2 tau): {2 * tau * 0.3 * smoothness:.3g} > 1"
    assert second.endswith(" > 1.")
    assert first in whole.text("#quiet")


# ---- files ----


def constants(**changed):
    """A file that is right but for what is changed."""
    start = federations.of_quadratics()
    return json.dumps({**start["given"], "_up_to": start["up_to"], **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"gradient_variance": 0, "client_gradient_variance": [0] * 10},
        {"sampling": "without_replacement", "algorithm": "fedavg"},
        {"constructor": 3, "_about": {"not": "words"}},
    ],
)
def test_the_file_that_the_others_are_made_of_is_taken(changed, whole):
    whole.js("explorer.take('mine.json', arguments[0])", constants(**changed))
    assert whole.find("#notice").get_property("hidden")
    assert whole.find("#federations").get_property("value") == str(len(EMBEDDED))
    assert whole.text("#federation-words") == "10 clients, from mine.json"


def test_what_a_file_says_twice_is_moved_together(whole, capsys):
    """The gap beside both losses, and a pair (G^2, B^2) beside the difference of clients that it comes of."""
    start = federations.of_quadratics()["given"]
    gap = start["initial_loss"] - start["optimal_loss"]
    pair = {"dissimilarity_offset": 2 * start["optimum_dissimilarity"], "dissimilarity_factor": 9.0}
    whole.js("explorer.take('mine.json', arguments[0])", constants(initial_gap=gap, **pair))
    whole.choose("f-initial_gap", str(3 * gap), "input")
    whole.choose("f-optimum_dissimilarity", str(4 * start["optimum_dissimilarity"]), "input")
    given = whole.js("return explorer.told().given")
    assert given["initial_gap"] == pytest.approx(3 * gap)
    assert given["initial_loss"] - given["optimal_loss"] == pytest.approx(3 * gap)
    assert given["dissimilarity_offset"] == pytest.approx(4 * pair["dissimilarity_offset"])
    command = shlex.split(whole.js("return explorer.copies.shell()"))
    assert fedbounds.main([*command[1:], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["rows"]
    theirs = sorted(row["value"] for row in told if row["state"] in RANKED)
    ours = whole.js("return explorer.rows('optimality_gap', arguments[0], {})", given)
    assert sorted(float(row["value"]) for row in ours if row["state"] in RANKED) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (constants(local_steps=2.5), "local steps is 2.5: it must be a whole number"),
        (constants(cohort=20), "cohort is 20: it must be a whole number from 1 to the number of clients"),
        (constants(gradient_variance=-1), "gradient variance is -1: it must be >= 0"),
        (constants(strong_convexity=2), "it must be at least μ"),
        (constants(pl_constant=2), "pl constant is 2: no loss of smoothness 1.6"),
        (constants(smoothness=-2), "smoothness is -2: it must be > 0"),
        (constants(client_gradient_variance=[-0.1] * 10), "client gradient variance is -0.1: it must be >= 0"),
        (
            constants(client_gradient_variance=[0.1, 0.2, 0.3]),
            "must hold a number for each of the 10 clients; it holds 3",
        ),
        (constants(client_weight=[0.3] * 10), "client weight must sum to 1"),
        (constants(clients=2.5), "clients is 2.5: it must be a whole number"),
        (constants(initial_loss="two"), "initial loss must be a number or a list of them"),
        (constants(smoothness={"low": 1}), "smoothness must be a number or a list of them"),
        (constants(initial_distance_sq=[0.1] * 10), "initial distance sq must be one number"),
        (constants(sampling="with_replacement"), "its sampling is with_replacement; this page speaks of without"),
        (constants(algorithm="scaffold"), "its algorithm is scaffold; this page speaks of fedavg alone"),
        (constants(_up_to={"grad_cap_sq": None}), "_up_to of grad cap sq must say up to which numbers it holds"),
        (constants(_up_to={"grad_cap_sq": {"step_size": "far"}}), "_up_to of grad cap sq must say up to which"),
        (constants(_interval={"smoothness": 3}), "_interval of smoothness must be two numbers"),
        ("[1, 2]", "it holds no words with numbers"),
        ("null", "it holds no words with numbers"),
        ("{", "it is no JSON"),
    ],
)
def test_a_wrong_file_is_refused_with_one_line_and_the_old_federation_stays(text, why, whole):
    before = whole.js("return [explorer.told(), explorer.federation()]")
    whole.js("explorer.take('wrong.json', arguments[0])", text)
    said = whole.text("#notice")
    assert said.startswith("wrong.json is no federation: ")
    assert why in said
    assert said.count("\n") == 0
    assert whole.js("return [explorer.told(), explorer.federation()]") == before
    assert whole.js("return document.querySelectorAll('#federations option').length") == len(EMBEDDED)
