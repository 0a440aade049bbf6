"""``check --summary`` and ``--erratum``: a paper's page as committed, that of a file of one's own, corrections."""

import re
import shutil
import subprocess

import pytest
from loops import cases

import fedbounds
from bounds.catalog import BOUNDS
from bounds.errors import UnknownNameError
from bounds.papers import PAPERS
from bounds.showing.cards import letters_of
from bounds.showing.printing import latex
from paper_checks.audit import summary
from paper_checks.audit.erratum import belongs, erratum
from paper_checks.audit.running import CLAIMS, REVIEWS
from paper_checks.claims.claim import Status

OWN = """
from bounds.vocabulary import local_steps as K, step_size as eta
from paper_checks.claims.checkers import Same
from paper_checks.claims.claim import Claim, Defect, Kind, Repair, Status
from paper_checks.claims.review import Review

square = Claim("mine.square", "A square is a product.", Kind.EQUATION.at("line 1"), Same(K**2, K * K))
lost = Claim("mine.lost", "Half is lost.", Kind.THEOREM.at("line 2"), Same(eta, 2 * eta), Status.FAILS,
             defect=Defect.SLIP, repair=Repair("twice", Same(2 * eta, 2 * eta), "decaying_k.eta_star"))
review = Review(("All of it: [mine.square].",), {"Theorem 2": {"as printed": "mine.lost"}}, ("mine.lost",))
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "my_paper.py"
    path.write_text(OWN, encoding="utf-8")
    return path


def run(capsys, *words):
    status = fedbounds.main(["check", *([] if "--erratum" in words else ["--summary"]), *map(str, words)])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_page_of_a_paper_is_what_is_committed_up_to_the_list_of_claims(tmp_path, monkeypatch, capsys):
    pages = tmp_path / "reports"
    pages.mkdir()
    (pages / "fedcog.md").write_text("# FedCOG\n\nLook at [a.b](#ab).\n\n## All claims\n\nmany\n", encoding="utf-8")
    monkeypatch.setattr(summary, "COMMITTED", tmp_path / "REPORT.md")
    status, out, _ = run(capsys, "fedcog")
    assert status == 0
    assert out.startswith("# FedCOG\n\nLook at a.b.\n\nAs committed;")
    assert "many" not in out


def test_a_file_of_ones_own_is_judged_and_gets_its_page_or_is_shown_claim_by_claim(own, capsys):
    status, out, _ = run(capsys, own, "--workers", "1")
    assert status == 0
    assert "`mine.square` (HOLDS)" in out
    assert "| Theorem 2 | REPAIRED, slip |" in out
    assert "1. **slip** mine.lost: Half is lost." in out
    own.write_text(OWN.partition("review = ")[0], encoding="utf-8")
    status, out, _ = run(capsys, own, "--workers", "1")
    assert (status, "#### mine.lost" in out, "#### mine.square" in out) == (0, True, True)
    own.write_text(OWN.replace("Same(K**2, K * K)", "Same(K**2, 3 * K)"), encoding="utf-8")
    status, _, err = run(capsys, own, "--workers", "1")
    assert (status, "mine.square" in err) == (1, True)
    assert run(capsys, "nowhere.py")[0] == 2
    with pytest.raises(UnknownNameError, match="fedcog"):
        fedbounds.check("fedcogs", summary=True)


def test_an_erratum_has_the_printed_formula_its_fault_and_the_corrected_one(tmp_path, monkeypatch, capsys):
    names = ("eq_24", "corollary_2_1_cap", "theorem_2", "corollary_2_1")
    chosen = {f"decaying_k.{n}": CLAIMS[f"decaying_k.{n}"] for n in names} | {"fedcog.eq_6": CLAIMS["fedcog.eq_6"]}
    monkeypatch.setattr("paper_checks.audit.running.CLAIMS", chosen)
    file = tmp_path / "erratum.tex"
    status, out, _ = run(capsys, "decaying_k", "--erratum", "-o", file, "--workers", "1")
    assert (status, out) == (0, f"wrote {file}\n")
    text = file.read_text(encoding="utf-8")
    body = text.partition(r"\begin{document}")[2].partition(r"\end{document}")[0].replace(r"\allowbreak{}", "")
    assert body.count("{") == body.count("}")
    assert r"\texttt{fedbounds check decaying\_k.eq\_24}" in body
    derivative, cap, theorem, _ = body.split(r"\subsection*")[1:]
    assert [r"\emph{Printed,} Appendix A.3, eq. (24)" in e for e in (derivative, cap, theorem)] == [True, False, False]
    assert r"\emph{As read,} Corollary 2.1, eq. (11)" in cap, "what the text prints is not clear"
    assert r"\emph{Ours,} Corollary 2.1, minimiser of (8) over $\eta$, derived" in cap
    assert r"$|x|/D+|x|/D$ is read as $|x|/D+|x|/U$" in re.sub(
        " ([|+]) ?", r"\1", theorem.partition(r"\begin{align*}")[0]
    )
    corrected = theorem.partition(r"\emph{Corrected,} (9) divided by $G^{2/3}$:")[2]
    k_star = BOUNDS["decaying_k.k_star"]
    assert latex(k_star.terms["optimum"], letters_of(k_star)) in corrected
    assert r"$\eta \leq \frac{1}{4 L}$; the number of local steps" in corrected, "a number's condition is a formula"
    assert "every client's loss is $L$-smooth" in corrected, "words stay words"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex sets the errata")
@cases("paper", [*PAPERS, "none"])
def test_the_erratum_of_every_paper_compiles(paper, verdicts, tmp_path):
    found = [v for v in verdicts.values() if v.claim.paper == paper and belongs(v.claim, BOUNDS)]
    said = {name: words for review in REVIEWS.values() for name, words in review.sentences.items()}
    text = erratum(found, BOUNDS, said)
    assert text.count(r"\subsection*") == sum(v.status is Status.REPAIRED for v in found)
    assert not re.search(r"textasciicircum", text), "a formula that was not typeset"
    (tmp_path / "erratum.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "erratum.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120)
    assert made.returncode == 0, made.stdout[-2000:]
    wide = [float(pt) for pt in re.findall(r"Overfull \\hbox \(([\d.]+)pt", made.stdout)]
    assert max(wide, default=0) < 20, "a line runs out of the page"


WRONG = [  # what is replaced in the file, by what, and what the refusal names
    ('"decaying_k.eta_star")', '"decaying_k.eta_stra")', "decaying_k.eta_stra"),
    ("defect=Defect.SLIP,", "defect=Defect.SLIP, about=('fedals.on_round',),", "fedals.on_round"),
    ("mine.", "fedinit.", "fedinit.square"),
    ("[mine.square].", "[mine.squar].", "'mine.squar'"),
    ('("mine.lost",))', '("mine.los",))', "'mine.los'"),
    ('{"as printed": "mine.lost"}', '"mine.lost"', "theorems['Theorem 2'] must be of type Mapping"),
    ("review = ", "other = Review(())\nreview = ", "2 reviews"),
    ("Defect.SLIP", "'wrong'", "defect must be of type Defect"),
    ("defect=Defect.SLIP,", "", "refuted, gap, reading"),
]


@cases("verb wrong", [(verb, wrong) for verb in ("--summary", "--report") for wrong in WRONG])
def test_what_a_file_declares_wrongly_is_one_line(own, refused, tmp_path, verb, wrong):
    old, new, said = wrong
    own.write_text(OWN.replace(old, new), encoding="utf-8")
    more = [verb, str(tmp_path / "report")] if verb == "--report" else [verb]
    assert said in refused("check", own, "--workers", "1", *more)


CORRECTED = [("THEOREM", "", 1), ("ASSUMPTION", "", 1), ("ALGORITHM", "", 1), ("DEFINITION", "", 1), ("TABLE", "", 0),
             ("REMARK", "", 0), ("THEOREM", ", ours=True", 0)]  # fmt: skip


@cases("kind ours corrections", CORRECTED)
def test_a_correction_in_words_stands_in_the_erratum_if_a_reader_builds_upon_it(own, capsys, kind, ours, corrections):
    declared = OWN.replace(', "decaying_k.eta_star"))', f"){ours})").replace("Kind.THEOREM", f"Kind.{kind}")
    assert declared.count("eta_star") == 0
    own.write_text(declared)
    status, out, _ = run(capsys, own, "--erratum", "--workers", "1")
    assert (status, out.count(r"\subsection*"), out.count(r"\emph{Corrected.} Twice.")) == (0, corrections, corrections)


@cases("words ending", [(["check", "{}", "--summary", "-o"], ".md"), (["check", "{}", "--erratum", "-o"], ".tex")])
def test_a_report_does_not_take_the_place_of_the_file_it_is_about(own, capsys, monkeypatch, words, ending):
    monkeypatch.setattr(summary, "audit", lambda *_: pytest.fail("refused after the work"))
    words, link = [word.format(own) for word in words], own.with_suffix(ending)
    link.symlink_to(own)
    assert fedbounds.main([*words, str(link)]) == 2
    assert str(own) in capsys.readouterr().err
    assert fedbounds.main([*words, str(own)]) == 2
    assert str(own.with_suffix(ending)) in capsys.readouterr().err
    link.unlink()
    assert own.read_text(encoding="utf-8") == OWN


def test_a_report_made_again_keeps_no_page_of_before(own, tmp_path, capsys):
    again = ["check", str(own), "--workers", "1", "--report", str(tmp_path / "report")]
    assert fedbounds.main(again) == 0
    assert (tmp_path / "report/reports/mine.md").exists()
    mended = OWN.replace("mine.", "ours.").replace("defect=Defect.SLIP, ", "")
    own.write_text(mended.replace("2 * eta), Status.FAILS", "eta), Status.HOLDS"), encoding="utf-8")
    assert fedbounds.main(again) == 0
    assert [path.name for path in (tmp_path / "report/reports").iterdir()] == ["ours.md"]
