"""The ``fedbounds`` command as a process: imports, streams, pipes, full disks, interrupts, and bugs of its own."""

import json
import os
import pty
import re
import resource
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import fedbounds
from bounds.errors import BoundsError

ROOT = Path(__file__).parents[1]
IRIS = ["--problem", "softmax(iris)", "--clients", "3"]
NO_SPACE = "fedbounds: standard output or a file being written: No space left on device\n"


def python(*arguments, env=None, **options):
    """Status, output and errors of Python in a process group of its own, in the project's folder."""
    way = {"cwd": ROOT, "timeout": 100, "capture_output": True, "text": True, "start_new_session": True} | options
    environment = {k: v for k, v in {**os.environ, **(env or {})}.items() if v is not None}
    done = subprocess.run([sys.executable, *map(str, arguments)], check=False, env=environment, **way)
    return done.returncode, done.stdout, done.stderr


def code(text, *words, **options):
    return python("-c", textwrap.dedent(text), *words, **options)


def shell(line, **options):
    """The same of a line of bash, in which ``{}`` is Python."""
    options = {"cwd": ROOT, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, **options}
    line = "set -o pipefail; " + line.replace("{}", f"'{sys.executable}'")
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=100, **options)
    return done.returncode, done.stdout, done.stderr


def test_a_file_that_hides_a_package_is_named(tmp_path):
    env = {"PYTHONPATH": str(ROOT)}
    for package in ("bounds", "figures"):
        hiding = tmp_path / f"{package}.py"
        hiding.write_text("raise SystemExit('this file is not to be run')\n")
        status, out, err = python("-m", "fedbounds", "list", env=env, cwd=tmp_path)
        assert (status, out, err.count("\n"), f"{hiding} " in err) == (2, "", 1, True)
        _, _, err = code("import fedbounds; fedbounds.get('fedals.one_round')", env=env, cwd=tmp_path)
        assert f"ImportError: {hiding} " in err
        hiding.unlink()


LONG_TABLE = """
import sys
from rich.console import Console
from bounds.showing.process import guarded
console = Console()
sys.exit(guarded(lambda: [console.print(i) for i in range(30000)], alone=True))
"""


def test_a_reader_who_stops_early_is_no_error():
    status, out, err = shell("{} -u -m fedbounds list | head -n 1")
    assert (status, out[:7], err) == (0, "fedals.", "")
    # Rich notices the closed pipe itself, and exits
    assert shell("{} - | head -n 2", input=LONG_TABLE) == (0, "0\n1\n", "")


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_streams_the_caller_has_closed_are_no_error(closed):
    status, out, err = shell(f"{{}} -m fedbounds eval fedcog.disagreement_upper temperature=-1 {closed}")
    assert (status, out, "Traceback" in err) == (2, "", False)


def test_a_full_disk_is_one_line_and_leaves_what_was_there(tmp_path):
    for words in ("list", "show fedals.one_round"):  # more and less than a buffer holds
        assert shell(f"{{}} -m fedbounds {words} > /dev/full") == (2, "", NO_SPACE)
    assert shell("{} -m fedbounds show nothing 2> /dev/full") == (2, "", "")
    path = tmp_path / "c.json"
    path.write_text('{"old": 2.5}')
    words = ["-m", "fedbounds", "constants", "--quick", *IRIS, "-o", path]
    status, _, err = python(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert (status, str(path) in err, json.loads(path.read_text())) == (2, True, {"old": 2.5})


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
SPELLED = r"\x1b[2J\x9b3J\r"


def test_what_steers_a_terminal_is_spelled_out_on_it_and_colours_stay():
    reader, terminal = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    for name in ("NO_COLOR", "FEDBOUNDS_PROGRESS"):
        env.pop(name, None)
    streams = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
    process = subprocess.Popen([sys.executable, "-c", STEERING], cwd=ROOT, env=env, **streams)
    os.close(terminal)
    heard = b""
    try:
        while part := os.read(reader, 4096):
            heard += part
    except OSError:  # the other end has been closed
        pass
    os.close(reader)
    assert process.wait(60) == 2
    text = heard.decode().replace("\r\n", "\n")
    assert "\x1b[2J" not in text
    assert "\x9b" not in text
    assert text.startswith(f"{SPELLED}\n")
    assert f"HOLDS\x1b[0m  {SPELLED}\n" in text
    assert f"of {SPELLED}: {SPELLED}" in text
    assert r"fedbounds: <\x1b[2J\x9b3J" in text
    assert "\x1b[32mHOLDS" in text


@pytest.mark.slow
def test_workers_do_not_run_the_script_that_started_the_sweep(tmp_path):
    (tmp_path / "g.toml").write_text(
        '[fixed]\nproblem = "softmax(iris)"\nalgorithm = "fedavg()"\nrounds = 2\nseed = 3\nclients = 3\n'
        'measure = ["train_loss"]\npartition = "iid()"\n'
    )
    (tmp_path / "script.py").write_text(
        "if __name__ != '__main__':\n    raise ImportError('no worker can import this')\n"
        "import sys\nfrom fedbounds import main\n"
        "sys.exit(main(['sweep', 'g.toml', '--workers', '1', '--store', 's']))\n"
    )
    status, out, err = python("script.py", cwd=tmp_path)
    assert (status, "1 done" in out, "Traceback" in err) == (0, True, False), err


INTERRUPTED = (130, "", "fedbounds: interrupted\n")
AT_IMPORT = """
import signal, sys

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "{}":
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
import fedbounds
sys.exit(fedbounds.main())
"""


@pytest.mark.parametrize("module", ["bounds", "mpmath.libmp"])
def test_an_interrupt_while_the_libraries_load(module):
    assert code(AT_IMPORT.format(module), "show", "fedals.one_round") == INTERRUPTED


WORKERS = """
import os, signal, subprocess, sys, threading, time
from bounds.showing.process import guarded
from empirics.experiments.processes import own_processes
from paper_checks.forking import forked_map

def working(*seconds):
    return sum(abs(result or 0) for _, result in forked_map(time.sleep, seconds, workers=2))

def run():
    {}

if __name__ == "__main__":
    sys.exit(guarded(run, alone=True))
"""
TERMINATED = "threading.Timer(2, os.kill, (os.getpid(), signal.SIGTERM)).start(); "
ENDS = [
    ("for _ in forked_map(time.sleep, [0.1, 600, 600, 600], workers=2): raise KeyboardInterrupt", 130),
    (TERMINATED + "working(600, 600, 600)", 143),
    (TERMINATED + "own_processes(2).__enter__(); time.sleep(60)", 143),
]


@pytest.mark.parametrize(("work", "status"), ENDS)
def test_nobody_waits_for_workers_of_a_process_that_is_ended_and_it_says_one_line(work, status):
    assert code(WORKERS.format(work)) == (status, *INTERRUPTED[1:])


def test_forked_workers_beside_a_thread_say_nothing():
    work = "threading.Thread(target=time.sleep, args=(5,)).start(); return working(0.1, 0.2, 0.3)"
    assert code(WORKERS.format(work)) == (0, "", "")


class UnspeakableError(Exception):
    def __str__(self):
        raise ValueError("no words")


def deep(n=0):
    return deep(n + 1)


@pytest.fixture
def verb(run, monkeypatch):
    """Run a verb that does this, or raises it."""

    def command(work):
        def broken(*_):
            if isinstance(work, BaseException):
                raise work
            return work()

        monkeypatch.setattr(fedbounds, "_run_verb", broken)
        return run("list")

    return command


BUGS = [
    (RuntimeError("a bug\nin two lines"), "RuntimeError: a bug in two lines"),
    (UnspeakableError(), "UnspeakableError"),
    (SystemExit(1), "SystemExit: 1"),
    (ModuleNotFoundError("No module named 'bounds.gone'", name="bounds.gone"), "'bounds.gone'"),
    (RuntimeError("x" * 9999), "RuntimeError: " + "x" * 300),
    (deep, "RecursionError"),
]


def test_a_bug_is_one_line_that_says_where_and_status_70(verb, monkeypatch):
    for error, said in BUGS:
        status, out, err = verb(error)
        assert (status, out, err.count("\n"), said in err) == (70, "", 1, True), err
        assert re.search(r" \(fedbounds\.py:\d+\); FEDBOUNDS_TRACEBACK=1 ", err), err
        assert len(err) < 700
    monkeypatch.setenv("FEDBOUNDS_TRACEBACK", "1")
    status, _, err = verb(RuntimeError("a bug"))
    assert (status, err.partition(" ")[0], "in broken\n" in err) == (70, "Traceback", True)


def half_loaded():
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise ImportError("cannot load an extension module") from None


def warned():
    warnings.warn("odd\nnumbers", stacklevel=1)
    return 0


def overflow():
    np.exp(np.array([1e5]))
    return 0


def overflow_in_an_error():
    overflow()
    raise BoundsError("no")


OUTCOMES = [
    (MemoryError("Unable to allocate 74.5 GiB for an array"), 70, "memory 74.5"),
    (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 8 bytes"), 70, "memory"),
    (ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"), 2, "torch pip"),
    (BrokenPipeError(32, "Broken pipe"), 2, "Broken pipe"),
    (UserWarning("odd"), 2, "UserWarning: odd"),
    (overflow_in_an_error, 2, "fedbounds: no\n"),
    (overflow, 0, "overflow exp"),
    (warned, 0, "odd numbers\n"),
    (half_loaded, 130, "interrupted"),
]


def test_what_the_machine_lacks_and_warnings_are_one_line_and_no_bug(verb):
    for work, wanted, words in OUTCOMES:
        status, out, err = verb(work)
        assert (status, out, err.count("\n")) == (wanted, "", 1), err
        assert all(word in err for word in (words.split() if "\n" not in words else [words])), err
        assert "bug" not in err
