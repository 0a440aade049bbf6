"""Formulas in one line of Unicode letters, and spelled out for terminals that know none."""

import re
import unicodedata

import pytest
import sympy as sp

from bounds import BOUNDS, ClassMax, ClassSum, ClientMean, ClientSum, quantity
from bounds.numerics.rounding import RoundUp
from bounds.operators import ClientMax
from bounds.showing.cards import letters_of, statement
from bounds.showing.letters import in_unicode
from bounds.showing.printing import signs
from bounds.showing.spelling import spelled
from bounds.vocabulary import client_weight, grad_cap_sq, local_steps, optimality_gap, smoothness, step_size


@pytest.mark.parametrize(
    ("latex", "line", "ascii"),
    [
        (r"\mathbb{E}\|\nabla F\|^2", "𝔼‖∇F‖²", "E||grad F||^2"),
        (r"F(\bar x_{t_0})", "F(x̄_{t₀})", "F(xbar_{t_0})"),
        (r"\mathbb{E}\|\theta^{(t+1)}-\theta^{(t)}\|^2", "𝔼‖θ⁽ᵗ⁺¹⁾ - θ⁽ᵗ⁾‖²", "E||theta^(t+1) - theta^(t)||^2"),
        (r"\Delta^{t+1}", "Δᵗ⁺¹", "Delta^{t+1}"),
        (r"\frac{1}{\tau T}\sum_{t,k}f-f^\star", "1/(τT) ∑_{t,k} f - f⋆", "1/(tau T) sum_{t,k} f - f*"),
        (r"N_{real}+N_{gen}", "N_real + N_gen", "N_real + N_gen"),
        (r"\chi^2_{p\|w}", "χ_{p‖w}²", "chi_{p||w}^2"),
        (r"\widetilde w_{i,k}", "w̃_{i,k}", "wtilde_{i,k}"),
        (r"\mathbb{E}\Delta", "𝔼Δ", "E Delta"),
        (r"\max_t\alpha_t", "maxₜ αₜ", "max_t alpha_t"),
        (r"\left|\sqrt[3]{\lambda}\right|", "|(λ)^(1/3)|", "|(lambda)^(1/3)|"),
        (r"L_G F^*", "L_GF∗", "L_GF*"),
    ],
)
def test_letters_are_one_line(latex, line, ascii):
    assert unicodedata.normalize("NFD", in_unicode(latex)) == unicodedata.normalize("NFD", line)
    assert spelled(in_unicode(latex)) == ascii


def test_latex_that_cannot_be_read_stays_as_it_is():
    assert in_unicode(r"\weird{x}") == r"\weird{x}"
    own = quantity("own_words", r"\weird{x}", "its letter is a command of its own")
    assert signs(3 * own, {own: r"\weird{x}"}) == r"3·\weird{x}"


def test_formulas_keep_what_belongs_together():
    letters = {
        smoothness: "L", step_size: r"\eta", local_steps: "K", grad_cap_sq: "G^2", optimality_gap: r"f-f^\star",
        client_weight: "p_k",
    }  # fmt: skip
    for expression, line in (
        (3 * optimality_gap / (step_size * local_steps), "3·(f - f⋆)/(K·η)"),
        (grad_cap_sq**3 * sp.sqrt(grad_cap_sq), "G⁷"),
        (grad_cap_sq**2 / smoothness, "G⁴/L"),
        (sp.sqrt(grad_cap_sq) + step_size ** sp.Rational(2, 3), "G + η^(2/3)"),
        (2 * sp.sqrt(step_size / smoothness) * ClientSum(client_weight**2), "2·√(η/L)·∑ₖ[pₖ²]"),
        ((1 - step_size) ** local_steps, "(1 - η)ᴷ"),
        (sp.Le(step_size, 1 / (7 * smoothness)), "η ≤ 1/(7·L)"),
    ):
        assert signs(expression, letters) == line


# ---- every formula of the catalogue, read back ----

READ = {"√": "sqrt", "·": "*", "^": "**", "⌈": "RoundUp(", "⌉": ")", "[": "(", "]": ")", "max(": "Max(", "min(": "Min("}
REDUCED = {"𝔼ₖ": "ClientMean", "∑ₖ": "ClientSum", "maxₖ": "ClientMax", "∑_c": "ClassSum", "max_c": "ClassMax"}
FUNCTIONS = {f.__name__: f for f in (ClientMean, ClientSum, ClientMax, ClassSum, ClassMax, RoundUp)}


def read(line, names):
    """The expression that a line says, by other means than those that printed it."""
    for sign, word in (REDUCED | READ).items():
        line = line.replace(sign, word)
    line = re.sub("x([₀-₉]+)", lambda m: "x" + unicodedata.normalize("NFKC", m[1]), line)
    raised = r"[⁰¹²³⁴-⁹⁺⁻⁽⁾]+"
    line = re.sub(raised, lambda m: f"**({unicodedata.normalize('NFKC', m[0]).replace('−', '-')})", line)
    return sp.sympify(line, locals=FUNCTIONS | names)


@pytest.mark.parametrize("paper", sorted({name.partition(".")[0] for name in BOUNDS}))
def test_every_formula_says_what_it_is(paper):
    for name, bound in BOUNDS.items():
        if not name.startswith(f"{paper}."):
            continue
        letters = {q: f"x_{{{i + 10}}}" for i, q in enumerate(letters_of(bound))}
        names = {f"x{i + 10}": q for i, q in enumerate(letters_of(bound))}
        for term in (*bound.terms.values(), *bound.where.values()):
            said = read(signs(term, letters), names)
            values = {q: sp.Rational(3 * i + 7, 2 * i + 5) for i, q in enumerate(sorted(names.values(), key=str))}
            assert said == term or sp.N((said / term).subs(values), 20) == pytest.approx(1, rel=1e-15), name


def test_every_statement_can_be_spelled_out():
    for bound in BOUNDS.values():
        line = spelled(statement(bound))
        assert line.isascii()
        assert "\\" not in line
