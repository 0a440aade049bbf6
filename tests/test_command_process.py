"""The ``fedbounds`` command as a process: what it loads, closed and broken streams, interrupts, bugs."""

import json
import os
import platform
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import fedbounds
from bounds.errors import BoundsError

ROOT = Path(__file__).parents[1]


def elsewhere(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "fedbounds", *words], capture_output=True, text=True, check=False, cwd=ROOT, **options
    )


def test_a_reader_who_stops_early_is_no_error():
    shell = f"set -o pipefail; '{sys.executable}' -u -m fedbounds list | head -n 1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("fedals.")


LONG_TABLE = """
import sys
from rich.console import Console
from bounds.showing.process import guarded
console = Console()
sys.exit(guarded(lambda: [console.print(i) for i in range(30000)], alone=True))
"""
STEERING = """
import sys, time
from bounds.errors import BoundsError
from bounds.showing.process import guarded
from bounds.showing.terminal import print_lines
from empirics.progress import progress
wipe = chr(27) + "[2J" + chr(155) + "3J" + chr(13)
def run():
    print(wipe)
    print_lines(["HOLDS  " + wipe])
    with progress("of " + wipe) as bar:
        bar.start(2)
        bar.doing(wipe)
        time.sleep(0.3)
    raise BoundsError("<" + wipe + ">")
sys.exit(guarded(run, alone=True))
"""


def test_a_reader_who_leaves_before_the_end_of_a_table_is_no_error():
    """Rich notices the closed pipe itself, and exits."""
    shell = f"set -o pipefail; '{sys.executable}' - | head -n 2"
    done = subprocess.run(["bash", "-c", shell], input=LONG_TABLE, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n1\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_what_steers_a_terminal_is_spelled_out_on_it_and_colours_stay():
    import pty

    reader, terminal = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    for name in ("NO_COLOR", "FEDBOUNDS_PROGRESS"):
        env.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-c", STEERING], stdin=terminal, stdout=terminal, stderr=terminal, cwd=ROOT, env=env
    )
    os.close(terminal)
    heard = b""
    while True:
        try:
            part = os.read(reader, 4096)
        except OSError:  # the other end has been closed
            break
        if not part:
            break
        heard += part
    os.close(reader)
    assert process.wait(60) == 2
    text = heard.decode().replace("\r\n", "\n")
    assert "\x1b[2J" not in text
    assert "\x9b" not in text
    spelled = r"\x1b[2J\x9b3J\r"
    assert text.startswith(f"{spelled}\n")
    assert f"HOLDS\x1b[0m  {spelled}\n" in text
    assert f"of {spelled}: {spelled}" in text
    assert r"fedbounds: <\x1b[2J\x9b3J" in text
    assert "\x1b[32mHOLDS" in text


def test_what_steers_a_terminal_is_spelled_out_in_a_pipe_that_may_end_on_one():
    """All that goes to standard error, and lines for people on standard output; what programs read there stays."""
    done = subprocess.run([sys.executable, "-c", STEERING], capture_output=True, text=True, cwd=ROOT)
    spelled = r"\x1b[2J\x9b3J\r"
    assert done.stderr == "fedbounds: <" + spelled.replace(r"\r", " ") + ">\n"
    assert done.stdout.endswith(f"HOLDS  {spelled}\n")
    assert done.stdout.startswith("\x1b[2J")
    noisy = STEERING.replace("time.sleep(0.3)", "time.sleep(1.2); print(wipe, file=sys.stderr)")
    env = {name: value for name, value in os.environ.items() if name != "FEDBOUNDS_PROGRESS"}
    done = subprocess.run([sys.executable, "-c", noisy], capture_output=True, text=True, cwd=ROOT, env=env)
    assert done.stderr.split("\n")[:2] == [f"fedbounds: of {spelled}: 0 of 2 done, {spelled}", spelled]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_the_caller_has_closed_are_no_error(closed):
    shell = f"'{sys.executable}' -m fedbounds eval fedcog.disagreement_upper temperature=-1 {closed}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_importing_from_the_command_loads_no_library():
    code = "import sys; from fedbounds import main; print('bounds' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(("given", "stays"), [("", True), ("sys.argv[1:]", False)], ids=["command", "call"])
@pytest.mark.parametrize("words", ["show fedals.one_round", "train --problem softmax(digits) --clients 3 --rounds 1"])
def test_a_process_of_its_own_looks_for_no_garbage_among_what_it_has_loaded(words, given, stays):
    code = f"import gc, sys, fedbounds; fedbounds.main({given}); print(gc.isenabled(), gc.get_freeze_count() > 50_000)"
    done = subprocess.run([sys.executable, "-c", code, *words.split()], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == f"True {stays}"


# ---- bugs of ours ----


class UnspeakableError(Exception):
    def __str__(self):
        raise ValueError("no words")


def deep(n=0):
    return deep(n + 1)


@pytest.fixture
def raising(run, monkeypatch):
    """Run a verb that raises this."""

    def command(error):
        def broken(args):
            raise error

        monkeypatch.setitem(fedbounds.VERBS, "list", broken)
        return run("list")

    return command


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("a bug\nin two lines"), "RuntimeError: a bug in two lines"),
        (KeyError("seed"), "KeyError: 'seed'"),
        (AssertionError(), "AssertionError"),
        (UnspeakableError(), "UnspeakableError"),
        (GeneratorExit(), "GeneratorExit"),
        (SystemExit(1), "SystemExit: 1"),
        (ExceptionGroup("two", [ValueError("x"), TypeError("y")]), "ExceptionGroup: two (2 sub-exceptions)"),
        (ModuleNotFoundError("No module named 'bounds.gone'", name="bounds.gone"), "No module named 'bounds.gone'"),
        (RuntimeError("x" * 9999), "RuntimeError: " + "x" * 300),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_bug_is_one_line_that_says_where_and_status_70(raising, error, said):
    status, out, err = raising(error)
    assert (status, out, err.count("\n")) == (70, "", 1)
    assert err.startswith("fedbounds: this is a bug in fedbounds, please report: ")
    assert said in err
    assert re.search(r" \(fedbounds\.py:\d+\); FEDBOUNDS_TRACEBACK=1 shows the traceback\n$", err)
    assert len(err) < 700


def test_an_error_that_comes_of_ctrl_c_is_no_bug(run, monkeypatch):
    def half_loaded(args):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ImportError("cannot load an extension module") from None

    monkeypatch.setitem(fedbounds.VERBS, "list", half_loaded)
    assert run("list") == (130, "", "fedbounds: interrupted\n")


def test_endless_recursion_is_a_bug_like_any_other(run, monkeypatch):
    monkeypatch.setitem(fedbounds.VERBS, "list", lambda args: deep())
    status, _, err = run("list")
    assert (status, err.count("\n")) == (70, 1)
    assert "RecursionError: maximum recursion depth exceeded" in err


def test_the_traceback_of_a_bug_is_shown_on_demand(raising, monkeypatch):
    monkeypatch.setenv("FEDBOUNDS_TRACEBACK", "1")
    status, _, err = raising(RuntimeError("a bug"))
    assert status == 70
    assert err.startswith("Traceback (most recent call last):\n")
    assert "in broken\n" in err
    assert err.splitlines()[-1].startswith("fedbounds: this is a bug in fedbounds")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 74.5 GiB for an array"),
        MemoryError(),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    ],
    ids=["numpy", "python", "torch"],
)
def test_no_memory_left_is_one_line_that_says_what_to_do(raising, error):
    status, out, err = raising(error)
    assert (status, out, err.count("\n")) == (70, "", 1)
    assert err.startswith("fedbounds: out of memory")
    assert "ask for less: fewer points of a sweep, clients, samples or workers" in err
    assert "bug" not in err


def test_a_package_that_is_not_installed_is_named(raising):
    said = "fedbounds: this needs the package torch, which is not installed: pip install torch\n"
    assert raising(ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")) == (2, "", said)


def test_a_broken_pipe_that_is_not_standard_output_is_no_success(raising):
    status, _, err = raising(BrokenPipeError(32, "Broken pipe"))
    assert (status, err) == (2, "fedbounds: standard output or a file being written: Broken pipe\n")


def test_a_warning_is_one_line(run, monkeypatch):
    def warned(args):
        warnings.warn("odd\nnumbers", stacklevel=1)
        return 0

    monkeypatch.setitem(fedbounds.VERBS, "list", warned)
    assert run("list") == (0, "", "fedbounds: odd numbers\n")


def test_a_warning_that_a_filter_made_an_error_is_no_bug(raising):
    said = "fedbounds: UserWarning: odd (a warning that a filter made an error)\n"
    assert raising(UserWarning("odd")) == (2, "", said)


def test_a_way_to_draw_that_matplotlib_does_not_know_is_no_bug():
    words = (
        "plot fedals.one_round x=clients=2:5:3 smoothness=1.1 strong_convexity=0.1 client_weight=uniform local_gap=0.03"
    )
    done = subprocess.run(
        [sys.executable, "-m", "fedbounds", *words.split(), "non_iidness=0.01", "-o", os.devnull + ".svg"],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "MPLBACKEND": "nope"},
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "matplotlib has no MPLBACKEND=nope: unset it" in done.stderr


# ---- streams ----

SIGNS = "import sys, fedbounds\nfedbounds.VERBS['list'] = lambda args: fedbounds._{}\nsys.exit(fedbounds.main())"


def spoken(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", SIGNS.format(code), "list"], capture_output=True, check=False, cwd=ROOT,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("stream", ["print", "remark"])
def test_signs_that_a_terminal_does_not_know_are_spelled_out(stream):
    done = spoken(f"{stream}(['0.3±0.2 \u03c3: \u03b7L\u00b2 \u4e2d'])", PYTHONIOENCODING="ascii")
    assert b"0.3+/-0.2 sigma: eta L^2 \\u4e2d" in done.stdout + done.stderr
    assert b"Error" not in done.stderr
    done = spoken(f"{stream}(['0.3±0.2 \u03c3'])", PYTHONIOENCODING="utf-8")
    assert "0.3±0.2 σ".encode() in done.stdout + done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_in_every_encoding(encoding):
    done = spoken("json({'a': '± \u03c3'})", PYTHONIOENCODING=encoding)
    assert json.loads(done.stdout.decode(encoding)) == {"a": "± σ"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", ["list", "show fedals.one_round"])  # more and less than a buffer holds
def test_a_full_disk_is_one_line(words):
    shell = f"'{sys.executable}' -m fedbounds {words} > /dev/full"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr == "fedbounds: standard output or a file being written: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_where_remarks_cannot_be_written_the_status_says_it():
    shell = f"'{sys.executable}' -m fedbounds show nothing 2> /dev/full"
    assert subprocess.run(["bash", "-c", shell], check=False, cwd=ROOT).returncode == 2


# ---- which fedbounds this is, and whether it is whole ----


def test_the_version_is_told_at_once(run):
    status, out, err = run("--version")
    assert (status, err) == (0, "")
    declared = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)[1]
    assert out == f"fedbounds {declared}, Python {platform.python_version()}\n"


@pytest.mark.parametrize("room", ["bounds", "empirics", "paper_checks", "figures"])
def test_a_file_that_hides_a_package_is_named(tmp_path, room):
    (tmp_path / f"{room}.py").write_text("raise SystemExit('this file is not to be run')\n")
    said = f"{tmp_path / room}.py hides fedbounds' package {room}: rename that file, or work in another folder\n"
    way = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "fedbounds", "list"], env=environment, **way)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"fedbounds: {said}")
    asked = "import fedbounds; fedbounds.get('fedals.one_round')"
    done = subprocess.run([sys.executable, "-c", asked], env=environment, **way)
    assert done.stderr.endswith(f"ImportError: {said}")


def test_the_module_is_a_command_and_a_library():
    done = elsewhere("eval", "fedals.one_round", env={**os.environ, "PYTHONWARNINGS": "error"})
    assert done.returncode == 2
    assert done.stderr.startswith("fedbounds: fedals.one_round needs client_weight")
    assert fedbounds.get("fedals.one_round") is fedbounds.BOUNDS["fedals.one_round"]
    assert "Condition" in dir(fedbounds)
    with pytest.raises(AttributeError, match="no attribute 'gett'"):
        _ = fedbounds.gett


@pytest.mark.parametrize(
    ("verb", "lines"),
    [("refuse", ["fedbounds: no"]), ("answer", ["fedbounds: overflow encountered in exp"])],
)
def test_numpys_arithmetic_is_no_second_line_beside_an_error(verb, lines, capsys, monkeypatch):
    def overflow(args):
        np.exp(np.array([1e5]))
        if verb == "refuse":
            raise BoundsError("no")
        return 0

    monkeypatch.setitem(fedbounds.VERBS, "list", overflow)
    assert fedbounds.main(["list"]) == (2 if verb == "refuse" else 0)
    assert capsys.readouterr().err.splitlines() == lines
