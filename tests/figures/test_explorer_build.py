"""The explorer as it is built: what stands in the page, how large it is, and what is refused."""

import base64
import gzip
import hashlib
import json
import re

import numpy as np
import pytest
import sympy as sp
from figure_toys import said

import fedbounds
from bounds import BOUNDS
from bounds.errors import BoundsError, DeclarationError
from bounds.showing.mathml import mathml
from bounds.vocabulary import smoothness
from empirics.experiments import Outcome, Store
from fedbounds import main
from figures.explorer import optima, ranges, records
from figures.explorer.command import entries
from figures.explorer.page import page
from figures.explorer.verdicts import about
from figures.ours.grid import exact, trained
from paper_checks.audit.running import CLAIMS

OWN = """
import sympy as sp
from figure_toys import said
from bounds import Bound, quantity, Source
x = quantity("x", "x", "a number")
y = quantity("y", "y", "another")
mine = Bound("mine", y, {"all": x**2 + x}, Source("my notes", "Lemma 1"))
strange = Bound("strange", y, {"all": sp.KroneckerDelta(x, 2)}, Source("my notes", "Lemma 2"))
"""


@pytest.fixture(scope="module")
def whole(file):
    return file.read_text(encoding="utf-8")


def unpacked(html):
    packed = re.search(r'id="data">([^<]*)<', html)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def code_of(html):
    return re.search(r"<script>(.*)</script>", html, re.DOTALL)[1]


def test_the_whole_catalogue_fits_into_600_kb(whole):
    assert len(whole.encode()) < 600_000
    assert [b["name"] for b in unpacked(whole)["bounds"]] == list(BOUNDS)


def test_no_two_functions_of_the_page_have_one_name(whole):
    """The later one would silently take the place of the other."""
    found = re.findall(r"^(?:async )?function\*? (\w+)", whole, flags=re.MULTILINE)
    assert len(found) > 100
    assert len(set(found)) == len(found)


def test_nothing_is_loaded_from_anywhere_and_the_policy_knows_every_part(whole):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', whole)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    style = re.search(r"<style>(.*)</style>", whole, re.DOTALL)[1]
    for text in (code_of(whole), style):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert not re.search(r"(?:src|href)=\"(?!data:,|#v=)", whole)
    assert " style=" not in whole, "attributes of this name are forbidden by the policy"
    assert "http" not in whole.replace("http-equiv", "")


def test_every_function_of_the_page_has_a_name_of_its_own(whole):
    names = re.findall(r"^(?:async )?(?:function|const|let) (\w+)", code_of(whole), re.MULTILINE)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", BOUNDS)
def test_a_record_agrees_with_its_code_and_starts_inside_the_theorem(name):
    bound = BOUNDS[name]
    (entry,) = entries([name])
    record = records.record(entry)
    decided = [c["words"] for c in record["conditions"] if c["kind"] in ("numeric", "domain")]
    assert decided[: len(bound.numeric_conditions)] == [c.words for c in bound.numeric_conditions]
    code = records.code(entry)
    assert len(record["terms"]) == len(bound.terms)
    assert code.count("(v,n,i)=>") + code.count("(v,n,i,s)=>") == len(bound.terms) + len(decided) + sum(
        1 + len(o["derived"]["needs"]) for o in record["optima"] if o["derived"]
    )
    values = {q["name"]: q["value"] for q in record["quantities"] if not q.get("count")}
    axis = {q.name for q in bound.quantities if q.card.axis}
    length = record["members"]
    wide = {n: [v] * length if n in axis else v for n, v in values.items()}
    wide |= {"client_weight": [1 / length] * length} if "client_weight" in axis else {}
    wide |= record["lists"]
    assert np.all(bound.holds(**wide))
    assert np.all(np.isfinite(bound(**wide)))


def test_sliders_stay_inside_domains_and_hold_where_they_start():
    for bound in BOUNDS.values():
        for q in bound.quantities:
            value = ranges.start(bound)[q.name]
            low, high, log, _ = ranges.slider(q, value)
            assert q.card.domain.low <= low <= high <= q.card.domain.high
            assert low <= value <= high or value == 0
            assert not log or low > 0


def test_a_gap_of_losses_is_vacuous_above_the_largest_loss():
    vacuous = {b.name: ranges.trivial(b, ranges.start(b)) for b in BOUNDS.values()}
    assert {name for name, trivial in vacuous.items() if trivial == "loss_cap"} <= {
        b.name for b in BOUNDS.values() if "loss_cap" in ranges.start(b)
    }
    assert vacuous["decaying_k.per_rounds"] is None


# ---- minimisers and claims ----


def test_minimisers_of_the_papers_stand_beside_the_derived_ones():
    found = optima.stated(BOUNDS["decaying_k.per_second"])
    assert {b.name for b in found["local_steps"]} == {"decaying_k.k_star", "decaying_k.k_star_printed"}
    assert {b.name for b in found["step_size"]} == {"decaying_k.eta_star", "decaying_k.eta_star_printed"}
    assert set(optima.derived(BOUNDS["decaying_k.per_second"])) == {"local_steps", "step_size"}


def test_claims_come_with_their_audited_verdicts(whole):
    data = unpacked(whole)
    bound = next(b for b in data["bounds"] if b["name"] == "decaying_k.per_second")
    said = {data["claims"][i][0]: data["claims"][i][1] for i in bound["claims"]}
    assert said["decaying_k.theorem_2"] == "REPAIRED"
    assert said["decaying_k.eq_8"] == "HOLDS"
    told = {claim[0]: claim for claim in data["claims"]}
    assert told["decaying_k.theorem_2"][4] == str(CLAIMS["decaying_k.theorem_2"].defect)
    assert told["decaying_k.theorem_2"][5] == CLAIMS["decaying_k.theorem_2"].note
    assert told["decaying_k.eq_8"][4:] in (["proved", ""], ["exact", ""], ["searched", ""])
    assert all(claim[4] for claim in data["claims"]), "the committed report has the kind of every verdict"


@pytest.mark.slow
def test_the_bounds_found_in_a_check_are_those_a_run_asks_for(verdicts):
    asked = [(v.claim, set(v.bounds)) for v in verdicts.values()]
    missed = {c.name for c, bounds in asked if bounds - about(c)}
    assert not missed, "a name put together while a check runs cannot be found: write it out"
    assert sum(bool(about(c) - bounds) for c, bounds in asked) <= 3


# ---- what is refused ----


def test_an_expression_without_javascript_is_refused_when_the_page_is_built(tmp_path, capsys):
    (tmp_path / "own.py").write_text(OWN)
    assert main(["explore", f"{tmp_path}/own.py:strange", "-o", f"{tmp_path}/x.html"]) == 2
    assert "there is no JavaScript for KroneckerDelta" in capsys.readouterr().err


def test_latex_without_mathml_is_refused():
    with pytest.raises(DeclarationError, match=r"there is no MathML for \\weird"):
        mathml(r"\weird{x}")
    with pytest.raises(DeclarationError, match="lacks }"):
        mathml(r"\frac{x}{y")


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\frac{a}{2}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mn>2</mn></mrow></mfrac>"),
        (r"x_k^{2}", "<msubsup><mi>x</mi><mrow><mi>k</mi></mrow><mrow><mn>2</mn></mrow></msubsup>"),
        (r"\sqrt[3]{x}", "<mroot><mrow><mi>x</mi></mrow><mrow><mn>3</mn></mrow></mroot>"),
        (r"\text{a < b}", "<mtext>a &lt; b</mtext>"),
    ],
)
def test_mathml(latex, shown):
    assert shown.replace("<mrow><mi>k</mi></mrow>", "<mi>k</mi>") in mathml(latex)


# ---- the command, the notebook, points of a store ----


def test_the_command_writes_one_file(tmp_path, capsys):
    (tmp_path / "own.py").write_text(OWN)
    file = tmp_path / "page.html"
    status, out, err = said(capsys, "explore", "fedals.one_round", f"{tmp_path}/own.py:mine", "-o", file)
    assert (status, err) == (0, "")
    assert out.startswith(f"wrote {file}: 2 bounds, ")
    assert [b["paper"] for b in unpacked(file.read_text())["bounds"]] == ["fedals", ""]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fedals.one_rund"], "unknown bound 'fedals.one_rund'; did you mean 'fedals.one_round'"),
        (["nowhere.py:x"], "nowhere.py: No such file or directory"),
        (["fedals.one_round", "-o", "no/such/folder.html"], "-o no/such/folder.html: No such file or directory"),
        (["fedals.one_round", "-o", "."], "-o .: Is a directory"),
        (["fedals.one_round", "--store", "nowhere"], "there is no store at nowhere; fedbounds figure all"),
        (["fedals.one_round", "--store", "."], "the store at . holds no results; fedbounds figure all"),
        (["--dark"], "unrecognized arguments: --dark"),
    ],
)
def test_mistakes_are_one_line(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = said(capsys, "explore", *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_the_page_in_a_frame():
    shown = fedbounds.explore("fedals.one_round", BOUNDS["fedcog.theorem"])
    html = shown._repr_html_()
    assert html.startswith("<iframe ")
    assert html.count("<") == 2, "the page is escaped inside of its attribute"
    assert shown.names == ("fedals.one_round", "fedcog.theorem")
    assert len(repr(shown)) < 200


@pytest.mark.parametrize(
    ("arguments", "store", "words"),
    [
        ([5], None, r"explore takes bounds or their names, one after the other; got 5 \(int\)$"),
        ([["fedals.one_round"]], None, r"; got \['fedals.one_round'\] \(list\)$"),
        ([None], None, r"; got None \(NoneType\)$"),
        (["fedals.one_rund"], None, "did you mean 'fedals.one_round'"),
        (["fedals.one_round"], "/nonexist", "^there is no store at /nonexist; fedbounds figure all"),
        (["fedals.one_round"], 5, r"^store must be the path of a folder; got 5 \(int\)$"),
    ],
)
def test_mistakes_in_a_notebook_are_one_line(arguments, store, words):
    with pytest.raises(BoundsError, match=words) as raised:
        fedbounds.explore(*arguments, store=store)
    assert "\n" not in str(raised.value)


def test_a_bound_by_name_and_by_itself_is_shown_once(tmp_path, capsys, monkeypatch):
    one = BOUNDS["fedals.one_round"]
    assert fedbounds.explore("fedals.one_round", one, "fedals.one_round").names == ("fedals.one_round",)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    assert said(capsys, "explore", "own.py:mine", "./own.py:mine")[1].startswith("wrote explorer.html: 1 bounds")


def test_two_bounds_of_one_name_are_refused():
    one = BOUNDS["fedals.one_round"]
    with pytest.raises(BoundsError, match=r"got two called 'fedals\.one_round'"):
        fedbounds.explore(one, one.fix(smoothness=2.5))


def test_points_of_a_store_stand_beside_their_bound(tmp_path):
    store = Store(tmp_path / "store")
    table = {"rounds": [1, 2], "measured": [0.5, 0.4], "error": [0.1, float("nan")], "bound": [3.0, 2.0]}
    store.keep(trained("smoke", "fedcog.theorem"), Outcome(table, {"constants": {"smoothness": 1.25}}), 0.1)
    whole_table = {**table, "exact": [0.6, 0.3]}
    store.keep(exact("smoke", "fedcog.theorem", 0), Outcome(whole_table, {"step_size": 0.05}), 0.1)
    record = unpacked(page(entries(["fedcog.theorem", "fedals.one_round"]), store.folder))["bounds"]
    data, quadratics = record[0]["points"]
    assert data["rows"] == [["measured", 1, 0.5, 0.1], ["measured", 2, 0.4, 0.0]]
    assert data["values"] == {"smoothness": 1.25}
    assert "step_size" in data["missing"]
    assert [row[0] for row in quadratics["rows"]] == ["exact", "exact", "measured", "measured"]
    assert quadratics["values"]["step_size"] == 0.05
    assert quadratics["values"]["smoothness"] > 0
    assert quadratics["values"]["clients"] == 4, "their number, which no list of this bound tells"
    assert record[1]["points"] == []


def test_a_bound_with_given_values_takes_them(tmp_path):
    fixed = BOUNDS["fedals.one_round"].fix(smoothness=2.5)
    (record,) = unpacked(fedbounds.explore(fixed).html)["bounds"]
    assert record["given"] == {"smoothness": 2.5}
    assert "smoothness" not in {q["name"] for q in record["quantities"]}
    assert smoothness in fixed.spelled_terms["local generalization"].free_symbols
    assert isinstance(fixed.expr, sp.Expr)
