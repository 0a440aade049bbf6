"""What a bound looks like: terminal card, LaTeX, notebook card, JSON."""

import json
import re
from xml.etree import ElementTree

import sympy as sp
from matplotlib.mathtext import MathTextParser

from bounds import About, Bound, ClientMean, ClientSum, Condition, get, quantity, Source, Statistic, vocabulary
from bounds.assumptions import EXACT_LOCAL_SOLVER
from bounds.showing.cards import as_json, document, html, latex, text
from bounds.showing.printing import latex as in_letters, split_sign, words

client_weight, grad_cap_sq, grad_norm_sq = vocabulary.client_weight, vocabulary.grad_cap_sq, vocabulary.grad_norm_sq
local_gap, local_steps, optimality_gap = vocabulary.local_gap, vocabulary.local_steps, vocabulary.optimality_gap
smoothness, step_size, strong_convexity = vocabulary.smoothness, vocabulary.step_size, vocabulary.strong_convexity

LETTERS = {q: q.card.letter for q in (grad_cap_sq, local_gap, optimality_gap, smoothness, step_size, strong_convexity)}
factor = quantity("drift_share", r"\gamma", "share of <b>drift</b> & noise")
sample = Bound(
    name="test.sample",
    target=grad_norm_sq,
    relation="<~",
    terms={
        "start": factor * optimality_gap / (step_size * local_steps),
        "drift & noise": ClientMean(local_gap) * sp.sqrt(smoothness / strong_convexity) * step_size,
        "gain": -grad_cap_sq * step_size,
    },
    signed=("gain",),
    where={factor: 1 + strong_convexity / smoothness},
    conditions=(
        Condition("the step size is small", step_size < 1 / (3 * smoothness)),
        Condition.assume(EXACT_LOCAL_SOLVER),
        Condition("the moon is full"),
    ),
    source=Source("decaying_k", "eq. (8)"),
    about=About("fedavg", "printed"),
    statistic=Statistic("min", "rounds", "server model"),
    letters={smoothness: r"\ell"},
    note="Only <an> example.",
)


def test_products_reductions_and_letters_that_are_squares_print_without_ambiguity():
    together = 2 * sp.sqrt(smoothness / strong_convexity) * ClientMean(sp.sqrt(local_gap * optimality_gap))
    printed = {
        together: "2*sqrt(optimality_gap*smoothness/strong_convexity)*E_k[sqrt(local_gap)]",
        -sp.sqrt(optimality_gap / local_steps): "-sqrt(optimality_gap/local_steps)",
        ClientMean(client_weight * local_gap): "E_k[client_weight*local_gap]",
        ClientSum(local_gap) ** 2: "sum_k[local_gap]^2",
    }
    assert {expression: words(expression) for expression in printed} == printed
    printed = {
        sp.sqrt(smoothness / strong_convexity): r"\sqrt{\frac{L}{\mu}}",
        ClientMean(local_gap): r"\mathbb{E}_{k}\left[\Delta_k\right]",
        grad_cap_sq: "G^2",
        grad_cap_sq**2: "G^{4}",
        grad_cap_sq ** sp.Rational(1, 3): r"G^{\frac{2}{3}}",
        2 * optimality_gap: r"2 \left(f-f^\star\right)",
        smoothness**2: "L^{2}",
    }
    assert {expression: in_letters(expression, LETTERS) for expression in printed} == printed
    for sign, size in (("-", 2 * step_size), ("+", 2 * step_size), ("+", step_size - smoothness)):
        assert split_sign(-size if sign == "-" else size) == (sign, size)


def test_the_terminal_card_tells_everything():
    card = text(sample)
    assert card.splitlines()[0] == "test.sample   [Decaying-K, eq. (8)]"
    for said in (
        "fedavg (reading: printed)",
        "min over rounds at the server model",
        "grad_norm_sq <~",
        "𝔼‖∇F‖² ≲ γ·(f - f⋆)/(K·η) + √(ℓ/μ)·η·𝔼ₖ[Δₖ] - G²·η",
        "drift_share = 1 + strong_convexity/smoothness   γ; share",
        "(start)",
        "(drift & noise)",
        "    - grad_cap_sq*step_size",
        "step_size < 1/(3*smoothness)",
        EXACT_LOCAL_SOLVER.words,
        "the moon is full",
        "> 0, <= smoothness",
        "per client",
        "loss/parameter^2",
        "Only <an> example.",
    ):
        assert said in card, said
    assert "drift_share" not in [q.name for q in sample.quantities]
    assert "smoothness = 2.75" in text(sample.fix(smoothness=2.75))
    explained, one_round = "E_k[x] = sum_k[client_weight*x]", get("fedals.one_round")
    assert explained in str(one_round)
    assert explained not in str(one_round.equal_clients())


def test_latex_names_terms_and_keeps_the_papers_letters_and_abbreviations():
    formula = latex(sample)
    assert formula.startswith(r"\mathbb{E}\|\nabla F\|^2 \lesssim \underset{\text{start}}")
    assert r"- \underset{\text{gain}}{G^2 \eta}" in formula
    assert r"\text{where} \quad \gamma = 1 + \frac{\mu}{\ell}" in formula
    assert "L" not in formula.replace("\\left", "")
    assert r"\ell = 2.75" in latex(sample.fix(smoothness=2.75))
    MathTextParser("agg").parse(f"${formula}$")
    assert sample.latex() == "\n".join(document(sample))
    assert sample._repr_latex_() == f"${formula}$"


def test_the_notebook_card_is_escaped_needs_no_script_and_takes_the_colours_of_its_page():
    card = html(sample)
    assert "share of <b>" not in card
    assert "&lt;an&gt; example" in card
    assert sample._repr_html_() == card
    root = ElementTree.fromstring(html(sample.fix(smoothness=2.75)).replace("&nbsp;", " ").replace("&middot;", ","))
    style, formula = root.find("style").text, root.find("div[@class='formula']")
    assert all(rule.strip().startswith(".fedbounds") for rule in re.findall(r"([^{}]+)\{", style))
    assert "$" not in "".join(root.itertext())
    assert not {"script", "link", "img"} & {element.tag for element in root.iter()}
    assert [len(part.findall(".//munder[@class='term']")) for part in formula] == [0, 1, 1, 1]
    assert [mtext.text for mtext in formula.iter("mtext")] == ["start", "drift & noise", "gain"]
    assert "".join(root.find("p").findall("math")[1].itertext()) == "ℓ=2.75"
    assert "".join(root.find("ul").find("li/math").itertext()) == "η<13ℓ"


def test_json_describes_every_quantity():
    card = json.loads(json.dumps(as_json(sample), allow_nan=False))
    assert {"name", "paper", "source", "relation", "target", "statistic", "about", "terms", "where", "conditions",
            "quantities", "given", "latex", "note"} == set(card)  # fmt: skip
    assert [q["name"] for q in card["quantities"]] == [q.name for q in sample.quantities]
    weight = next(q for q in card["quantities"] if q["name"] == "local_gap")
    assert list(weight) == ["name", "letter", "meaning", "unit", "domain", "per_client", "axis"]
    assert list(weight.values())[1:4] == [r"\Delta_k", local_gap.card.meaning, "loss"]
    assert list(weight.values())[5:] == [True, "clients"]
    assert next(q for q in card["quantities"] if q["name"] == "smoothness")["letter"] == r"\ell"
    assert [c["kind"] for c in card["conditions"]] == ["numeric", "assumption", "words"]
    assert card["conditions"][0]["relation"] == "step_size < 1/(3*smoothness)"
    assert card["conditions"][2]["relation"] is None
    symbols = {q.name: q for q in (*sample.quantities, factor)} | {"ClientMean": ClientMean}
    for label, term in sample.terms.items():
        assert sp.sympify(card["terms"][label]["string"], locals=symbols) == term
