"""Image sets, each read from a miniature written here in its original format, and refused when it is damaged."""

import gzip
import io
import json
import lzma
import struct
import zipfile

import numpy as np
from data_toys import all_damaged, mat, put, refused
from PIL import Image

from empirics.data.catalogue import dataset

rng = np.random.default_rng(3)


# ---- IDX ----


def idx(array, code):
    head = struct.pack(">HBB", 0, code, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


def write_idx(root, folder, train=7, test=4):
    arrays = {}
    for part, n in (("train", train), ("t10k", test)):
        arrays[part] = rng.integers(0, 256, (n, 28, 28), np.uint8), rng.integers(0, 10, n).astype(np.uint8)
        put(root, f"{folder}/{part}-images-idx3-ubyte.gz", gzip.compress(idx(arrays[part][0], 8)))
        put(root, f"{folder}/{part}-labels-idx1-ubyte.gz", gzip.compress(idx(arrays[part][1], 8)))
    return arrays


def test_fashion_mnist_from_idx_files(root):
    arrays = write_idx(root, "fashion-mnist")
    data = dataset("fashion_mnist")
    for part, found in (("train", data), ("t10k", data.test)):
        np.testing.assert_array_equal(found.inputs[:, 0], arrays[part][0])
        np.testing.assert_array_equal(found.targets, arrays[part][1])
        assert found.inputs.dtype == np.uint8
    assert data.groups is None
    assert (data.kind, data.classes, data.licence) == ("classification", 10, "MIT")


def test_mnist_takes_its_writers_from_qmnist(root):
    write_idx(root, "mnist")
    assert dataset("mnist").groups is None
    train = rng.integers(0, 9, (7, 8)).astype(">i4")
    test = rng.integers(0, 9, (9, 8)).astype(">i4")
    train[:, 2] = [300, 300, 17, 17, 17, 902, 300]
    test[:, 2] = [44, 45, 44, 44, 999, 999, 999, 999, 999]  # QMNIST's test set goes on after MNIST's ends
    put(root, "mnist/qmnist-train-labels-idx2-int.gz", gzip.compress(idx(train, 12)))
    put(root, "mnist/qmnist-test-labels-idx2-int.gz", gzip.compress(idx(test, 12)))
    data = dataset("mnist")
    assert [data.group_names[g] for g in data.groups] == ["300", "300", "17", "17", "17", "902", "300"]
    assert [data.group_names[g] for g in data.test.groups] == ["44", "45", "44", "44"]
    assert "999" not in data.group_names
    put(root, "mnist/qmnist-train-labels-idx2-int.gz", gzip.compress(idx(train[:5], 12)))
    refused("mnist", "7")


def test_damaged_idx_files_are_refused(root):
    good = idx(write_idx(root, "mnist")["train"][1], 8)
    spoiled = {
        "short": good[:-1],
        "long": good + b"\0",
        "no magic": b"\1" + good[1:],
        "no type": good[:2] + b"\7" + good[3:],
        "head cut": good[:9],
        "empty": b"",
        "label 10": idx(np.full(7, 10, np.uint8), 8),
        "a label missing": idx(np.zeros(6, np.uint8), 8),
    }
    all_damaged(root, "mnist", "mnist/train-labels-idx1-ubyte.gz", *map(gzip.compress, spoiled.values()))


# ---- CIFAR ----


def records(images, *labels):
    return np.concatenate([np.stack(labels, 1).astype(np.uint8), images.reshape(len(images), -1)], axis=1).tobytes()


def test_cifar10_joins_its_batches_in_order(root):
    images, labels = rng.integers(0, 256, (18, 3, 32, 32), np.uint8), rng.integers(0, 10, 18)
    for i in range(5):
        some = slice(3 * i, 3 * i + 3)
        put(root, f"cifar-10/data_batch_{i + 1}.bin.xz", lzma.compress(records(images[some], labels[some])))
    put(root, "cifar-10/test_batch.bin", records(images[15:], labels[15:]))
    data = dataset("cifar10")
    np.testing.assert_array_equal(data.inputs, images[:15])
    np.testing.assert_array_equal(data.targets, labels[:15])
    np.testing.assert_array_equal(data.test.inputs, images[15:])
    np.testing.assert_array_equal(data.test.targets, labels[15:])
    assert data.prepare.mean == (0.4914, 0.4822, 0.4465)
    whole = records(images[15:], labels[15:])
    all_damaged(root, "cifar10", "cifar-10/test_batch.bin", whole[:-1], b"", records(images[15:], labels[15:] + 10))


def test_cifar100_has_coarse_classes_as_groups(root):
    images, coarse, fine = rng.integers(0, 256, (5, 3, 32, 32), np.uint8), [19, 3, 3, 0, 7], [99, 41, 12, 0, 57]
    put(root, "cifar-100/train.bin", records(images, coarse, fine))
    put(root, "cifar-100/test.bin.xz", lzma.compress(records(images[:2], coarse[:2], fine[:2])))
    data = dataset("cifar100")
    np.testing.assert_array_equal(data.inputs, images)
    assert data.targets.tolist() == fine
    assert data.groups.tolist() == coarse
    assert data.test.targets.tolist() == fine[:2]
    assert (data.classes, data.group_word, len(data.group_names)) == (100, "coarse class", 20)
    put(root, "cifar-100/train.bin", records(images, coarse, np.add(fine, 1)))
    refused("cifar100", "100")


# ---- SVHN ----


def test_svhn_turns_columns_into_images_and_ten_into_zero(root):
    images, labels = rng.integers(0, 256, (32, 32, 3, 4), np.uint8), np.array([[10], [1], [9], [10]], np.uint8)
    put(root, "svhn/train_32x32.mat", mat(X=images, y=labels))
    put(root, "svhn/test_32x32.mat", mat(X=images[..., :2], y=labels[:2]))
    data = dataset("svhn")
    assert data.targets.tolist() == [0, 1, 9, 0]
    assert data.inputs.shape == (4, 3, 32, 32)
    assert data.inputs[2, 1, 5, 30] == images[5, 30, 1, 2]
    assert data.test.targets.tolist() == [0, 1]
    whole = mat(X=images, y=labels)
    all_damaged(
        root, "svhn", "svhn/train_32x32.mat", whole[:4000], mat(X=images), mat(X=images[:31], y=labels), b"text"
    )


# ---- FEMNIST ----


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
    np.testing.assert_array_equal(data.inputs.reshape(4, 784), pixels[:4])
    np.testing.assert_array_equal(data.test.inputs.reshape(1, 784), pixels[4:])
    assert data.targets.tolist() == [61, 4, 0, 9]
    assert [data.group_names[g] for g in data.groups] == ["w9", "w9", "w1", "w1"]
    assert [data.group_names[g] for g in data.test.groups] == ["w9"]
    assert (data.classes, data.group_word) == (62, "writer")
    all_damaged(
        root,
        "femnist",
        "femnist/train/all_data_1.json",
        b'{"users": ["w1"',
        b"[]",
        b'{"users": []}',
        leaf({"w1": {"x": [[0.5] * 784], "y": [1, 2]}}),
        leaf({"w1": {"x": [[0.5] * 783], "y": [1]}}),
        leaf({"w1": {"x": [[1.5] * 784], "y": [1]}}),
    )


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
    again = {
        "s2/Greek/character01/0003_01.png": first[names[2]],
        "s2/Tifinagh/character05/0009_02.png": first[names[0]],
    }
    put(root, "omniglot/images_background_small1.zip", omniglot_zip(first))
    path = put(root, "omniglot/images_background_small2.zip", omniglot_zip(again))
    data = dataset("omniglot(size=10)")
    np.testing.assert_array_equal(data.inputs[:3, 0], np.where(drawings[:3], 0, 255))
    assert len(data) == 4  # the Greek drawing lies in both archives
    assert data.classes == 4
    assert len(set(data.targets.tolist())) == 4
    drawers = [data.group_names[g] for g in data.groups]
    assert drawers == ["Latin/01", "Latin/07", "Greek/01", "Tifinagh/02"]
    whole = path.read_bytes()
    foreign = omniglot_zip({"s2/Greek/character02/0003_01.png": b"no picture"})
    all_damaged(root, "omniglot", "omniglot/images_background_small2.zip", whole[:-30], foreign, b"")


def test_a_smaller_omniglot_averages_areas(root):
    picture = np.zeros((4, 4), np.uint8)
    picture[:2, :2] = 255
    picture[2, 2] = 200
    one = omniglot_zip({"s/A/character01/1_01.png": encoded(picture, "PNG")})
    other = omniglot_zip({"s/B/character01/1_01.png": encoded(picture, "PNG")})
    put(root, "omniglot/images_background_small1.zip", one)
    put(root, "omniglot/images_background_small2.zip", other)
    assert dataset("omniglot(size=2)").inputs[0, 0].tolist() == [[0, 255], [255, 205]]


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
    assert data.kind == "multilabel"
    assert data.classes == 4
    owners = {data.group_names[g] for g in data.groups}
    assert len(owners) == 2
    assert owners < {"u0", "u1", "u2", "u3"}
    mine = [i for i in range(9) if f"u{i % 4}" in owners]
    assert np.abs(data.inputs[:, 1, 3, 3].astype(int) - [10 + i for i in mine]).max() <= 2  # JPEG is not exact
    assert data.inputs.shape == (len(mine), 3, 8, 8)
    words = ["animal", "art", "food", "plant"]
    assert data.targets.tolist() == [[float(w in rows[i]["labels"]) for w in words] for i in mine]
    assert data.test.targets.tolist() == [[1, 0, 0, 0]]
    drawn = {dataset(f"flair(users=2, size=8, seed={seed})").group_names for seed in range(6)}
    assert len(drawn) > 1


def test_damaged_flair_is_refused(root):
    rows = [photo("u", 10, ["plant"], "train"), photo("t", 11, ["art"], "test")]
    write_flair(root, rows)
    put(root, "flair/small_images/10.jpg", b"\xff\xd8 no picture")
    refused("flair")
    cards = (b"{", json.dumps(rows[:1]).encode(), json.dumps([{"labels": []}]).encode())
    all_damaged(root, "flair", "flair/labels_and_metadata.json", *cards)
