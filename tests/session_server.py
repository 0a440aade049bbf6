"""A process that has loaded the toolkit once and runs each ``fedbounds`` command of a session in a fork of itself.

Most of a printed command's time is the start of Python. A fork has the arguments, the folder, the environment and the
files of whoever typed it, and what it prints goes there; ``CLIENT`` stands for the command on the session's path.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from importlib import import_module

CLIENT = """\
#!{python} -IS
import os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    words = [os.getcwd(), str(len(os.environ)), *(f"{{k}}={{v}}" for k, v in os.environ.items()), *sys.argv[1:]]
    data = "\\0".join(words).encode("utf-8", "surrogateescape")
    socket.send_fds(server, [len(data).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(data)
    sys.exit(server.recv(1)[0])
"""
LOADED = (
    "fedbounds", "bounds", "torch", "empirics.algorithms", "empirics.problems.tasks", "empirics.training.rounds",
    "paper_checks.comparing.advising", "paper_checks.validation", "paper_checks.audit.running",
    "paper_checks.falsifier",
)  # fmt: skip


def serve(address: str) -> None:
    """Answer until the process is ended; a line on standard output says when it begins."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while True:
            asked, _ = server.accept()
            if os.fork() == 0:
                server.close()
                _answer(asked)
                return
            asked.close()
            with suppress(ChildProcessError):  # all have been heard of
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _answer(asked: socket.socket) -> None:
    """Run the command in another fork, and tell its exit status; in that fork: the status, as an exit."""
    head, files, _, _ = socket.recv_fds(asked, 8, 3)
    left, data = int.from_bytes(head, "big"), b""
    while len(data) < left:
        data += asked.recv(left - len(data))
    if child := os.fork():
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        asked.sendall(bytes([status % 256]))
        os._exit(0)
    asked.close()
    folder, count, *words = data.decode("utf-8", "surrogateescape").split("\0")
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, closefd=False)  # those that were there remember where their files stood
    sys.stdout, sys.__stdout__ = [os.fdopen(1, "w", closefd=False)] * 2
    sys.stderr, sys.__stderr__ = [os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)] * 2
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(word.split("=", 1) for word in words[: int(count)])
    sys.argv = ["fedbounds", *words[int(count) :]]
    sys.exit(sys.modules["fedbounds"].main())


if __name__ == "__main__":
    for module in LOADED:
        import_module(module)
    serve(sys.argv[1])
