"""Tables of features: the embedded sets, LIBSVM files, natural federations, sets made of another."""

import bz2
import gzip

import numpy as np
import pytest
import sklearn.datasets
from data_toys import all_damaged, mat, put, refused
from loops import each
from refusals import all_refused, calls_refused, refusal

from empirics.data.catalogue import dataset
from empirics.data.dataset import Dataset, numbered
from empirics.data.parts import fewer, held_out
from empirics.problems.tasks import task

rng = np.random.default_rng(5)


# ---- embedded ----


EMBEDDED = {
    "digits": (1797, 64, 10, "classification"),
    "iris": (150, 4, 3, "classification"),
    "wine": (178, 13, 3, "classification"),
    "breast_cancer": (569, 30, 2, "binary"),
    "diabetes": (442, 10, 0, "regression"),
}


@each(EMBEDDED, lambda name: {"name": name})
def test_embedded_sets(name):
    data, (samples, features, classes, kind) = dataset(name), EMBEDDED[name]
    assert data.inputs.shape == (samples, features)
    assert (data.name, len(data), data.classes, data.kind) == (name, samples, classes, kind)
    original = getattr(sklearn.datasets, f"load_{name}")()
    np.testing.assert_array_equal(data.inputs * (16 if name == "digits" else 1), original.data)
    np.testing.assert_array_equal(data.targets, 2 * original.target - 1 if kind == "binary" else original.target)


# ---- LIBSVM ----


def test_libsvm_files_with_a_test_set(root):
    put(root, "libsvm/a9a.bz2", bz2.compress(b"-1 3:1 11:0.5\n+1 1:-2 123:1\n-1 5:1\n"))
    put(root, "libsvm/a9a.t", b"+1 2:1\n-1 7:3\n")
    data = dataset("a9a")
    expected = np.zeros((3, 123))
    expected[0, [2, 10]], expected[1, [0, 122]], expected[2, 4] = (1, 0.5), (-2, 1), 1
    np.testing.assert_array_equal(data.inputs, expected)
    assert data.targets.tolist() == [-1, 1, -1]
    assert data.test.inputs.shape == (2, 123)
    assert data.test.targets.tolist() == [1, -1]
    assert data.kind == "binary"


def test_damaged_libsvm_files_and_those_of_one_or_three_classes_are_refused(root):
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
    np.testing.assert_array_equal(data.inputs, np.concatenate(inputs))
    np.testing.assert_array_equal(data.targets, np.concatenate(scores)[:, 0])
    assert data.groups.tolist() == [0] * 4 + [1] * 2 + [2] * 5
    assert (data.kind, data.group_word, data.group_names) == ("regression", "school", ("1", "2", "3"))
    whole = mat(X=cells(inputs), Y=cells(scores))
    spoiled = (
        whole[: len(whole) // 2],
        mat(X=cells(inputs)),
        mat(X=cells(inputs), Y=cells(scores[::-1])),
        mat(X=cells(inputs), Y=cells(scores[:2])),
        mat(X=cells([x[:, :27] for x in inputs]), Y=cells(scores)),
    )
    all_damaged(root, "school", "natural/school.mat", *spoiled)


def test_landmine_has_signs(root):
    inputs = [rng.normal(size=(n, 9)) for n in (3, 2)]
    labels = [np.array([[0], [1], [0]], np.uint8), np.array([[1], [0]], np.uint8)]
    put(root, "natural/LandmineData.mat", mat(feature=cells(inputs), label=cells(labels)))
    data = dataset("landmine")
    assert data.targets.tolist() == [-1, 1, -1, 1, -1]
    assert data.groups.tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_allclose(data.inputs, np.concatenate(inputs))


@pytest.mark.parametrize("separator", ["\t", ","])
def test_parkinson_with_tabs_or_commas(root, separator):
    table = rng.normal(size=(4, 22)).round(3)
    table[:, 0] = [7, 7, 3, 7]
    head = separator.join(["subject#", "age", *(f"c{i}" for i in range(20))])
    lines = [head, *(separator.join(map(repr, map(float, row))) for row in table)]
    put(root, "natural/parkinsons_updrs.data.gz", gzip.compress("\n".join(lines).encode()))
    total, motor = dataset("parkinson"), dataset("parkinson('motor')")
    np.testing.assert_array_equal(total.targets, table[:, 5])
    np.testing.assert_array_equal(motor.targets, table[:, 4])
    np.testing.assert_array_equal(total.inputs, np.delete(table, [0, 4, 5], axis=1))
    assert total.groups.tolist() == [1, 1, 0, 1]
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
    assert data.groups.tolist() == [0, 1, 2, 2, 3]
    assert data.group_names == names
    assert data.targets.tolist() == [-1, 1, 1, -1, -1]
    known = (233 + 286 + 233) / 3
    np.testing.assert_allclose(data.inputs[:, 4], [233, 286, known, 233, known])
    np.testing.assert_allclose(data.inputs[:, 10], [3, 2, 9 / 4, 3, 1])
    assert data.inputs[4, 9] == 0.7
    put(root, "natural/heart-disease/processed.va.data", HEAD + "1,2\n")
    refused("heart_disease")


# ---- the object ----


def test_names_are_numbered_over_both_lists():
    first, second, names = numbered(["b", "a", "b"], ["c", "a"])
    assert names == ("a", "b", "c")
    assert (first.tolist(), second.tolist()) == ([1, 0, 1], [2, 0])


def toy(**changes):
    given = {"inputs": np.array([[1.0, 5.0], [3.0, 5.0], [8.0, 5.0]]), "targets": np.array([0, 1, 0]), "classes": 2}
    return Dataset("toy", **(given | changes))


def test_labels_of_every_kind():
    assert toy().labels.tolist() == toy().as_signs().labels.tolist() == [0, 1, 0]
    assert toy().as_signs().targets.tolist() == [-1, 1, -1]
    assert toy().as_signs().as_classes().targets.tolist() == [0, 1, 0]
    calls_refused(
        (lambda: toy(classes=3).as_signs(), "toy 3"),
        (lambda: toy(kind="regression").labels, "toy regression"),
        (lambda: toy(kind="multilabel").labels, "toy multilabel"),
        (lambda: toy(inputs=np.zeros((3, 2), np.uint8)).standardised(), "toy uint8"),
        (lambda: toy(kind="guess"), "classification 'guess'"),
        (lambda: toy(targets=np.zeros(2)), "toy 3 2"),
        (lambda: toy(groups=np.zeros(4, int)), "toy 3 4"),
    )


def test_standardising_moves_the_test_set_by_the_same_numbers():
    data = toy(test=toy(inputs=np.array([[4.0, 6.0], [0.0, 5.0], [1.0, 5.0]]))).standardised()
    np.testing.assert_allclose(data.inputs.mean(0), 0, atol=1e-15)
    np.testing.assert_allclose(data.inputs.std(0), [1, 0], atol=1e-15)
    spread = np.std([1, 3, 8])
    np.testing.assert_allclose(data.test.inputs[0], [0, 1])
    np.testing.assert_allclose(data.test.inputs[1, 0], -4 / spread)


def test_parts_keep_targets_and_groups_together():
    part = toy(groups=np.array([4, 5, 6])).part(np.array([2, 0]))
    assert part.inputs[:, 0].tolist() == [8, 1]
    assert (part.targets.tolist(), part.groups.tolist()) == ([0, 0], [6, 4])


# ---- sets made of another one ----


@pytest.fixture
def numbers():
    """Sample i is the number i, of user i % 7."""
    order = np.arange(53)
    return Dataset("numbers", order[:, None] / 1.0, order % 3, 3, groups=order % 7, group_names=tuple("abcdefg"))


def test_a_test_set_is_kept_out_of_the_training_samples(numbers):
    made = held_out(numbers, share=0.3)
    assert (len(made), len(made.test)) == (37, 16)
    together = np.sort(np.concatenate([made.inputs, made.test.inputs]).ravel())
    np.testing.assert_array_equal(together, np.arange(53))
    for part in (made, made.test):
        np.testing.assert_array_equal(part.targets, part.inputs.ravel() % 3)
        np.testing.assert_array_equal(part.groups, part.inputs.ravel() % 7)
    np.testing.assert_array_equal(held_out(numbers, share=0.3).inputs, made.inputs)


def test_fewer_keeps_some_of_both_parts(numbers):
    made = fewer(held_out(numbers, share=0.3), train=11, test=5)
    assert (len(made), len(made.test)) == (11, 5)
    assert not set(made.inputs.ravel()) & set(made.test.inputs.ravel())
    assert made.name == "fewer(held_out(numbers, share=0.3), train=11, test=5)"
    assert len(fewer(numbers, train=400)) == 53


def test_they_are_written_like_any_other_set():
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
