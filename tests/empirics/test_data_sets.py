"""Data sets: each read from a miniature written here in its original format, and refused when it is damaged.

The real sets are looked at where they are on this machine: published counts, federations of each family.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import struct
import zipfile

import numpy as np
import pytest
from PIL import Image
from refusals import all_refused, refusal
from scipy.io import savemat

from empirics.data.catalogue import dataset, DATASETS
from empirics.data.dataset import Dataset, fewer, held_out
from empirics.data.store import DataFormatError
from empirics.data.texts import codes, LETTERS
from empirics.problems.tasks import task

rng = np.random.default_rng(3)


def put(root, name, content, encoding="utf-8"):
    """Write a file below ``root``: bytes as they are, text compressed if the file's name says so."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = content.encode(encoding)
        content = gzip.compress(content) if name.endswith(".gz") else content
    path.write_bytes(content)
    return path


def mat(**arrays):
    """A file of MATLAB."""
    content = io.BytesIO()
    savemat(content, arrays)
    return content.getvalue()


def refused(name, *words):
    """The data set is refused in one line with these words."""
    with pytest.raises(DataFormatError) as caught:
        DATASETS[name]()
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words)


def all_damaged(root, name, file, *contents):
    """The data set is refused with each of these contents in place of its file."""
    for content in contents:
        put(root, file, content)
        refused(name)


def agree(found, **wanted):
    """Arrays and fields of a set are these; ``users`` are the names of its samples' groups."""
    for name, value in wanted.items():
        if name == "users":
            assert [found.group_names[g] for g in found.groups] == value
        elif isinstance(value, list | np.ndarray):
            np.testing.assert_array_equal(getattr(found, name), value)
        else:
            assert getattr(found, name) == value, name


# ---- images in binary files ----


def idx(array, code):
    head = struct.pack(">HBB", 0, code, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


def write_idx(root, folder):
    arrays = {}
    for part, n in (("train", 7), ("t10k", 4)):
        arrays[part] = rng.integers(0, 256, (n, 28, 28), np.uint8), rng.integers(0, 10, n).astype(np.uint8)
        for array, name in zip(arrays[part], ("images-idx3", "labels-idx1"), strict=True):
            put(root, f"{folder}/{part}-{name}-ubyte.gz", gzip.compress(idx(array, 8)))
    return arrays


def test_fashion_mnist_and_mnist_from_idx_files_with_writers_from_qmnist(root):
    arrays = write_idx(root, "fashion-mnist")
    data = dataset("fashion_mnist")
    for part, found in (("train", data), ("t10k", data.test)):
        agree(found, inputs=arrays[part][0][:, None], targets=arrays[part][1])
    agree(data, groups=None, kind="classification", classes=10, licence="MIT")
    good = idx(write_idx(root, "mnist")["train"][1], 8)
    assert dataset("mnist").groups is None
    train, test = rng.integers(0, 9, (7, 8)).astype(">i4"), rng.integers(0, 9, (9, 8)).astype(">i4")
    train[:, 2] = [300, 300, 17, 17, 17, 902, 300]
    test[:, 2] = [44, 45, 44, 44, 999, 999, 999, 999, 999]  # QMNIST's test set goes on after MNIST's ends
    for name, table in (("train", train), ("test", test)):
        put(root, f"mnist/qmnist-{name}-labels-idx2-int.gz", gzip.compress(idx(table, 12)))
    data = dataset("mnist")
    agree(data, users=["300", "300", "17", "17", "17", "902", "300"])
    agree(data.test, users=["44", "45", "44", "44"])
    assert "999" not in data.group_names
    put(root, "mnist/qmnist-train-labels-idx2-int.gz", gzip.compress(idx(train[:5], 12)))
    refused("mnist", "7")
    labels = idx(np.full(7, 10, np.uint8), 8), idx(np.zeros(6, np.uint8), 8)  # no such class, and one too few
    spoiled = good[:-1], good + b"\0", b"\1" + good[1:], good[:2] + b"\7" + good[3:], good[:9], b"", *labels
    all_damaged(root, "mnist", "mnist/train-labels-idx1-ubyte.gz", *map(gzip.compress, spoiled))


def records(images, *labels):
    return np.concatenate([np.stack(labels, 1).astype(np.uint8), images.reshape(len(images), -1)], axis=1).tobytes()


def test_cifar_joins_its_batches_in_order_and_has_coarse_classes_as_groups(root):
    images, labels = rng.integers(0, 256, (18, 3, 32, 32), np.uint8), rng.integers(0, 10, 18)
    for i in range(5):
        some = slice(3 * i, 3 * i + 3)
        put(root, f"cifar-10/data_batch_{i + 1}.bin.xz", lzma.compress(records(images[some], labels[some])))
    whole = records(images[15:], labels[15:])
    put(root, "cifar-10/test_batch.bin", whole)
    data = dataset("cifar10")
    agree(data, inputs=images[:15], targets=labels[:15])
    agree(data.test, inputs=images[15:], targets=labels[15:])
    assert data.prepare.mean == (0.4914, 0.4822, 0.4465)
    all_damaged(root, "cifar10", "cifar-10/test_batch.bin", whole[:-1], b"", records(images[15:], labels[15:] + 10))
    coarse, fine = [19, 3, 3, 0, 7], [99, 41, 12, 0, 57]
    put(root, "cifar-100/train.bin", records(images[:5], coarse, fine))
    put(root, "cifar-100/test.bin.xz", lzma.compress(records(images[:2], coarse[:2], fine[:2])))
    data = dataset("cifar100")
    agree(data, inputs=images[:5], targets=fine, groups=coarse, classes=100, group_word="coarse class")
    assert (data.test.targets.tolist(), len(data.group_names)) == (fine[:2], 20)
    all_damaged(root, "cifar100", "cifar-100/train.bin", records(images[:5], coarse, np.add(fine, 1)))


def test_svhn_turns_columns_into_images_and_ten_into_zero(root):
    images, labels = rng.integers(0, 256, (32, 32, 3, 4), np.uint8), np.array([[10], [1], [9], [10]], np.uint8)
    put(root, "svhn/train_32x32.mat", mat(X=images, y=labels))
    put(root, "svhn/test_32x32.mat", mat(X=images[..., :2], y=labels[:2]))
    data = dataset("svhn")
    agree(data, inputs=images.transpose(3, 2, 0, 1), targets=[0, 1, 9, 0])
    agree(data.test, targets=[0, 1])
    spoiled = mat(X=images, y=labels)[:4000], mat(X=images), mat(X=images[:31], y=labels), b"text"
    all_damaged(root, "svhn", "svhn/train_32x32.mat", *spoiled)


def leaf(users):
    counts = [len(u["y"]) for u in users.values()]
    return json.dumps({"users": list(users), "num_samples": counts, "user_data": users}).encode()


def test_femnist_from_several_leaf_files(root):
    pixels = rng.integers(0, 256, (5, 784))
    ink = (1 - pixels / 255).tolist()
    put(root, "femnist/train/all_data_0.json", leaf({"w9": {"x": ink[:2], "y": [61, 4]}}))
    put(root, "femnist/train/all_data_1.json", leaf({"w1": {"x": ink[2:4], "y": [0, 9]}}))
    put(root, "femnist/test/all_data_0.json", leaf({"w9": {"x": ink[4:], "y": [33]}}))
    data = dataset("femnist")
    agree(data, inputs=pixels[:4].reshape(4, 1, 28, 28), targets=[61, 4, 0, 9], users=["w9", "w9", "w1", "w1"])
    agree(data, classes=62, group_word="writer")
    agree(data.test, inputs=pixels[4:].reshape(1, 1, 28, 28), users=["w9"])
    odd = ([0.5] * 784, [1, 2]), ([0.5] * 783, [1]), ([1.5] * 784, [1])  # a label more, a pixel less, too much ink
    spoiled = b'{"users": ["w1"', b"[]", b'{"users": []}', *(leaf({"w1": {"x": [x], "y": y}}) for x, y in odd)
    all_damaged(root, "femnist", "femnist/train/all_data_1.json", *spoiled)


# ---- pictures ----


def encoded(pixels, kind):
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, kind)
    return content.getvalue()


def omniglot_zip(entries):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return content.getvalue()


def test_omniglot_from_zipped_png(root):
    drawings = rng.integers(0, 2, (4, 10, 10)).astype(bool)
    names = ["s1/Latin/character01/0001_01.png", "s1/Latin/character02/0002_07.png", "s1/Greek/character01/0003_01.png"]
    first = {name: encoded(d, "PNG") for name, d in zip(names, drawings, strict=False)}
    again = {"s2/Greek/character01/0003_01.png": first[names[2]]}
    again["s2/Tifinagh/character05/0009_02.png"] = first[names[0]]
    put(root, "omniglot/images_background_small1.zip", omniglot_zip(first))
    path = put(root, "omniglot/images_background_small2.zip", omniglot_zip(again))
    data = dataset("omniglot(size=10)")
    np.testing.assert_array_equal(data.inputs[:3, 0], np.where(drawings[:3], 0, 255))
    agree(data, classes=4, users=["Latin/01", "Latin/07", "Greek/01", "Tifinagh/02"])  # Greek lies in both archives
    assert len(set(data.targets.tolist())) == 4
    whole = path.read_bytes()
    foreign = omniglot_zip({"s2/Greek/character02/0003_01.png": b"no picture"})
    all_damaged(root, "omniglot", "omniglot/images_background_small2.zip", whole[:-30], foreign, b"")


def write_flair(root, rows):
    for row in rows:
        image = np.full((256, 256, 3), int(row["image_id"]) % 250, np.uint8)
        put(root, f"flair/small_images/{row['image_id']}.jpg", encoded(image, "JPEG"))
    put(root, "flair/labels_and_metadata.json", json.dumps(rows).encode())


def photo(user, image, labels, part):
    return {"user_id": user, "image_id": str(image), "labels": labels, "fine_grained_labels": [], "partition": part}


def test_flair_opens_the_photos_of_drawn_users(root):
    rows = [photo(f"u{i % 4}", 10 + i, ["plant", "food"][: i % 3], "train") for i in range(9)]
    rows += [photo("t", 60, ["animal"], "test"), *(photo(f"u{i}", 70 + i, ["art"], "val") for i in range(4))]
    write_flair(root, rows)
    data = dataset("flair(users=2, size=8)")
    agree(data, kind="multilabel", classes=4)
    owners = {data.group_names[g] for g in data.groups}
    assert len(owners & {"u0", "u1", "u2", "u3"}) == len(owners) == 2
    mine = [i for i in range(9) if f"u{i % 4}" in owners]
    assert np.abs(data.inputs[:, 1, 3, 3].astype(int) - [10 + i for i in mine]).max() <= 2  # JPEG is not exact
    assert data.inputs.shape == (len(mine), 3, 8, 8)
    words = ["animal", "art", "food", "plant"]
    assert data.targets.tolist() == [[float(w in rows[i]["labels"]) for w in words] for i in mine]
    assert data.test.targets.tolist() == [[1, 0, 0, 0]]
    drawn = {dataset(f"flair(users=2, size=8, seed={seed})").group_names for seed in range(6)}
    assert len(drawn) > 1
    cards = (b"{", json.dumps([row for row in rows if row["partition"] == "train"]).encode(), b'[{"labels": []}]')
    all_damaged(root, "flair", "flair/labels_and_metadata.json", *cards)
    write_flair(root, rows)
    for row in rows:
        put(root, f"flair/small_images/{row['image_id']}.jpg", b"\xff\xd8 no picture")
    refused("flair")


def test_libsvm_files_with_a_test_set_of_two_classes(root):
    put(root, "libsvm/a9a.bz2", bz2.compress(b"-1 3:1 11:0.5\n+1 1:-2 123:1\n-1 5:1\n"))
    put(root, "libsvm/a9a.t", b"+1 2:1\n-1 7:3\n")
    data = dataset("a9a")
    expected = np.zeros((3, 123))
    expected[0, [2, 10]], expected[1, [0, 122]], expected[2, 4] = (1, 0.5), (-2, 1), 1
    agree(data, inputs=expected, targets=[-1, 1, -1], kind="binary")
    agree(data.test, targets=[1, -1])
    put(root, "libsvm/mushrooms.bz2", bz2.compress(b"2 1:1\n1 112:1\n2 3:1\n"))
    assert dataset("mushrooms").targets.tolist() == [1, -1, 1]  # the smaller label is minus one
    damaged = b"", b"+1 nonsense\n-1 2:1\n", b"+1 25:1\n-1 1:1\n", b"+1 0:1\n-1 25:2\n", b"\xff\xfe\x00"
    all_damaged(root, "german", "libsvm/german.numer_scale", *damaged)
    for content, count in ((b"1 1:1\n1 2:1\n", 1), (b"1 1:1\n2 2:1\n3 1:1\n", 3)):
        put(root, "libsvm/german.numer_scale", content)
        all_refused({"german": f"german {count}"}, lambda name: refusal(dataset, name))


# ---- natural federations ----


def cells(arrays):
    out = np.empty((1, len(arrays)), dtype=object)
    out[0, :] = arrays
    return out


def test_school_joins_its_tasks(root):
    inputs = [rng.integers(0, 9, (n, 28)).astype(np.uint8) for n in (4, 2, 5)]
    scores = [rng.integers(1, 70, (n, 1)).astype(np.uint8) for n in (4, 2, 5)]
    put(root, "natural/school.mat", mat(X=cells(inputs), Y=cells(scores)))
    data = dataset("school")
    agree(data, inputs=np.concatenate(inputs), targets=np.concatenate(scores)[:, 0], groups=[0] * 4 + [1] * 2 + [2] * 5)
    agree(data, kind="regression", group_word="school", group_names=("1", "2", "3"))
    whole = mat(X=cells(inputs), Y=cells(scores))
    odd = [(inputs, scores[::-1]), (inputs, scores[:2]), ([x[:, :27] for x in inputs], scores)]
    spoiled = whole[: len(whole) // 2], mat(X=cells(inputs)), *(mat(X=cells(x), Y=cells(y)) for x, y in odd)
    all_damaged(root, "school", "natural/school.mat", *spoiled)


@pytest.mark.parametrize("separator", ["\t", ","])
def test_parkinson_with_tabs_or_commas(root, separator):
    table = rng.normal(size=(4, 22)).round(3)
    table[:, 0] = [7, 7, 3, 7]
    head = separator.join(["subject#", "age", *(f"c{i}" for i in range(20))])
    lines = [head, *(separator.join(map(repr, map(float, row))) for row in table)]
    put(root, "natural/parkinsons_updrs.data.gz", gzip.compress("\n".join(lines).encode()))
    total, motor = dataset("parkinson"), dataset("parkinson('motor')")
    agree(total, inputs=np.delete(table, [0, 4, 5], axis=1), targets=table[:, 5], groups=[1, 1, 0, 1])
    agree(motor, targets=table[:, 4])
    all_refused({"parkinson('both')": "'total' 'motor' 'both'"}, lambda text: refusal(dataset, text))
    spoiled = (b"", b"a,b\n1,2\n", "\n".join([head, "x" + separator + "1"]).encode())
    all_damaged(root, "parkinson", "natural/parkinsons_updrs.data.gz", *map(gzip.compress, spoiled))


HEAD = "age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,target\n"
TWO = ["63.0,1,1,145,233,1,2,150,0,2.3,3,0,6,0\n", "67,1,4,160,286,0,2,108,1,1.5,2,3,3,2\n"]
GAPS = ["28,1,2,130,?,0,2,185,0,0,,?,?,1\n", "32,1,1,95,-9,,0,127,0,.7,1,,,0\n"]


def test_heart_disease_with_and_without_headers_fills_what_was_not_taken(root):
    content = [HEAD + TWO[0], TWO[1], GAPS[0] + TWO[0], HEAD + GAPS[1]]
    names = ("cleveland", "hungarian", "switzerland", "va")
    for name, text in zip(names, content, strict=True):
        put(root, f"natural/heart-disease/processed.{name}.data", text)
    data = dataset("heart_disease")
    agree(data, groups=[0, 1, 2, 2, 3], group_names=names, targets=[-1, 1, 1, -1, -1])
    known = (233 + 286 + 233) / 3
    np.testing.assert_allclose(data.inputs[:, 4], [233, 286, known, 233, known])
    np.testing.assert_allclose(data.inputs[:, 10], [3, 2, 9 / 4, 3, 1])
    assert data.inputs[4, 9] == 0.7
    put(root, "natural/heart-disease/processed.va.data", HEAD + "1,2\n")
    refused("heart_disease")


def toy(**changes):
    given = {"inputs": np.array([[1.0, 5.0], [3.0, 5.0], [8.0, 5.0]]), "targets": np.array([0, 1, 0]), "classes": 2}
    return Dataset("toy", **(given | changes))


def test_labels_of_every_kind():
    assert toy().labels.tolist() == toy().as_signs().labels.tolist() == [0, 1, 0]
    assert toy().as_signs().targets.tolist() == [-1, 1, -1]
    assert toy().as_signs().as_classes().targets.tolist() == [0, 1, 0]
    all_refused(
        [
            (lambda: toy(classes=3).as_signs(), "toy 3"),
            (lambda: toy(kind="regression").labels, "toy regression"),
            (lambda: toy(inputs=np.zeros((3, 2), np.uint8)).standardised(), "toy uint8"),
            (lambda: toy(kind="guess"), "classification 'guess'"),
            (lambda: toy(targets=np.zeros(2)), "toy 3 2"),
        ]
    )


def test_standardising_moves_the_test_set_by_the_same_numbers():
    data = toy(test=toy(inputs=np.array([[4.0, 6.0], [0.0, 5.0], [1.0, 5.0]]))).standardised()
    np.testing.assert_allclose(data.inputs.mean(0), 0, atol=1e-15)
    np.testing.assert_allclose(data.inputs.std(0), [1, 0], atol=1e-15)
    spread = np.std([1, 3, 8])
    np.testing.assert_allclose(data.test.inputs[0], [0, 1])
    np.testing.assert_allclose(data.test.inputs[1, 0], -4 / spread)


def test_a_test_set_is_kept_out_of_the_training_samples_and_fewer_keeps_some_of_both():
    order = np.arange(53)  # sample i is the number i, of user i % 7
    numbers = Dataset("numbers", order[:, None] / 1.0, order % 3, 3, groups=order % 7, group_names=tuple("abcdefg"))
    made = held_out(numbers, share=0.3)
    assert (len(made), len(made.test)) == (37, 16)
    together = np.sort(np.concatenate([made.inputs, made.test.inputs]).ravel())
    np.testing.assert_array_equal(together, np.arange(53))
    for part in (made, made.test):
        agree(part, targets=part.inputs.ravel() % 3, groups=part.inputs.ravel() % 7)
    np.testing.assert_array_equal(held_out(numbers, share=0.3).inputs, made.inputs)
    cut = fewer(made, train=11, test=5)
    assert (len(cut), len(cut.test), len(fewer(numbers, train=400))) == (11, 5, 53)
    assert not set(cut.inputs.ravel()) & set(cut.test.inputs.ravel())
    assert cut.name == "fewer(held_out(numbers, share=0.3), train=11, test=5)"
    assert len(dataset("fewer(held_out(digits), test=100)").test) == 100
    assert task("softmax(held_out(digits, share=0.1))").data.test is not None
    wrong = {
        "held_out(held_out(digits))": "test set",
        "held_out(digits, share=1.5)": "share 0 1 1.5",
        "held_out(digits, share=0.0001)": "empty",
        "fewer(digits, train=0)": "train 1 0",
        "fewer(digits, train=2.5)": "train 1 2.5",
        "held_out(3)": "held_out",
    }
    all_refused(wrong, lambda text: refusal(dataset, text))


def rows(*lines):
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue()


# ---- bags of words ----


def test_sent140_by_user_from_json_lines(root):
    lines = [
        {"user": "u7", "y": [0, 1], "x": ["so sad", "so so glad"]},
        {"user": "u2", "y": [1, 1], "x": ["rare", "glad day"]},
    ]
    put(root, "tweets/sent140_leaf_k30_test.jsonl.gz", "\n".join(map(json.dumps, lines)) + "\n")
    data = dataset("sent140_users(words=3)")  # so 3, glad 2, then day before rare and sad
    # "rare" is left with nothing and goes
    agree(data, inputs=[[1, 0, 0], [2, 1, 0], [0, 1, 1]], targets=[0, 1, 1], users=["u7", "u7", "u2"])
    all_refused({"sent140_users(words=0)": "words 1 0"}, lambda text: refusal(dataset, text))
    spoiled = ['{"user": "u1"', json.dumps({"user": "u", "y": [0], "x": []}), '{"user": "u"}', ""]
    file = "tweets/sent140_leaf_k30_test.jsonl.gz"
    all_damaged(root, "sent140_users", file, *spoiled, gzip.compress(b"\xff\xfe"))


def test_sent140_sample_and_airline_from_csv(root):
    sample = rows(["user", "label", "text"], ["v1", 0, 'a "b", c\nd'], ["v2", 1, "c"])
    put(root, "tweets/sent140_20k_sample.csv.gz", sample)
    agree(dataset("sent140_sample"), inputs=[[1, 1, 1, 1], [1, 0, 0, 0]], targets=[0, 1])  # c leads
    head = ["user", "airline", "sentiment", "confidence", "text"]
    airline = rows(
        head, ["u1", "X", "positive", 1, "nice"], ["u1", "X", "negative", 1, "bad"], ["u4", "Y", "neutral", 1, "eh"]
    )
    put(root, "tweets/twitter_us_airline.csv.gz", airline)
    agree(dataset("airline"), targets=[2, 0, 1], users=["u1", "u1", "u4"])
    mood = rows(["user", "mood", "text"], ["v1", 0, "a"])
    happy = rows(["user", "label", "text"], ["v1", "happy", "a"])
    all_damaged(root, "sent140_sample", "tweets/sent140_20k_sample.csv.gz", mood, happy)
    all_damaged(root, "airline", "tweets/twitter_us_airline.csv.gz", rows(head, ["u1", "X", "furious", 1, "nice"]))


def test_sent140_from_the_original_csv_in_latin_1(root):
    text = rows(["4", "11", "Mon", "NO_QUERY", "josé", "olé olé"], ["0", "12", "Mon", "NO_QUERY", "ann", "no"])
    name = "tweets/training.1600000.processed.noemoticon.csv"
    put(root, name, text, "latin-1")
    agree(dataset("sent140_csv"), inputs=[[2, 0], [0, 1]], targets=[1, 0], users=["josé", "ann"])
    all_damaged(root, "sent140_csv", name, rows(["2", "11", "Mon", "Q", "ann", "neither"]), rows(["4", "11", "Mon"]))


def test_sent140_from_leaf_keeps_the_words_of_training(root):
    posts = [
        ["1", "Mon", "Q", who, text, "x"] for who, text in (("ann", "so sad"), ("ann", "glad"), ("bob", "sad news"))
    ]
    put(root, "sent140/train/a.json", leaf({"bob": {"x": posts[:1], "y": [0]}, "ann": {"x": posts[1:2], "y": [1]}}))
    put(root, "sent140/test/a.json", leaf({"bob": {"x": posts[2:], "y": [0]}}))
    data = dataset("sent140")
    agree(data, inputs=[[0, 1, 1], [1, 0, 0]], users=["bob", "ann"])  # glad, sad, so
    agree(data.test, inputs=[[0, 1, 0]], users=["bob"])
    for spoiled in ("just some text", ["1", "Mon", "Q", "bob"]):
        put(root, "sent140/test/a.json", leaf({"bob": {"x": [spoiled], "y": [0]}}))
        refused("sent140", "fifth")


# ---- Shakespeare ----

SPEECHES = "First Citizen:\nSpeak, speak.\n\nAll:\nWe know't.\nNow.\n\nFirst Citizen:\nAy & no.\n"


def test_tiny_shakespeare_joins_the_speeches_of_a_speaker(root):
    put(root, "shakespeare/input.txt", SPEECHES)
    data = dataset("tiny_shakespeare(length=6)")
    said = {"First Citizen": "Speak, speak.\nAy & no.", "All": "We know't.\nNow."}
    letters = "".join(sorted(set("".join(said.values()))))
    agree(data, kind="sequence", classes=len(letters), group_word="role", overlap=6)
    windows = {name: [(t[i : i + 6], t[i + 6]) for i in range(len(t) - 6)] for name, t in said.items()}
    expected = windows["First Citizen"] + windows["All"]
    found = ["".join(letters[c] for c in row) for row in data.inputs]
    assert list(zip(found, (letters[c] for c in data.targets), strict=True)) == expected
    agree(data, users=[name for name, of in windows.items() for _ in of])
    every = dataset("tiny_shakespeare(length=6, task='next')")
    agree(every, inputs=data.inputs, targets=np.column_stack([data.inputs[:, 1:], data.targets]))
    agree(every, kind=data.kind, classes=data.classes, overlap=data.overlap)
    all_damaged(root, "tiny_shakespeare", "shakespeare/input.txt", b"\xff\xfe", "no heading here\nat all")


def test_strides_skip_and_short_speakers_go(root):
    put(root, "shakespeare/input.txt", SPEECHES)
    every, third = dataset("tiny_shakespeare(length=16)"), dataset("tiny_shakespeare(length=16, stride=3)")
    agree(every, users=["First Citizen"] * len(every))  # the other says 16 characters
    agree(third, inputs=every.inputs[::3], targets=every.targets[::3], overlap=5)
    for length, stride in ((7, 1), (7, 2), (8, 4), (3, 5)):
        data = dataset(f"tiny_shakespeare(length={length}, stride={stride})")
        covered = [set(range(i * stride, i * stride + length + 1)) for i in range(20)]  # the target too
        sharing = max((j for j in range(1, 20) if covered[0] & covered[j]), default=0)
        assert data.overlap == sharing
    wrong = {
        "length=99": "tiny_shakespeare 99",
        "alphabet='leaf'": "'own' 'paper' 'leaf'",
        "stride=0": "1 80 0",
        "task='first'": "'last' 'next' 'first'",
    }
    all_refused(wrong, lambda option: refusal(dataset, f"tiny_shakespeare({option})"))


def test_speeches_by_role_of_a_play(root):
    speeches = [
        ("hamlet", "HAMLET", "To be,\nor not"),
        ("macbeth", "WITCH", "When shall we three\nmeet again"),
        ("hamlet", "GHOST", "Mark me, and listen to what I say"),
        ("hamlet", "HAMLET", "I will"),
        ("lear", "WITCH", "a\nb\nc"),
    ]
    lines = [json.dumps({"play": p, "i": i, "speaker": s, "text": t}) for i, (p, s, t) in enumerate(speeches)]
    put(root, "shakespeare/plays_speeches.jsonl.gz", "\n".join(lines))
    data = dataset("shakespeare(length=4)")
    assert {data.group_names[g] for g in data.groups} == {"hamlet: HAMLET", "lear: WITCH"}  # three lines each
    text = "To be, or not I will"
    assert "".join(LETTERS[c] for c in data.inputs[3]) == text[3:7]
    assert LETTERS[data.targets[3]] == text[7]
    assert data.classes == len(LETTERS) == len(set(LETTERS)) == 79
    assert codes("aZ\n$é ~", LETTERS).tolist() == [LETTERS.index(c) for c in "aZ    "] + [LETTERS.index(" ")]
    assert "macbeth: WITCH" in dataset("shakespeare(length=4, least_lines=2)").group_names
    unspoken = json.dumps({"play": "x", "speaker": "y"})
    all_damaged(root, "shakespeare", "shakespeare/plays_speeches.jsonl.gz", "{", unspoken, "[]", b"\xff")


def pair(label, genre, first, second):
    return json.dumps({"gold_label": label, "genre": genre, "sentence1": first, "sentence2": second, "pairID": "1"})


def test_multinli_prompts_as_bytes(root):
    train = [
        pair("neutral", "travel", "It rains.", "Naïve."),
        pair("-", "travel", "a", "b"),
        pair("entailment", "fiction", "c", "d"),
    ]
    put(root, "multinli/multinli_1.0_train.jsonl", "\n".join(train) + "\n")
    put(root, "multinli/multinli_1.0_dev_matched.jsonl.gz", pair("contradiction", "fiction", "e", "f"))
    data = dataset("multinli(length=60)")
    prompt = "mnli hypothesis: Naïve. premise: It rains. target:".encode()
    assert bytes(data.inputs[0]) == prompt + b"\0" * (60 - len(prompt))
    agree(data, targets=[1, 0], users=["travel", "fiction"], classes=3, kind="classification", group_word="genre")
    agree(data.test, targets=[2], users=["fiction"])
    assert bytes(dataset("multinli(length=20)").inputs[0]) == prompt[:20]
    following = dataset("multinli(length=60, task='next')")
    whole = prompt + b" neutral"
    assert bytes(following.inputs[0]) == (whole + b"\0" * 60)[:59]
    assert following.targets[0].tolist() == list((whole + b"\0" * 60)[1:60])
    agree(following, classes=256, kind="sequence")
    all_refused({"multinli(length=60, task='both')": "'label' 'next' 'both'"}, lambda text: refusal(dataset, text))
    spoiled = ["{", pair("maybe", "x", "a", "b"), pair("-", "x", "a", "b"), '{"gold_label": "neutral"}', b"\xff\xff"]
    all_damaged(root, "multinli", "multinli/multinli_1.0_train.jsonl", *spoiled)


data = pytest.mark.data


def told(name, *expected, slow=False):
    return pytest.param(name, *expected, marks=[data(name.partition("(")[0]), *([pytest.mark.slow] if slow else [])])


@pytest.mark.parametrize(
    ("name", "samples", "tests", "classes", "groups"),
    [
        told("fashion_mnist", 60_000, 10_000, 10, 0),
        told("mnist", 60_000, 10_000, 10, None),
        told("cifar10", 50_000, 10_000, 10, 0, slow=True),
        told("cifar100", 50_000, 10_000, 100, 20, slow=True),
        told("svhn", 73_257, 26_032, 10, 0, slow=True),
        told("multinli", 392_702, 9_815, 3, None, slow=True),
        told("femnist", None, None, 62, None, slow=True),
        told("flair(users=20, test_users=10, size=64)", None, None, 17, 20, slow=True),
        told("school", 15_362, 0, 0, 139),
        told("landmine", 14_820, 0, 2, 29),
        told("parkinson", 5_875, 0, 0, 42),
        told("heart_disease", 920, 0, 2, 4),
        told("shakespeare(stride=40)", None, 0, 79, None),
        told("tiny_shakespeare(stride=80)", None, 0, 65, None),
        told("sent140_users", None, 0, 2, 2_875),
        told("airline", None, 0, 3, 7_701),
        told("omniglot", 242 * 20, 0, 242, 160, slow=True),
    ],
)
def test_sets_have_their_published_sizes_and_classes(name, samples, tests, classes, groups):
    found = dataset(name)
    assert found.classes == classes
    assert samples in (None, len(found))
    assert tests in (None, len(found.test) if found.test is not None else 0)
    assert groups in (None, len(found.group_names))
