"""Ctrl-C at any time: one line, status 130, and nobody is waited for."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAID = "fedbounds: interrupted\n"


def ended(code, *words):
    """A fresh process group that runs this code; what it said and how it ended."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *words],
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=100, start_new_session=True,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


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


@pytest.mark.parametrize("module", ["bounds", "bounds.errors", "numpy", "sympy", "mpmath.libmp"])
def test_while_the_libraries_load(module):
    assert ended(AT_IMPORT.format(module), "show", "fedals.one_round") == (130, "", SAID)


def test_while_torch_loads():
    words = ["train", "--problem", "softmax(iris)", "--clients", "4"]
    assert ended(AT_IMPORT.format("torch.nn"), *words) == (130, "", SAID)


@pytest.mark.parametrize(
    ("module", "inner"),
    [
        ("numpy.random", "numpy.random._common"),
        ("numpy.random", "numpy.random._bounded_integers"),
        ("numpy.random", "numpy.random.bit_generator"),
        ("scipy.linalg", "scipy.linalg._fblas"),
        ("scipy.special", "scipy.special._ufuncs_cxx"),
        ("scipy.optimize", "scipy.optimize._zeros"),
        ("scipy.sparse", "scipy.sparse._sparsetools"),
    ],
)
def test_while_an_extension_loads(module, inner):
    verb = f"fedbounds.VERBS['list'] = lambda args: __import__('{module}')"
    code = textwrap.dedent(AT_IMPORT.format(inner)).replace("sys.exit(", f"{verb}\nsys.exit(")
    assert ended(code, "list") == (130, "", SAID)


LOST = """
    import signal, sys, threading, time, fedbounds

    class Last:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def verb(args):
        Last()
        {}

    fedbounds.VERBS["list"] = verb
    sys.exit(fedbounds.main())
"""
HEARD = "threading.Thread(target=time.sleep, args=(1,)).start(); raise KeyboardInterrupt"


@pytest.mark.parametrize("then", ["time.sleep(60)", HEARD])
def test_one_that_is_lost_while_an_object_is_disposed_of_is_heard_once(then):
    assert ended(LOST.format(then), "list") == (130, "", SAID)


def test_a_second_one_while_threads_end_is_silent():
    code = """
        import os, signal, sys, threading, time, fedbounds

        def slow():
            time.sleep(2)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)

        def verb(args):
            threading.Thread(target=slow).start()
            raise KeyboardInterrupt

        fedbounds.VERBS["list"] = verb
        sys.exit(fedbounds.main())
    """
    assert ended(code, "list") == (-signal.SIGINT, "", SAID)


def test_nobody_waits_for_what_forked_workers_were_at():
    code = """
        import sys, time
        from bounds.showing.process import guarded
        from paper_checks.forking import spread

        def run():
            for _ in spread(lambda item: time.sleep(item), [0.1, 600, 600, 600], workers=2):
                raise KeyboardInterrupt

        sys.exit(guarded(run, alone=True))
    """
    assert ended(code) == (130, "", SAID)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
def test_forked_workers_leave_the_words_to_the_first_process():
    code = """
        import subprocess, sys, time
        from bounds.showing.process import guarded
        from paper_checks.forking import spread

        def run():
            subprocess.Popen(["sh", "-c", "sleep 3; kill -INT 0"])
            return sum(result for _, result in spread(time.sleep, [600, 600, 600], workers=2))

        sys.exit(guarded(run, alone=True))
    """
    assert ended(code) == (130, "", SAID)


@pytest.mark.parametrize(
    "work",
    [
        "time.sleep(60)",
        "sum(result for _, result in spread(time.sleep, [600, 600, 600], workers=2))",
        pytest.param("own_cluster(2).__enter__(); time.sleep(60)", marks=pytest.mark.slow),
    ],
)
def test_who_is_ended_by_the_system_says_one_line(work):
    code = f"""
        import os, signal, sys, threading, time
        from bounds.showing.process import guarded
        from empirics.experiments.processes import own_cluster
        from paper_checks.forking import spread

        def run():
            threading.Timer(2, os.kill, (os.getpid(), signal.SIGTERM)).start()
            {work}

        if __name__ == "__main__":
            sys.exit(guarded(run, alone=True))
    """
    assert ended(code) == (143, "", SAID)


def test_forked_workers_beside_a_progress_bar_say_nothing():
    code = """
        import sys, threading, time
        from bounds.showing.process import guarded
        from paper_checks.forking import spread

        def run():
            threading.Thread(target=time.sleep, args=(5,)).start()
            return sum(abs(result or 0) for _, result in spread(time.sleep, [0.1, 0.2, 0.3], workers=2))

        sys.exit(guarded(run, alone=True))
    """
    assert ended(code) == (0, "", "")
