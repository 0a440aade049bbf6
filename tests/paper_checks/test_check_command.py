"""The verb ``check``: what it runs, what it writes, its exit status, summaries and errata."""

import json
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
from paper_checks.audit import command, running as audit_module, summary
from paper_checks.audit.erratum import belongs, erratum
from paper_checks.audit.running import CLAIMS, REVIEWS, verdict_of
from paper_checks.claims.claim import ClaimError, Status

OWN = """
import sympy as sp
from bounds.vocabulary import local_steps
from paper_checks.claims.checkers import Same
from paper_checks.claims.claim import Claim, Defect, Finding, Grade, Kind, Status

def made(known):
    return Claim("mine.square", "A square is a product.", Kind.EQUATION.at("line 1"),
                 Same(local_steps**2, local_steps * local_steps), known,
                 defect=Defect.SLIP if known is Status.FAILS else None)

right, wrong = made(Status.HOLDS), made(Status.FAILS)
no_claim = 3

class Stop(BaseException):
    pass

def stops(book):
    raise Stop("enough")

def talks(book):
    print("thinking")
    return Finding(Status.HOLDS, Grade.READ, "read")

def lacks(book):
    raise ModuleNotFoundError(name="clarabel")

stopping, talking, lacking = (
    Claim(f"mine.{c.__name__}", "Odd.", Kind.EQUATION.at("1"), c, Status.HOLDS) for c in (stops, talks, lacks)
)
"""


@pytest.fixture
def few(monkeypatch):
    """The first quick claims of two papers alone."""
    kept = {}
    for paper in ("fedals", "fedcog"):
        kept |= {c.name: c for c in [c for c in CLAIMS.values() if c.paper == paper][:3]}
    monkeypatch.setattr(command, "CLAIMS", kept)
    monkeypatch.setattr(audit_module, "CLAIMS", kept)
    return kept


@pytest.fixture
def committed(tmp_path, monkeypatch):
    """A committed report elsewhere."""
    path = tmp_path / "paper_checks" / "REPORT.md"
    path.parent.mkdir()
    monkeypatch.setattr(command, "COMMITTED", path)
    return path


def names(out):
    return [entry["name"] for entry in json.loads(out)]


def test_a_claim_a_paper_and_all(few, run):
    name = next(iter(few))
    for words, expected in (
        ([name], [name]),
        (["--paper", "fedcog"], sorted(n for n in few if n.startswith("fedcog."))),
        (["--workers", "1"], sorted(few)),
    ):
        status, out, _ = run("check", *words, "--json")
        assert (status, sorted(names(out))) == (0, expected)


def test_a_prefix_means_all_under_it():
    prefix = next(n.rpartition(".")[0] for n in CLAIMS if n.count(".") > 1)
    assert {c.name for c in command.chosen([prefix], {})} == {n for n in CLAIMS if f"{n}.".startswith(f"{prefix}.")}
    assert len(command.chosen(["fedals"], {})) == sum(c.paper == "fedals" for c in CLAIMS.values())


def test_a_bound_means_the_claims_that_ask_for_it(few):
    asked = {name: set(verdict_of(c).bounds) for name, c in few.items()}
    bound = next(b for bounds in asked.values() for b in sorted(bounds) if not any(n.startswith(b) for n in CLAIMS))
    found = command.chosen([bound], judged := {})
    assert {c.name for c in found} <= judged.keys()  # none is checked again
    assert {c.name for c in found} == {n for n, b in asked.items() if bound in b and n.startswith(bound.split(".")[0])}


def test_a_claim_of_ones_own_and_its_report(own, tmp_path, run):
    folder = tmp_path / "new" / "report"
    status, out, _ = run("check", f"{own}:right", "--report", folder)
    assert (status, "HOLDS" in out, "wrote" in out) == (0, True, True)
    assert sorted(p.name for p in folder.iterdir()) == ["REPORT.md", "report.json", "reports"]
    assert names((folder / "report.json").read_text(encoding="utf-8")) == ["mine.square"]
    assert "# mine" in (folder / "reports/mine.md").read_text(encoding="utf-8")
    status, out, _ = run("check", f"{own}:wrong")
    assert (status, "mine.square: HOLDS, audited FAILS" in out) == (1, True)


@cases("workers", [1, 2])
def test_what_a_check_of_ones_own_raises_or_prints_stays_its_own(workers, own, capfd):
    assert fedbounds.main(["check", f"{own}:stopping", f"{own}:talking", "--json", f"--workers={workers}"]) == 1
    out, err = capfd.readouterr()
    broke, held = json.loads(out)
    assert "Stop: enough" in broke["evidence"]
    assert held["verdict"] == "HOLDS"
    assert err == "thinking\n"
    assert fedbounds.main(["check", f"{own}:stopping", f"{own}:lacking", f"--workers={workers}"]) == 2
    assert '"fedbounds[exact]"' in capfd.readouterr().err  # a part of this project is missing: no verdict counts


def test_the_committed_report_is_renewed_whole_and_in_a_checkout_only(few, committed):
    with pytest.raises(ClaimError, match="installed"):
        command.check(renew=True)
    (committed.parents[1] / "pyproject.toml").touch()
    for names, options in ((["decaying_k.eq_24"], {}), ([], {"paper": "fedals"})):
        with pytest.raises(ClaimError, match="--renew"):
            command.check(*names, **options, renew=True)
    assert not committed.exists()
    assert command.check(renew=True).status == 0
    whole = committed.read_text(encoding="utf-8")
    assert "# The audit" in whole
    written = [str(p.relative_to(committed.parent)) for p in committed.parent.rglob("*.*")]
    assert sorted(written) == ["REPORT.md", "reports/fedals.md", "reports/fedcog.md"]
    with pytest.raises(ClaimError, match="--renew"):
        command.check(next(iter(few)), report=committed.parent)
    assert committed.read_text(encoding="utf-8") == whole


def test_an_interrupted_audit_shows_what_was_reached(few, run, monkeypatch, tmp_path):
    reached = []

    def stops(self):
        if reached:
            raise KeyboardInterrupt
        reached.append(self)

    monkeypatch.setattr("empirics.progress.Silent.step", stops)
    status, out, err = run("check", "--workers", "1", "--report", tmp_path / "r")
    assert (status, "2 claims: " in out, f"2 of {len(few)} claims" in err) == (130, True, True)
    assert not (tmp_path / "r").exists()


@cases(
    "words said",
    [
        (["fedals.theorem_9_9"], "fedals.theorem_9_9"),
        (["--paper", "fedsgd"], "fedsgd"),
        (["--workers", "0"], "from 1 to 1024; got"),
        (["fedals.one_round", "--report", ""], "--report"),
        (["{folder}/bad.py:claim"], "no_such_module"),
        (["{folder}/dotted.py:claim"], "without the dot"),
        (["{folder}/own.py:no_claim"], "int"),
        (["{folder}/own.py:rihgt"], "'right'"),
        (["{folder}/own.py:wrong", "{folder}/own.py:right", "--json"], "'mine.square'"),
        (["{folder}/own.py:right", "--report", "{folder}/taken"], "taken"),
    ],
)
def test_mistakes_are_one_line_and_status_2_before_anything_runs(words, said, own, refused, monkeypatch):
    (own.parent / "bad.py").write_text("import no_such_module\n", encoding="utf-8")
    (own.parent / "dotted.py").write_text("from .mine import right\n", encoding="utf-8")
    (own.parent / "taken").write_text("a file", encoding="utf-8")
    monkeypatch.setattr(command, "audit", lambda *arguments: pytest.fail("it ran"))
    assert said in refused("check", *(word.format(folder=own.parent) for word in words))


# ---- a paper's page as committed, that of a file of one's paper_file, and the erratum ----

PAPER = """
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
def paper_file(tmp_path):
    path = tmp_path / "my_paper.py"
    path.write_text(PAPER, encoding="utf-8")
    return path


def test_the_page_of_a_paper_is_what_is_committed_up_to_the_list_of_claims(tmp_path, monkeypatch, run):
    pages = tmp_path / "reports"
    pages.mkdir()
    (pages / "fedcog.md").write_text("# FedCOG\n\nLook at [a.b](#ab).\n\n## All claims\n\nmany\n", encoding="utf-8")
    monkeypatch.setattr(summary, "COMMITTED", tmp_path / "REPORT.md")
    status, out, _ = run("check", "--summary", "fedcog")
    assert status == 0
    assert out.startswith("# FedCOG\n\nLook at a.b.\n\nAs committed;")
    assert "many" not in out


def test_a_file_of_ones_own_is_judged_and_gets_its_page_or_is_shown_claim_by_claim(paper_file, run):
    status, out, _ = run("check", "--summary", paper_file, "--workers", "1")
    assert status == 0
    assert "`mine.square` (HOLDS)" in out
    assert "| Theorem 2 | REPAIRED, slip |" in out
    assert "1. **slip** mine.lost: Half is lost." in out
    paper_file.write_text(PAPER.partition("review = ")[0], encoding="utf-8")
    status, out, _ = run("check", "--summary", paper_file, "--workers", "1")
    assert (status, "#### mine.lost" in out, "#### mine.square" in out) == (0, True, True)
    paper_file.write_text(PAPER.replace("Same(K**2, K * K)", "Same(K**2, 3 * K)"), encoding="utf-8")
    status, _, err = run("check", "--summary", paper_file, "--workers", "1")
    assert (status, "mine.square" in err) == (1, True)
    assert run("check", "--summary", "nowhere.py")[0] == 2
    with pytest.raises(UnknownNameError, match="fedcog"):
        fedbounds.check("fedcogs", summary=True)


def test_an_erratum_has_the_printed_formula_its_fault_and_the_corrected_one(tmp_path, monkeypatch, run):
    names = ("eq_24", "corollary_2_1_cap", "theorem_2", "corollary_2_1")
    chosen = {f"decaying_k.{n}": CLAIMS[f"decaying_k.{n}"] for n in names} | {"fedcog.eq_6": CLAIMS["fedcog.eq_6"]}
    monkeypatch.setattr("paper_checks.audit.running.CLAIMS", chosen)
    file = tmp_path / "erratum.tex"
    status, out, _ = run("check", "decaying_k", "--erratum", "-o", file, "--workers", "1")
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
    assert "every client's loss is smooth" in corrected, "words stay words"


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
def test_what_a_file_declares_wrongly_is_one_line(paper_file, refused, tmp_path, verb, wrong):
    old, new, said = wrong
    paper_file.write_text(PAPER.replace(old, new), encoding="utf-8")
    more = [verb, str(tmp_path / "report")] if verb == "--report" else [verb]
    assert said in refused("check", paper_file, "--workers", "1", *more)


CORRECTED = [("THEOREM", "", 1), ("ASSUMPTION", "", 1), ("ALGORITHM", "", 1), ("DEFINITION", "", 1), ("TABLE", "", 0),
             ("REMARK", "", 0), ("THEOREM", ", ours=True", 0)]  # fmt: skip


@cases("kind ours corrections", CORRECTED)
def test_a_correction_in_words_is_in_the_erratum_if_a_reader_builds_upon_it(paper_file, run, kind, ours, corrections):
    declared = PAPER.replace(', "decaying_k.eta_star"))', f"){ours})").replace("Kind.THEOREM", f"Kind.{kind}")
    assert declared.count("eta_star") == 0
    paper_file.write_text(declared)
    status, out, _ = run("check", paper_file, "--erratum", "--workers", "1")
    assert (status, out.count(r"\subsection*"), out.count(r"\emph{Corrected.} Twice.")) == (0, corrections, corrections)


@cases("words ending", [(["check", "{}", "--summary", "-o"], ".md"), (["check", "{}", "--erratum", "-o"], ".tex")])
def test_a_report_does_not_take_the_place_of_the_file_it_is_about(paper_file, capsys, monkeypatch, words, ending):
    monkeypatch.setattr(summary, "audit", lambda *_: pytest.fail("refused after the work"))
    words, link = [word.format(paper_file) for word in words], paper_file.with_suffix(ending)
    link.symlink_to(paper_file)
    assert fedbounds.main([*words, str(link)]) == 2
    assert str(paper_file) in capsys.readouterr().err
    assert fedbounds.main([*words, str(paper_file)]) == 2
    assert str(paper_file.with_suffix(ending)) in capsys.readouterr().err
    link.unlink()
    assert paper_file.read_text(encoding="utf-8") == PAPER


def test_a_report_made_again_keeps_no_page_of_before(paper_file, tmp_path, capsys):
    again = ["check", str(paper_file), "--workers", "1", "--report", str(tmp_path / "report")]
    assert fedbounds.main(again) == 0
    assert (tmp_path / "report/reports/mine.md").exists()
    mended = PAPER.replace("mine.", "ours.").replace("defect=Defect.SLIP, ", "")
    paper_file.write_text(mended.replace("2 * eta), Status.FAILS", "eta), Status.HOLDS"), encoding="utf-8")
    assert fedbounds.main(again) == 0
    assert [path.name for path in (tmp_path / "report/reports").iterdir()] == ["ours.md"]
