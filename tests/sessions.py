"""Sessions printed in documentation, run again: what a page shows is what comes out."""

import doctest
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from session_server import CLIENT

CHECKER = doctest.OutputChecker()
MARKER = "----- next -----"


def blocks(text, language):
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def commands(block):
    """The commands of a shell session (those that go on over lines joined) and what is printed under each."""
    parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@contextmanager
def loaded(folder):
    """A folder with a ``fedbounds`` whose commands are forks of one process that has loaded everything."""
    address = str(folder / "socket")
    command = folder / "fedbounds"
    command.write_text(CLIENT.format(python=sys.executable, address=address))
    command.chmod(0o755)
    server = Path(__file__).parent / "session_server.py"
    # -P: the folder of the tests, where folders have the rooms' names, is not on the path
    with subprocess.Popen([sys.executable, "-P", str(server), address], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield folder
        finally:
            process.terminate()


def run_session(typed, folder, ahead=None):
    """What each command prints, output and errors together, all typed into one shell.

    Commands in the folder ``ahead`` go before those of the path.
    """
    script = "".join(f"{command}\nstatus=$?; echo '{MARKER}'; (exit $status)\n" for command in typed)
    first = [] if ahead is None else [str(ahead)]
    path = os.pathsep.join([*first, str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        check=False,
    )
    return done.stdout.split(f"{MARKER}\n")[:-1]


def shell_differences(text, folder, ahead=None):
    """The commands of a page that print something else than it says, with what they print."""
    session = [pair for block in blocks(text, "console") for pair in commands(block)]
    printed = run_session([command for command, _ in session], folder, ahead)
    assert len(printed) == len(session)
    return [
        f"$ {command}\n{shown}"
        for (command, expected), shown in zip(session, printed, strict=True)
        if not CHECKER.check_output(expected, shown, doctest.ELLIPSIS)
    ]


def python_differences(text, name):
    """What doctest reports of the Python session of a page, and how many examples there are."""
    test = doctest.DocTestParser().get_doctest("\n".join(blocks(text, "pycon")), {}, name, name, 0)
    report = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    return "".join(report), len(test.examples)
