"""The documentation: pages do what they say, the reference is complete, nothing is loaded from elsewhere."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from sessions import blocks, loaded, python_differences, run_session, shell_differences

import bounds
import fedbounds
from bounds import BOUNDS, PAPERS
from bounds.showing.cards import as_json
from bounds.showing.verb_table import VERBS
from docs.making import facts, notebook, offline, reference, text
from empirics.algorithms import ALGORITHMS
from fedbounds import main
from figures.catalogue import NAMES
from paper_checks.audit.running import CLAIMS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if path.relative_to(DOCS).parts[0] not in ("reference", "_build")
}
"""The pages written by hand."""
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The reference as a folder."""
    folder = tmp_path_factory.mktemp("reference")
    reference.write(folder)
    return folder


AS_TYPED = ("how-to/cluster.md", "how-to/scripts.md")
"""Pages whose every command starts its own Python: statuses, and work that other processes take over."""


@pytest.fixture(scope="module")
def forks():
    """Where ``fedbounds`` is a fork of a process that has loaded everything; an address must be short."""
    with TemporaryDirectory() as short, loaded(Path(short)) as ahead:
        yield ahead


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a reader types: the examples are there, and nothing else."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FEDBOUNDS_STORE", raising=False)
    return tmp_path


def single(folder, part):
    """The titles of the pages of a part of the reference that are about one thing each."""
    pages = [path for path in sorted((folder / part).rglob("*.md")) if path.read_text("utf-8").startswith("---")]
    return [re.search(r"^# (.*)$", path.read_text("utf-8"), flags=re.MULTILINE)[1] for path in pages]


@pytest.mark.parametrize("name", [n for n, words in PAGES.items() if blocks(words, "pycon")])
def test_python_sessions_run_as_printed(name, folder):
    report, examples = python_differences(PAGES[name], name)
    assert examples > 1
    assert not report, report


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README", *(n for n, words in PAGES.items() if blocks(words, "console"))])
def test_shell_sessions_run_as_printed(name, folder, forks):
    different = shell_differences((PAGES | {"README": README})[name], folder, None if name in AS_TYPED else forks)
    assert not different, "\n".join(different)


def test_every_verb_is_explained():
    for verb in VERBS:
        assert any(re.search(rf"fedbounds {verb}\b", words) for words in PAGES.values()), verb


def test_every_bound_claim_algorithm_figure_and_verb_is_in_the_reference(written):
    assert sorted(single(written, "bounds")) == sorted(BOUNDS)
    claims = [
        h for path in (written / "claims").glob("*/*.md") for h in re.findall(r"^## (.*)$", path.read_text(), re.M)
    ]
    assert sorted(claims) == sorted(CLAIMS)
    assert sorted(single(written, "algorithms")) == sorted(ALGORITHMS)
    assert sorted(single(written, "figures")) == sorted(NAMES)
    assert sorted(single(written, "command")) == sorted(f"fedbounds {verb}" for verb in VERBS)


def test_a_card_says_what_the_bound_says_and_its_lines_compute_it(written):
    card = (written / "bounds" / "fedals" / "one_round.md").read_text(encoding="utf-8")
    bound = BOUNDS["fedals.one_round"]
    folding = card.partition("$$\n")[2].partition("\n$$")[0].split(text.BREAK)
    assert len(folding) == 1 + len(bound.terms)
    assert " ".join(part.removeprefix("{} ") for part in folding) == as_json(bound)["latex"]
    assert [name for name in bound.terms if f"- **{name}**: `" in card] == list(bound.terms)
    assert all(text.plain(c.words) in card for c in bound.conditions)
    assert all(f"| `{q.name}` |" in card for q in bound.quantities)
    link = "[fedals.theorem_4_1](../../claims/fedals/one_round.md#fedalstheorem_4_1)"
    assert f"- **HOLDS, proved** {link}: {CLAIMS['fedals.theorem_4_1'].words}" in card
    assert "(../../figures/ours/theorems_fedals.md)" in card
    assert bound.source.paper in card.partition("```bibtex")[2]
    names = {}
    setup, _, call = blocks(card, "python")[0].strip().rpartition("\n\n")[2].partition("\n")
    exec(f"from bounds import BOUNDS\n{setup}\nvalue = {call}", names)
    eval_ = next(line for line in blocks(card, "sh")[0].splitlines() if line.startswith("fedbounds eval "))
    with redirect_stdout(io.StringIO()) as printed:
        assert main(eval_.split()[1:]) == 0
    assert f"{names['value']:.6g}" in printed.getvalue()


def test_every_public_name_of_python_has_a_page_and_a_word(written):
    index = (written / "python" / "index.md").read_text(encoding="utf-8")
    for name in {*dir(fedbounds), *fedbounds.OBJECTS, *bounds.__all__}:
        assert re.search(rf"\| (\[{name}\]\({name}\.md\)|`{name}`) \| [^|]{{15,}} \|", index), name
    assert sorted(single(written, "python")) == sorted(
        {*dir(fedbounds), *fedbounds.OBJECTS, *bounds.__all__} - {*facts.CATALOGUES}
    )
    page = (written / "python" / "Condition.md").read_text(encoding="utf-8")
    assert "fedbounds.Condition(words, relation=None, assumption=None, sides=None)" in page


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_offline(tmp_path):
    source, built = tmp_path / "docs", tmp_path / "html"
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("_build", "reference", "__pycache__"))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    verifier = Path("paper_checks/worst_case/verify.py")  # a page quotes it
    (tmp_path / verifier).parent.mkdir(parents=True)
    shutil.copy(ROOT / verifier, tmp_path / verifier)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(built)]
    # from the project, so that its modules are those that the site is written from
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    assert not offline.loads(built)
    pages = [p for p in source.rglob("*.md") if not {"parts", "sessions"} & {*p.parts}]  # what pages include
    assert all((built / p.relative_to(source)).with_suffix(".html").exists() for p in pages)
    page = (built / "reference" / "bounds" / "fedcog" / "theorem.html").read_text(encoding="utf-8")
    assert page.count('<math displaystyle="true">') == 1 + len(BOUNDS["fedcog.theorem"].terms)
    index = (built / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    entries, docs = index["indexentries"], index["docnames"]
    main = {word: [docs[page] for page, _, is_main in found if is_main] for word, found in entries.items()}
    assert main["best k"] == ["reference/best"]
    assert main["non-convex"] == ["reference/which"]
    assert {docs[page] for page, _, _ in entries["best k"]} > {"reference/bounds/decaying_k/k_star"}
    assert (built / "_static" / "explorer.html").stat().st_size > 0


@pytest.fixture
def kept():
    """The notebook as it is kept."""
    return nbformat.read(notebook.PLACE, as_version=4)


@pytest.mark.slow
def test_the_notebook_runs_and_says_what_is_kept(kept):
    assert not list(notebook.differences(kept, notebook.executed(kept)))
    told = "\n".join(cell.source for cell in kept.cells)
    for paper in (key for key, paper in PAPERS.items() if not paper.works):
        assert all(f"{verb}{paper}." in told for verb in ('BOUNDS["', 'validate("', "check "))


def test_the_notebook_is_kept_with_its_outputs_and_without_places_or_times(kept):
    text = notebook.PLACE.read_text(encoding="utf-8")
    assert len(text) < 500_000
    assert not re.search(r'"(?:/home|/tmp|/root)/|iopub|\\d seconds|"output_type": "error"', text)
    for cell in kept.cells:
        if cell.cell_type == "code" and notebook.BARE not in cell.metadata.get("tags", ()):
            quiet = cell.source.startswith("import os") or "def run" in cell.source
            assert bool(cell.outputs) != quiet, cell.source
    shown = {kind for cell in kept.cells for output in cell.get("outputs", ()) for kind in output.get("data", ())}
    assert {"image/png", "text/html", "text/latex"} <= shown


def test_commands_of_make_and_links_exist():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = {name: [t for block in blocks(words, "sh") for t in re.findall(r"^make (\w+)", block, re.MULTILINE)]
             for name, words in {**PAGES, "README": README}.items()}  # fmt: skip
    assert named["README"] == ["demo", "test", "proofs", "figures", "docs"]
    assert sum(map(len, named.values())) > len(named["README"])
    assert {target for found in named.values() for target in found} <= set(targets)
    assert README.index("```sh") < README.index("```console")
    links = [t for t in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in t]
    assert len(links) > 3
    assert not [link for link in links if not (ROOT / link).exists()]


@pytest.mark.slow
def test_the_demo_says_what_the_readme_quotes(folder):
    command = re.search(r"demo:.*\n\t\S+/(fedbounds .*)\n", (ROOT / "Makefile").read_text(encoding="utf-8"))[1]
    (shown,) = run_session([command], folder)
    (quoted,) = blocks(README, "text")
    plain = " ".join(shown.split())
    for part in quoted.split("..."):
        assert " ".join(part.split()) in plain


def test_what_it_counts_is_what_the_audit_counts():
    report = (ROOT / "paper_checks" / "REPORT.md").read_text(encoding="utf-8")
    header = re.search(r"^\| (paper \| sentences \| .*) \|$", report, flags=re.MULTILINE)[1].split(" | ")
    rows = re.findall(r"^\| (all \| .*) \|$", report, flags=re.MULTILINE)
    papers, _ours = (dict(zip(header, row.split(" | "), strict=True)) for row in rows)
    claims, opened = int(papers["claims"]), int(papers["OPEN"])
    plain = " ".join(README.split())
    audited = f"audits {claims} of the papers' sentences by machine: {claims - opened} are decided, {opened} are open"
    assert audited in plain


def test_the_papers_of_its_table_and_those_to_cite_are_those_of_the_library():
    table = re.findall(r"^\| `(\w+)` \| [^:]+: (.*) \(\[arXiv ([\d.]+)\]", README, flags=re.MULTILINE)
    alone = [(key, paper.title) for key, paper in PAPERS.items() if not paper.works]
    assert [(key, title) for key, title, _ in table] == alone
    assert all(f"arXiv {number}" in PAPERS[key].read for key, _, number in table)
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    references = cited.split("references:")[1].split("- type: article")[1:]
    papers = [work for paper in PAPERS.values() for work in paper.works or (paper,)]
    assert len(references) == len(papers)
    for paper, work in zip(papers, references, strict=True):
        names = re.findall(r'given-names: "(.*)"\n\s+family-names: "(.*)"', work)
        assert re.search(r'title: "(.*)"', work)[1] == paper.title
        assert [" ".join(name) for name in names] == [name for name in paper.authors if name != "others"]
        assert f"year: {paper.year}\n" in work
