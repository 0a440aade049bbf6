"""Formulas in one line of Unicode letters and typeset within plain sentences."""

import re
import unicodedata

import pytest
import sympy as sp

from bounds import BOUNDS, ClassMax, ClassSum, ClientMean, ClientSum, quantity
from bounds.numerics.functions import RoundUp
from bounds.operators import ClientMax
from bounds.showing.cards import letters_of
from bounds.showing.printing import signs
from bounds.showing.prose import typeset
from bounds.showing.unicode_letters import in_unicode
from bounds.vocabulary import client_weight, grad_cap_sq, local_steps, optimality_gap, smoothness, step_size


@pytest.mark.parametrize(
    ("latex", "line"),
    [
        (r"\mathbb{E}\|\nabla F\|^2", "𝔼‖∇F‖²"),
        (r"F(\bar x_{t_0})", "F(x̄_{t₀})"),
        (r"\mathbb{E}\|\theta^{(t+1)}-\theta^{(t)}\|^2", "𝔼‖θ⁽ᵗ⁺¹⁾ - θ⁽ᵗ⁾‖²"),
        (r"\frac{1}{\tau T}\sum_{t,k}f-f^\star", "1/(τT) ∑_{t,k} f - f⋆"),
        (r"\chi^2_{p\|w}", "χ_{p‖w}²"),
        (r"\widetilde w_{i,k}", "w̃_{i,k}"),
        (r"\max_t\alpha_t", "maxₜ αₜ"),
        (r"\left|\sqrt[3]{\lambda}\right|", "|λ^(1/3)|"),
        (r"L_G F^*", "L_GF∗"),
    ],
)
def test_letters_are_one_line(latex, line):
    assert unicodedata.normalize("NFD", in_unicode(latex)) == unicodedata.normalize("NFD", line)


def test_formulas_keep_what_belongs_together():
    letters = {
        smoothness: "L", step_size: r"\eta", local_steps: "K", grad_cap_sq: "G^2", optimality_gap: r"f-f^\star",
        client_weight: "p_k",
    }  # fmt: skip
    own = quantity("own_words", r"\weird{x}", "its letter is a command of its own, which stays as it is")
    lines = {
        3 * optimality_gap / (step_size * local_steps): "3·(f - f⋆)/(K·η)",
        grad_cap_sq**3 * sp.sqrt(grad_cap_sq): "G⁷",
        grad_cap_sq**2 / smoothness: "G⁴/L",
        sp.sqrt(grad_cap_sq) + step_size ** sp.Rational(2, 3): "G + η^(2/3)",
        2 * sp.sqrt(step_size / smoothness) * ClientSum(client_weight**2): "2·√(η/L)·∑ₖ[pₖ²]",
        (1 - step_size) ** local_steps: "(1 - η)ᴷ",
        sp.Le(step_size, 1 / (7 * smoothness)): "η ≤ 1/(7·L)",
        3 * own: r"3 \cdot \weird{x}",
    }
    assert {expression: signs(expression, letters | {own: r"\weird{x}"}) for expression in lines} == lines


READ = {"√": "sqrt", "·": "*", "^": "**", "⌈": "RoundUp(", "⌉": ")", "[": "(", "]": ")", "max(": "Max(", "min(": "Min("}
REDUCED = {"𝔼ₖ": "ClientMean", "∑ₖ": "ClientSum", "maxₖ": "ClientMax", "∑_c": "ClassSum", "max_c": "ClassMax"}
FUNCTIONS = {f.__name__: f for f in (ClientMean, ClientSum, ClientMax, ClassSum, ClassMax, RoundUp)} | {"e": sp.E}


def read(line, names):
    """The expression that a line says, by other means than those that printed it."""
    for sign, word in (REDUCED | READ).items():
        line = line.replace(sign, word)
    line = re.sub("x([₀-₉]+)", lambda m: "x" + unicodedata.normalize("NFKC", m[1]), line)
    raised = r"[⁰¹²³⁴-⁹⁺⁻⁽⁾]+"
    line = re.sub(raised, lambda m: f"**({unicodedata.normalize('NFKC', m[0]).replace('−', '-')})", line)
    return sp.sympify(line, locals=FUNCTIONS | names)


def test_every_formula_says_what_it_is():
    for name, bound in BOUNDS.items():
        letters = {q: f"x_{{{i + 10}}}" for i, q in enumerate(letters_of(bound))}
        names = {f"x{i + 10}": q for i, q in enumerate(letters_of(bound))}
        for term in (*bound.terms.values(), *bound.where.values()):
            said = read(signs(term, letters), names)
            values = {q: sp.Rational(3 * i + 7, 2 * i + 5) for i, q in enumerate(sorted(names.values(), key=str))}
            assert said == term or sp.N((said / term).subs(values), 20) == pytest.approx(1, rel=1e-15), name


LETTERS = {"grad_cap_sq": "G^2", "local_gap": r"\Delta_k", "clients": "K", "smoothness": "L"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("while 60 beta^2 <= N (1 - 72 beta^2), it does", r"while $60 \beta^{2} \le N (1 - 72 \beta^{2})$, it does"),
        ("G^2 = L^2 ||x_1 - x^*||^2, for x_*", r"$G^{2} = L^{2} \|x_{1} - x^{*}\|^{2}$, for $x_{*}$"),
        ("from x_(r,k-1) to w_{i,K}^{t-1}", r"from $x_{r,k -1}$ to $w_{i,K}^{t -1}$"),
        ("sqrt(M)/(4 L sqrt(3 T)) is (9)", r"$\sqrt {M}/(4 L \sqrt {3 T})$ is (9)"),
        ("true = grad_cap_sq**(1/3); no", r"true $= \left(G^2\right)^{1/3}$; no"),
        ("plus local_gap*(1 - 1/clients)/2 of clients", r"plus $\Delta_k \cdot (1 - 1/K)/2$ of clients"),
        ("local_gap 3 to 40, local_gap = 5", r"$\Delta_k$ 3 to 40, $\Delta_k = 5$"),
        ("eta = 6.5e-05 (R = 2500)", r"$\eta = 6.5\cdot 10^{-5} (R = 2500)$"),
        ("(K = 5, N = 3), a case; K's value", "$(K = 5, N = 3)$, a case; $K$'s value"),
        ("a coin of +-1 at -7/3; 3/2 of v2 in Appendix D", r"a coin of $\pm 1$ at $-7/3$; 3/2 of v2 in Appendix D"),
        ("a = (1 - eta L)^K: the bound", r"$a = (1 - \eta L)^{K}$: the bound"),
        ("x^ and a {K, G^2^3", r"x\textasciicircum{} and a \{K, G$^{2}$$^{3}$"),
        ("my_own_long.name & 5 %", r"my\_\allowbreak{}own\_\allowbreak{}long.name \& 5 \%"),
    ],
)
def test_formulas_stand_between_dollars_and_words_do_not(text, shown):
    assert typeset(text, LETTERS) == shown
