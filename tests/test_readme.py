"""The README does what it says: sessions run as printed, what it counts is so, its commands and links exist."""

import re
import shutil
from pathlib import Path

import pytest
from sessions import blocks, commands, python_differences, run_session, shell_differences

from bounds import PAPERS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_the_sessions_run_as_printed(folder):
    assert {command.split()[1] for block in blocks(README, "console") for command, _ in commands(block)} == {
        "eval", "validate", "tightness", "minimize",
    }  # fmt: skip
    different = shell_differences(README, folder)
    assert not different, "\n".join(different)


def test_a_session_that_differs_would_be_seen(folder):
    page = "```console\n$ echo one \\\n    two\none three\n$ echo four\nfour\n```\n"
    assert shell_differences(page, folder) == ["$ echo one \\\n    two\none two\n"]
    report, examples = python_differences("```pycon\n>>> 1 + 1\n3\n```\n", "page")
    assert examples == 1
    assert "Expected:\n    3\nGot:\n    2" in report


def test_commands_of_make_and_links_exist():
    first = re.findall(r"^make (\w+)", blocks(README, "sh")[0], flags=re.MULTILINE)
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert first == ["demo", "test", "proofs", "figures", "docs"]
    assert set(first) <= set(targets)
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
    papers, ours = (dict(zip(header, row.split(" | "), strict=True)) for row in rows)
    claims, opened = int(papers["claims"]), int(papers["OPEN"])
    plain = " ".join(README.split())
    assert f"audits {claims} of their sentences by machine: {claims - opened} are decided, {opened} are open" in plain
    assert f"{ours['claims']} cross-checks of our own" in plain


def test_the_papers_of_its_table_and_those_to_cite_are_those_of_the_library():
    table = re.findall(r"^\| `(\w+)` \| [^:]+: (.*) \(\[arXiv ([\d.]+)\]", README, flags=re.MULTILINE)
    alone = [(key, paper.title) for key, paper in PAPERS.items() if not paper.works]
    assert [(key, title) for key, title, _ in table] == alone
    assert all(f"arXiv {number}" in PAPERS[key].read for key, _, number in table)
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    references = cited.split("references:")[1].split("- type: article")[1:]
    papers = [work for paper in PAPERS.values() for work in paper.works or (paper,)]
    assert len(references) == len(papers)
    for paper, reference in zip(papers, references, strict=True):
        names = re.findall(r'given-names: "(.*)"\n\s+family-names: "(.*)"', reference)
        assert re.search(r'title: "(.*)"', reference)[1] == paper.title
        assert [" ".join(name) for name in names] == [name for name in paper.authors if name != "others"]
        assert f"year: {paper.year}\n" in reference
