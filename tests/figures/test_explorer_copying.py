"""What the explorer copies: LaTeX, Python, a shell command, a link; with and without a clipboard."""

import re
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from explorer_browser import by_python, by_shell, focused, press

from bounds import BOUNDS, Source
from bounds.showing.printing import escaped
from fedbounds import explore
from figures.explorer.command import entries
from figures.explorer.page import page as made

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.mark.parametrize("kind", ["latex", "python", "shell", "link"])
def test_copying(kind, page):
    page.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
    page.find(f"[data-copy={kind}]").click()
    time.sleep(0.2)
    assert page.text("#copied") == f"{kind} copied"
    assert page.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])") == page.js(
        f"return explorer.texts.{kind}()"
    )


def test_copying_without_a_clipboard(page):
    page.js("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    page.find("[data-copy=latex]").click()
    time.sleep(0.2)
    assert page.text("#copied") == "latex copied"
    page.js("document.execCommand = () => false")
    page.find("[data-copy=latex]").click()
    time.sleep(0.2)
    assert "press Ctrl+C" in page.text("#copied")
    assert BOUNDS["fedals.one_round"].latex() in page.find("#manual").get_property("value").splitlines()[1]


def test_conditions_are_copied_with_the_formula(page):
    page.choose("bound", "fedcog.theorem")
    bound = BOUNDS["fedcog.theorem"]
    first, formula, *conditions, last = page.js("return explorer.texts.latex()").splitlines()
    assert (first, formula, last) == (r"\begin{gathered}", rf"{bound.latex()} \\", r"\end{gathered}")
    assert all(line.startswith(r"\text{if } ") for line in conditions)
    assert conditions[0] == r"\text{if } 2 \tau L \eta \leq 1 \\"
    assert not conditions[-1].endswith(r"\\")
    for words in (c.words for c in bound.conditions if c.kind != "numeric"):
        assert any(escaped(words) in line for line in conditions)
        assert f"# if {words}\n" in page.js("return explorer.texts.python()")


@pytest.mark.parametrize("name", BOUNDS)
def test_what_is_copied_gives_the_value_of_the_page(name, used, capsys):
    used.choose("bound", name)
    value = pytest.approx(used.js("return explorer.value()"), rel=1e-9)
    assert by_python(used, capsys) == value
    assert np.ravel(by_shell(used, capsys))[0] == value


def test_the_copied_code_runs_on_its_own(page):
    said = page.js("return explorer.texts.python()")
    python = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True).stdout
    assert float(python) == pytest.approx(page.js("return explorer.value()"))


def test_a_shell_takes_the_copied_command_word_by_word(page, tmp_path):
    page.choose("bound", "decaying_k.theorem_1_appendix")
    said = page.js("return explorer.texts.shell()")
    words = shlex.split(said)
    for word in words:
        (tmp_path / re.sub(r"\[.*\]", "1", word)).touch()
    shown = f"fedbounds() {{ printf '%s\\n' \"$@\"; }}\n{said}"
    run = subprocess.run(["bash", "-c", shown], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == words[1:]


def test_what_a_bound_is_fixed_at_is_copied_too(shared, tmp_path, capsys):
    fixed = BOUNDS["fedals.one_round"].fix(smoothness=2.5, client_weight=[0.5, 0.3, 0.2])
    mine = replace(BOUNDS["fedals.one_round"], name="mine.other", source=Source("my notes", "Lemma 1"))
    explore(fixed, mine).save(tmp_path / "page.html")
    shared.open(tmp_path / "page.html")
    value = pytest.approx(shared.js("return explorer.value()"))
    assert by_python(shared, capsys) == value
    assert by_shell(shared, capsys) == value
    assert not any(shared.js("return [...document.getElementById('x').options].map((o) => o.value === 'clients')"))
    shared.choose("bound", "mine.other")
    assert shared.find("[data-copy=shell]").get_property("hidden"), "no command line knows this bound"
    assert "explore was given" in shared.js("return explorer.texts.python()")


def test_where_the_clipboard_is_refused_the_text_is_copied_all_the_same_and_the_focus_stays(page):
    permission = {"permission": {"name": "clipboard-write"}, "setting": "denied"}
    page.driver.execute_cdp_cmd("Browser.setPermission", permission)
    try:
        page.js("document.querySelector('[data-copy=shell]').focus()")
        press(page, "ENTER")
        time.sleep(0.2)
        assert page.text("#copied") == "shell copied"
        assert focused(page) == "shell"
        page.js("document.getElementById('search').focus()")
        page.find("#search").send_keys("\ue009v")  # Ctrl+V
        assert page.find("#search").get_property("value") == page.js("return explorer.texts.shell()")
    finally:
        page.driver.execute_cdp_cmd("Browser.resetPermissions", {})


def test_a_bound_out_of_a_file_goes_around_and_is_copied(shared, tmp_path, capsys, monkeypatch):
    name = "examples/my_bound.py:my_bound"
    monkeypatch.chdir(Path(__file__).parents[2])
    (tmp_path / "page.html").write_text(made(entries(["fedals.one_round", name])), encoding="utf-8")
    shared.open(tmp_path / "page.html")
    shared.choose("bound", name)
    shared.choose("q-kept", "0.3", "input")
    before = shared.state()
    shared.around(tmp_path / "page.html")
    assert shared.state() == before
    assert shared.find("#notice").get_property("hidden")
    assert shared.js("return [...document.querySelectorAll('#bound optgroup')].map((g) => g.label)")[1] == "your own"
    value = pytest.approx(shared.js("return explorer.value()"))
    assert by_python(shared, capsys) == value
    assert by_shell(shared, capsys) == value
    assert not shared.complaints()
