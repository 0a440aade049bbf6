"""The README does what it says: sessions run as printed, the example is the file, both commands exist."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bounds import PAPERS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHECKER = doctest.OutputChecker()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def commands(block):
    """The commands of a shell session (those that go on over lines joined) and what is printed under each."""
    parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def run_session(typed, folder):
    """What each command prints, output and errors together, all typed into one shell."""
    marker = "----- next -----"
    script = "".join(f"{command}\nstatus=$?; echo '{marker}'; (exit $status)\n" for command in typed)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        check=False,
    )
    return done.stdout.split(f"{marker}\n")[:-1]


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_the_python_session_runs_as_printed():
    session = "\n".join(blocks("pycon"))
    test = doctest.DocTestParser().get_doctest(session, {}, "README", "README.md", 0)
    assert len(test.examples) > 10
    report = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert not report, "".join(report)


def test_the_shell_session_runs_as_printed(folder):
    session = [pair for block in blocks("console") for pair in commands(block)]
    assert len(session) > 6
    printed = run_session([command for command, _ in session], folder)
    for (command, expected), shown in zip(session, printed, strict=True):
        assert CHECKER.check_output(expected, shown, doctest.ELLIPSIS), f"$ {command}\n{shown}"
    assert (folder / "gap.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_a_session_that_differs_would_be_seen(folder):
    ((command, expected),) = commands("$ echo one \\\n    two\none three\n")
    (shown,) = run_session([command], folder)
    assert shown == "one two\n"
    assert not CHECKER.check_output(expected, shown, doctest.ELLIPSIS)


@pytest.mark.parametrize("name", ["my_bound.py", "my_algorithm.py"])
def test_the_example_is_the_file_itself(name):
    assert (ROOT / "examples" / name).read_text(encoding="utf-8") in blocks("python")


def test_the_two_commands_come_first_and_exist():
    first = re.findall(r"^make (\w+)", blocks("sh")[0], flags=re.MULTILINE)
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert first == ["demo", "test"] == targets
    assert README.index("```sh") < min(README.index(f"```{other}") for other in ("pycon", "console", "python"))


@pytest.mark.slow
def test_the_demo_says_what_the_readme_quotes(folder):
    command = re.search(r"demo:.*\n\t\S+/(fedbounds .*)\n", (ROOT / "Makefile").read_text(encoding="utf-8"))[1]
    (shown,) = run_session([command], folder)
    (quoted,) = blocks("text")
    plain = " ".join(shown.split())
    for part in quoted.split("..."):
        assert " ".join(part.split()) in plain


def test_links_lead_to_files():
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in t]
    assert len(targets) > 3
    assert not [target for target in targets if not (ROOT / target).exists()]


def test_the_papers_to_cite_are_those_of_the_library():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    references = cited.split("references:")[1].split("- type: article")[1:]
    assert len(references) == len(PAPERS)
    for paper, reference in zip(PAPERS.values(), references, strict=True):
        names = re.findall(r'given-names: "(.*)"\n\s+family-names: "(.*)"', reference)
        assert re.search(r'title: "(.*)"', reference)[1] == paper.title
        assert [" ".join(name) for name in names] == list(paper.authors)
        assert f"year: {paper.year}\n" in reference
