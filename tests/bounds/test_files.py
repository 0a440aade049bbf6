"""Files that the user names: what is no file is refused before it is opened, and nothing is read without end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fedbounds
from bounds.errors import BoundsError
from bounds.showing import files

ROOT = Path(__file__).parents[2]
READERS = {
    "values": ["eval", "fedals.one_round", "@{}"],
    "one value": ["eval", "fedals.one_round", "smoothness=@{}"],
    "python": ["show", "{}:mine"],
    "log": ["validate", "fedals.one_round", "--measured", "{}"],
    "grid": ["sweep", "{}"],
    "witness": ["falsify", "--replay", "{}"],
}
"""Every way to name a file that is read; what it must end with."""


@pytest.fixture(params=READERS)
def refused(request, capsys, tmp_path, monkeypatch):
    """Give one of the readers this file; returns the one line it says."""
    monkeypatch.chdir(tmp_path)

    def read(path):
        if request.param == "python":
            named = tmp_path / "link.py"
            named.symlink_to(path)
            path = named
        status = fedbounds.main([word.format(path) for word in READERS[request.param]])
        out, err = capsys.readouterr()
        assert (status, out, err.count("\n")) == (2, "", 1), err
        return err

    return read


def test_a_folder_is_no_file(refused, tmp_path):
    assert "must be a file; it is a folder" in refused(tmp_path)


def test_a_device_is_no_file(refused):
    assert "must be a file; it is a device, a pipe or a socket" in refused("/dev/zero")


def test_a_pipe_without_a_writer_is_no_file(refused, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "must be a file; it is a device, a pipe or a socket" in refused(tmp_path / "pipe")


def test_a_file_beyond_the_limit_is_refused_unread(refused, tmp_path):
    file = tmp_path / "huge"
    with file.open("wb") as hole:
        hole.truncate(2**40)
    assert "is too large: a file of this kind has at most " in refused(file)


def test_a_file_that_grows_while_it_is_read_is_cut_off(tmp_path):
    file = tmp_path / "numbers.json"
    file.write_bytes(b"7" * 41)
    assert files.content(file, 41) == b"7" * 41
    with pytest.raises(BoundsError, match=r"numbers\.json is too large"):
        files.content(file, 40)


STREAMS = (
    "cat c.json | {} eval {} @/dev/stdin",
    "{} eval {} @/dev/fd/7 7< c.json",
)


@pytest.mark.parametrize("given", STREAMS)
def test_what_the_shell_has_opened_is_read(tmp_path, given):
    (tmp_path / "c.json").write_text('{"ratio": 0.3, "smoothness": 1.7}')
    bound = tmp_path / "own.py"
    bound.write_text(
        "from bounds import Bound, Source\nfrom bounds.vocabulary import grad_norm_sq, smoothness\n"
        "own = Bound(name='own', target=grad_norm_sq, terms={'a': 3 * smoothness}, source=Source('notes', '1'))\n"
    )
    shell = given.format(f"'{sys.executable}' -m fedbounds", f"{bound}:own")
    done = subprocess.run(
        ["bash", "-c", shell], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("grad_norm_sq <= 5.1")


def test_a_stream_that_never_ends_is_cut_off(tmp_path, monkeypatch):
    code = (
        "from bounds.showing import files\n"
        "import sys\ntry:\n    files.content('/dev/stdin', 999)\nexcept ValueError as error:\n    print(error)"
    )
    shell = f"yes | '{sys.executable}' -c \"{code}\""
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert "/dev/stdin is too large" in done.stdout
