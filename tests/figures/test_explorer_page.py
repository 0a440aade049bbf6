"""The explorer as it is built and opened: content of the page, its federations, mistakes that are refused."""

import base64
import csv
import hashlib
import re
import webbrowser
from pathlib import Path
from random import Random
from urllib.parse import parse_qsl

import numpy as np
import pytest
from explorer_node import code_of, unpacked
from loops import cases

import fedbounds
from bounds import BOUNDS
from bounds.errors import BoundsError
from bounds.identities import evaluated
from empirics.algorithms import algorithm
from empirics.exact import exact_run
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting
from figures import making
from figures.explorer import committed as kept, federations, opening, optima, ranges, records
from figures.explorer.command import entries
from figures.explorer.verdicts import about
from paper_checks.audit.running import CLAIMS

OWN = """
import sympy as sp
from bounds import Bound, quantity, Source
x = quantity("x", "x", "a number")
y = quantity("y", "y", "another")
mine = Bound("mine", y, {"all": x**2 + x}, Source("my notes", "Lemma 1"))
"""
STRANGE = OWN.replace("x**2 + x", "sp.KroneckerDelta(x, 2)")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder of its own with a file of bounds in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    Path("own.py").write_text(OWN)
    Path("strange.py").write_text(STRANGE)


# ---- one page ----


@pytest.mark.slow
def test_the_page_is_small_whole_and_closed_off_from_the_network(file):
    html = file.read_text(encoding="utf-8")
    assert len(html.encode()) < 450_000
    assert [b["name"] for b in unpacked(html)["bounds"]] == list(BOUNDS)
    web = Path(records.__file__).parent / "web"
    parts = "\n".join(part.read_text(encoding="utf-8") for part in web.glob("*.js"))
    names = re.findall(r"^(?:async )?(?:function\*?|const|let) (\w+)", parts, re.MULTILINE)
    assert len(names) == len(set(names)) > 100, "the later one would take the place of the other"
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for text in (code_of(html), re.search(r"<style>(.*)</style>", html, re.DOTALL)[1]):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert not re.search(r"(?:src|href)=\"(?!data:,)", html)
    assert " style=" not in html, "attributes of this name are forbidden by the policy"
    assert "http" not in html.replace("http-equiv", "")


@cases("name", BOUNDS)
def test_a_record_agrees_with_its_code_and_starts_inside_the_theorem(name):
    bound, (entry,) = BOUNDS[name], entries([name])
    record, code = records.record(entry), records.code(entry)
    decided = [c["words"] for c in record["conditions"] if c["kind"] in ("numeric", "domain")]
    assert decided[: len(bound.numeric_conditions)] == [c.words for c in bound.numeric_conditions]
    minimisers = sum(1 + len(o["derived"]["needs"]) for o in record["optima"] if o["derived"])
    functions = len(re.findall(r"v(?:,n)?(?:,i)?(?:,s)?\)?=>", code))
    assert functions == len(bound.terms) + len(decided) + minimisers
    assert record["terms"] == list(bound.terms)
    values = {q["name"]: q["value"] for q in record["quantities"] if not q.get("count")}
    axis, length = {q.name for q in bound.quantities if q.card.axis}, record["members"]
    wide = {n: [v] * length if n in axis else v for n, v in values.items()}
    wide |= {"client_weight": [1 / length] * length} if "client_weight" in axis else {}
    wide |= record["lists"]
    assert np.all(bound.holds(**wide))
    assert np.all(np.isfinite(bound(**wide)))
    for q in bound.quantities:
        value = ranges.start(bound)[q.name]
        low, high, log, _ = ranges.slider(q, value)
        assert q.card.domain.low <= low <= high <= q.card.domain.high
        assert low <= value <= high or value == 0
        assert not log or low > 0


@pytest.mark.slow
def test_minimisers_trivial_values_and_claims_stand_beside_their_bounds(file):
    per_second, data = BOUNDS["decaying_k.per_second"], unpacked(file.read_text(encoding="utf-8"))
    found = optima.stated(per_second)
    assert {b.name for b in found["local_steps"]} == {"decaying_k.k_star", "decaying_k.k_star_printed"}
    assert {b.name for b in found["step_size"]} == {"decaying_k.eta_star", "decaying_k.eta_star_printed"}
    assert set(optima.derived(per_second)) == {"local_steps", "step_size"}
    vacuous = {b.name: ranges.trivial(b, ranges.start(b)) for b in BOUNDS.values()}
    capped = {name for name, trivial in vacuous.items() if trivial == "loss_cap"}
    assert all("loss_cap" in ranges.start(BOUNDS[name]) for name in capped)
    assert vacuous["decaying_k.per_rounds"] is None
    rows = {claim[0]: claim for claim in data["claims"]}
    mine = {data["claims"][i][0] for b in data["bounds"] if b["name"] == per_second.name for i in b["claims"]}
    assert {"decaying_k.theorem_2", "decaying_k.eq_8"} <= mine
    claim = CLAIMS["decaying_k.theorem_2"]
    assert rows[claim.name] == [claim.name, "REPAIRED", claim.words, str(claim.source), str(claim.defect), claim.note]
    assert rows["decaying_k.eq_8"][1] == "HOLDS"
    assert rows["decaying_k.eq_8"][4:] in (["proved", ""], ["exact", ""], ["searched", ""])
    assert all(claim[4] for claim in data["claims"]), "the committed report has the kind of every verdict"


@pytest.mark.slow
def test_the_bounds_found_in_a_check_are_those_a_run_asks_for(verdicts):
    asked = [(v.claim, set(v.bounds)) for v in verdicts.values()]
    missed = {c.name for c, bounds in asked if bounds - about(c)}
    assert not missed, "a name put together while a check runs cannot be found: write it out"
    assert sum(bool(about(c) - bounds) for c, bounds in asked) <= 3


# ---- the command, the notebook, points of a store ----


def test_the_command_and_a_notebook_show_every_bound_once(own, run):
    line = ("explore", "fedals.one_round", "own.py:mine", "./own.py:mine", "-o", "page.html")
    status, out, err = run(*line)
    assert (status, out, err) == (0, "wrote page.html\n", "")
    assert [b["paper"] for b in unpacked(Path("page.html").read_text())["bounds"]] == ["fedals", ""]
    one = BOUNDS["fedals.one_round"]
    shown = fedbounds.explore("fedals.one_round", BOUNDS["fedcog.theorem"], one)
    html = shown._repr_html_()
    assert (html[:8], html.count("<")) == ("<iframe ", 2), "the page is escaped inside of its attribute"
    assert shown.names == ("fedals.one_round", "fedcog.theorem")
    assert len(repr(shown)) < 200
    (record,) = unpacked(fedbounds.explore(one.fix(smoothness=2.5)).html)["bounds"]
    assert record["given"] == {"smoothness": 2.5}
    assert "smoothness" not in {q["name"] for q in record["quantities"]}


def test_mistakes_are_one_line_and_write_nothing(own, refused):
    for words, named in (
        (["explore", "fedals.one_rund"], "'fedals.one_round'"),
        (["explore", "strange.py:mine", "-o", "x.html"], "KroneckerDelta"),
        (["explore", "fedals.one_round", "-o", "no/such/folder.html"], "no/such/folder.html"),
        (["explore", "fedals.one_round", "--store", "nowhere"], "nowhere"),
        (["explore", "fedals.one_round", "--store", "."], "store"),
    ):
        assert named in refused(*words), words
    assert {path.name for path in Path().iterdir()} <= {"own.py", "strange.py", "__pycache__"}
    one = BOUNDS["fedals.one_round"]
    for arguments, store, named in (
        ([5], None, "5"), ([one], 5, "5"), ([one, one.fix(smoothness=2.5)], None, "fedals.one_round"),
    ):  # fmt: skip
        with pytest.raises(BoundsError, match=named):
            fedbounds.explore(*arguments, store=store)


# ---- in the browser ----


@pytest.fixture
def opened(own, monkeypatch):
    """Addresses that a browser was asked to open; the page itself is not made, to be quick."""
    addresses = []
    monkeypatch.setattr("webbrowser.open", lambda address: addresses.append(address) or True)
    monkeypatch.setattr("figures.explorer.page.page", lambda named, store=None: f"page of {len(named)} bounds")
    monkeypatch.setattr(opening, "_digest", lambda: "3a7")
    return addresses


def led_to(address):
    """The page and the fragment that a small file leads to."""
    place = Path(address.removeprefix("file://"))
    target = re.search(r'content="0; url=([^"]*)"', place.read_text())[1].replace("&amp;", "&")
    page, _, fragment = target.partition("#")
    return place.with_name(page), dict(parse_qsl(fragment))


def test_a_bound_is_opened_on_the_page_of_all_which_is_made_again_where_the_toolkit_has_changed(
    opened, run, monkeypatch
):
    status, out, err = run("explore", "decaying_k.per_rounds")
    first, asked = led_to(opened[0])
    assert (status, opened[0].removeprefix("file://") in out, err) == (0, True, "")
    assert asked == {"v": opening.VERSION, "b": "decaying_k.per_rounds"}
    web = Path(opening.__file__).parent / "web"
    assert f'const VERSION = "{opening.VERSION}"' in (web / "link.js").read_text()
    assert first.read_text() == f"page of {len(BOUNDS)} bounds"
    monkeypatch.setattr("figures.explorer.page.page", lambda named, store=None: "another")
    assert [run("explore", "fedcog.theorem")[0], run("explore")[0]] == [0, 0]
    assert [led_to(opened[1])[0], Path(opened[2].removeprefix("file://"))] == [first, first]
    monkeypatch.setattr(opening, "_digest", lambda: "5b9")
    assert run("explore")[0] == 0
    assert Path(opened[3].removeprefix("file://")).read_text() == "another"
    assert not first.exists()


def test_a_bound_of_ones_own_stands_on_a_page_before_the_others(opened, run):
    assert run("explore", "own.py:mine")[0] == 0
    page, asked = led_to(opened[0])
    assert (asked["b"], page.read_text()) == ("own.py:mine", f"page of {len(BOUNDS) + 1} bounds")
    assert "caches" not in str(page)


def test_without_a_browser_one_line_says_where_the_page_is(opened, refused, monkeypatch):
    for answer in (False, webbrowser.Error("could not locate runnable browser")):

        def no_browser(address, answer=answer):
            opened.append(address)
            if answer:
                raise answer
            return False

        monkeypatch.setattr("webbrowser.open", no_browser)
        message = refused("explore", "fedals.one_round")
        place = opened[-1].removeprefix("file://")
        assert (place in message, "BROWSER" in message, Path(place).exists()) == (True, True, True)


# ---- federations, and the numbers that are committed beside them ----


def test_the_second_moment_along_runs_stays_below_its_cap():
    expression, limits = federations.FOLLOWS["grad_cap_sq"]
    words = {q.name for q in expression.free_symbols}
    for seed in range(4):
        spread, noise = Random(seed).uniform(0.2, 2), Random(seed + 9).uniform(0.1, 3)
        problem = random_quadratics(seed, 3, 2, spread=spread, noise=noise, same_curvature=True)
        away = problem.start - problem.minimiser
        known = {w: getattr(problem, w) for w in words if hasattr(problem, w)} | {"initial_distance_sq": away @ away}
        cap, largest = float(evaluated(expression, known)), float(evaluated(limits["step_size"], known))
        plans = [Setting(30, 3, local_steps=n, step_size=largest * share) for n, share in ((2, 1.0), (9, 0.3))]
        found = max(exact_run(problem, algorithm("fedavg()"), plan).rounds["grad_cap_sq"].max() for plan in plans)
        assert found <= cap, seed
        assert found > (problem.smoothness * np.linalg.norm(away)) ** 2, "the start alone would be too small a cap"


KEPT = kept.read()
BY_NAME = {one["name"]: one for one in KEPT["federations"]}
QUADRATIC, TRAINED = BY_NAME["4 quadratics, measured"], BY_NAME["phishing, measured"]


def test_what_is_measured_stands_in_the_committed_figures():
    for one, data in ((QUADRATIC, "quadratics"), (TRAINED, "phishing")):
        read = [
            row
            for paper in ("decaying_k", "fedcog", "fedinit", "fedinit_data")
            for row in csv.DictReader((kept.HOME / f"ours.theorems_{paper}.csv").read_text().splitlines())
            if row["data"] == data and row["curve"] == "measured"
        ]
        numbers = {(int(row["x"]), float(row["y"]), float(row["error"]), int(row["cohort"])) for row in read}
        swept = [run.columns() for run in making.committed_results("laptop", "ours.local_steps")]
        columns = [table for table in swept if "measured" in table and "error" in table]
        numbers |= {
            (int(rounds), value, error, TRAINED["plan"]["cohort"])
            for table in columns
            for rounds, value, error in zip(table["rounds"], table["measured"], table["error"], strict=True)
        }
        assert len(one["measured"]) > 20
        for number in one["measured"]:
            plan = number["plan"]
            assert (plan["rounds"], number["value"], number["error"], plan["cohort"]) in numbers


def test_the_constants_and_exact_numbers_beside_a_measurement_are_those_of_what_ran():
    """The exact expectation of the committed figures comes out of the problem that the constants are of."""
    problem = random_quadratics(0, 4, 2, noise=0.3)
    for word in ("smoothness", "client_gradient_variance"):  # their last digits are the processor's
        assert np.allclose(getattr(problem, word), QUADRATIC["given"][word], rtol=1e-13, atol=0), word
    number = next(
        m for m in QUADRATIC["measured"] if m["plan"]["rounds"] == 20 and m["kind"].startswith("min over rounds")
    )
    options = {word: x for word, x in number["plan"].items() if word != "relaxation"}
    run = exact_run(problem, algorithm("fedavg()"), Setting(options.pop("rounds"), options.pop("cohort"), **options))
    assert min(run.server["grad_norm_sq"][:20]) == pytest.approx(number["exact"], rel=1e-9)
    largest = run.rounds["grad_cap_sq"].max()
    assert 0.2 * QUADRATIC["given"]["grad_cap_sq"] < largest < QUADRATIC["given"]["grad_cap_sq"]
    assert abs(number["value"] - number["exact"]) < 4 * number["error"]
    one = federations.of_quadratics()
    assert kept.exact(one, ["distance_sq"])["distance_sq"] == KEPT["exact"][one["name"]]["distance_sq"]


@pytest.mark.slow
@pytest.mark.data("phishing")
def test_the_constants_of_the_data_are_those_of_fedbounds_constants():
    made = kept.of_phishing()
    for word, value in TRAINED["given"].items():
        assert np.allclose(made["given"][word], value, rtol=1e-6), word
    assert made["plan"] == pytest.approx(TRAINED["plan"], rel=1e-6)
