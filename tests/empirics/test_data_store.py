"""Files are found, opened and checked; what is missing or damaged is said in one line that helps."""

import bz2
import functools
import gzip
import hashlib
import http.server
import io
import lzma
import re
import sys
import tarfile
import threading
import zipfile

import pytest
from refusals import all_refused, refusal

from empirics.data import catalogue as datasets, store
from empirics.data.store import DataFormatError, Download, fetch, Files, members, read

SET = Files("toys", "toy-box", ("bear.txt",), "example.org/toys")
WAYS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.fixture
def root(root):
    (root / "toy-box").mkdir()
    return root


def refused(path, reader=read):
    all_refused([(lambda: reader(path), f"{path} fetch")], kind=DataFormatError)


def test_a_file_is_found_and_opened_however_compressed_and_refused_where_it_is_damaged_or_its_hash_another(root):
    assert not SET.present
    for ending, compress in WAYS.items():
        path = root / "toy-box" / f"bear.txt{ending}"
        path.write_bytes(compress(b"two ears" * 50))
        assert SET.present
        assert read(SET.one("bear.txt")) == b"two ears" * 50
        whole = compress(bytes(range(256)) * 9)
        for content in (whole[:-20], b"plain text", whole[:30] + b"\x07" * 40 + whole[70:]) if ending else ():
            path.write_bytes(content)
            refused(path)
        path.unlink()
    path = root / "toy-box" / "bear.txt"
    path.write_bytes(b"brown")
    digest = hashlib.sha256(b"brown").hexdigest()
    for listed, content, fits in (("bear", b"brown", True), ("bear", b"black", False), ("other", b"black", True)):
        (root / "SHA256SUMS").write_text(f"{digest}  ./toy-box/{listed}.txt\n")
        path.write_bytes(content)
        assert read(SET.one("bear.txt")) == content if fits else refused(path) is None


@pytest.mark.parametrize("kind", ["zip", "tar.xz"])
def test_members_of_archives(root, kind):
    path = root / f"box.{kind}"
    content = {"a/one.txt": b"1", "a/two.dat": b"2", "b/three.txt": b"3" * 999}
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in content.items():
                archive.writestr(name, data)
    else:
        path.write_bytes(lzma.compress(tarred(content)))
    assert members(path, ".txt") == [("a/one.txt", b"1"), ("b/three.txt", b"3" * 999)]
    path.write_bytes(path.read_bytes()[:-40])
    refused(path, lambda path: members(path, ".txt"))


def tarred(content):
    """A tar archive of these files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, data in content.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def test_a_missing_set_names_the_ways_to_get_it(root):
    missing = {
        "fashion_mnist": f"fashion-mnist/train-images-idx3-ubyte .gz .bz2 .xz {root} FEDBOUNDS_DATA 'fedbounds[data]' "
        "empirics.data.catalogue.download('fashion_mnist') breast_cancer diabetes digits iris wine",
        "landmine": f"{root} LandmineData.zip",
        "fashion_mnits": "'fashion_mnist'",
        "multinli(length=0)": "length 2 0",
        "flair(users=0)": "users 1 0",
        "omniglot(size=0)": "size 1 0",
    }
    all_refused(missing, lambda name: refusal(datasets.dataset, name))
    assert "fedbounds[data]" not in refusal(datasets.dataset, "landmine")  # no checked download is promised
    all_refused({"landmine": "landmine LandmineData"}, lambda name: refusal(datasets.download, name))
    for ask in (datasets.present, datasets.download):
        all_refused({"fashion_mnits": "'fashion_mnist'"}, lambda name, ask=ask: refusal(ask, name))
    assert datasets.present("iris")
    assert datasets.download("iris") is None


def test_the_catalogue_knows_the_files_of_every_set_that_is_not_embedded():
    assert set(datasets.DATASETS) == set(datasets.FILES) | set(store.EMBEDDED) | {*datasets.OF_ANOTHER, *datasets.OWN}
    assert not set(datasets.FILES) & set(store.EMBEDDED)
    assert all(files.set == name for name, files in datasets.FILES.items())


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path_factory):
    pytest.importorskip("pooch")
    folder = tmp_path_factory.mktemp("public")
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{running.server_address[1]}/"
        running.shutdown()
        thread.join()


def offered(content, *urls):
    """A set whose only file is downloaded from the first of the addresses that answers."""
    download = Download(urls, hashlib.sha256(content).hexdigest())
    return Files("toys", "toy-box", ("bear.txt",), "example.org", (download,))


def test_download_takes_the_first_address_that_answers_and_checks_the_hash(root, server):
    public, address = server
    (public / "bear.txt").write_bytes(b"black")
    files = offered(b"brown", address + "gone/bear.txt", address + "bear.txt")
    all_refused({"bear.txt": "bear.txt hash"}, lambda _: refusal(fetch, files))
    assert not files.present
    (public / "bear.txt").write_bytes(b"brown")
    assert fetch(files) == root / "toy-box"
    assert read(files.one("bear.txt")) == b"brown"
    (public / "bear.txt").unlink()
    assert fetch(files) == root / "toy-box"  # it is there: nothing is asked of the server


def test_archives_are_unpacked_flat(root, server):
    public, address = server
    names = ("box/../../bear.txt", "box/inner/bear.txt", "box/notes.txt")
    content = gzip.compress(tarred({name: name.encode() for name in names}))
    (public / "box.tar.gz").write_bytes(content)
    files = offered(content, address + "box.tar.gz")
    fetch(files)
    assert read(files.one("bear.txt")) == b"box/inner/bear.txt"
    assert sorted(p.name for p in root.rglob("*.txt")) == ["bear.txt"]


def test_a_download_needs_an_encrypted_connection_a_sha256_and_pooch(root, monkeypatch):
    downloads = [one for files in datasets.FILES.values() for one in files.downloads]
    assert len(downloads) > 10
    assert all(url.startswith("https://") for one in downloads for url in one.urls)
    assert all(re.fullmatch("[0-9a-f]{64}", one.sha256) for one in downloads)
    monkeypatch.setitem(sys.modules, "pooch", None)
    all_refused({"mnist": "'fedbounds[data]'"}, lambda name: refusal(datasets.download, name))


@pytest.mark.data("mnist", "fashion_mnist", "tiny_shakespeare", "school")
def test_the_hashes_of_the_downloads_are_those_of_the_files_here():
    compared = 0
    for name in ("mnist", "fashion_mnist", "tiny_shakespeare", "school"):
        files = datasets.FILES[name]
        for one in files.downloads:
            path = store.root() / files.folder / one.name
            assert hashlib.sha256(path.read_bytes()).hexdigest() == one.sha256
            compared += 1
    assert compared == 10
