"""Formulas in plain sentences are typeset for LaTeX; words stay words."""

import re

import pytest

from bounds.catalog import BOUNDS
from bounds.showing.prose import typeset

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
        ("smoothness = 62, smoothness matters", "$L = 62$, smoothness matters"),
        ("eta = 6.5e-05 (R = 2500)", r"$\eta = 6.5\cdot 10^{-5} (R = 2500)$"),
        ("(K = 5, N = 3), a case; K's value", "$(K = 5, N = 3)$, a case; $K$'s value"),
        ("L-smooth, mu-strongly convex, K* steps", r"$L$-smooth, $\mu$-strongly convex, $K^{*}$ steps"),
        ("a coin of +-1 at -7/3; 3/2 of v2 in Appendix D", r"a coin of $\pm 1$ at $-7/3$; 3/2 of v2 in Appendix D"),
        ("a = (1 - eta L)^K: the bound", r"$a = (1 - \eta L)^{K}$: the bound"),
        ("FedAvg < FedALS, I mean", "FedAvg $<$ FedALS, I mean"),
        ("x^ and a {K, G^2^3", r"x\textasciicircum{} and a \{K, G$^{2}$$^{3}$"),
        ("not loss^2/parameter^2: off", "not loss$^{2}$/parameter$^{2}$: off"),
        ("my_own_long.name & 5 %", r"my\_\allowbreak{}own\_\allowbreak{}long.name \& 5 \%"),
        ("", ""),
    ],
)
def test_formulas_stand_between_dollars_and_words_do_not(text, shown):
    assert typeset(text, LETTERS) == shown


def test_what_the_catalogue_says_has_balanced_formulas_without_double_exponents():
    texts = [t for b in BOUNDS.values() for t in (b.note, b.source.place, *(c.words for c in b.conditions))]
    formulas = [f for text in set(texts) for f in re.findall(r"\$([^$]*)\$", typeset(text))]
    assert len(formulas) > 300
    for formula in formulas:
        bare = re.sub(r"\\[{}]", "", formula)
        assert bare.count("{") == bare.count("}"), formula
        assert not re.search(r"\^\{[^}]*\}\^|\^\s*$", bare), formula
    assert typeset(BOUNDS["fedinit.theorem_1"].note).count(r"$60 \beta^{2} \le N (1 - 72 \beta^{2})$") == 1
