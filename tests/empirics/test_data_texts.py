"""Tweets, Shakespeare and MultiNLI, each read from a miniature written here, and refused when it is damaged."""

import csv
import gzip
import io
import json

import numpy as np
from data_toys import all_damaged, put, refused
from refusals import all_refused, refusal

from empirics.data.catalogue import dataset
from empirics.data.shakespeare import codes, LETTERS
from empirics.data.tweets import bags, vocabulary


def rows(*lines):
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue()


def users(data):
    return [data.group_names[g] for g in data.groups]


# ---- bags of words ----


def test_words_are_ranked_with_ties_by_the_alphabet_and_counted_up_to_a_byte():
    texts = ["so so sad", "zoo sad  so", "apple\tzoo"]
    assert list(vocabulary(texts, 3)) == ["so", "sad", "zoo"]
    assert list(vocabulary(texts, 99)) == ["so", "sad", "zoo", "apple"]
    counts = bags(["b a b", "c", "", "a " * 300], {"a": 0, "b": 1})
    assert counts.tolist() == [[1, 2], [0, 0], [0, 0], [255, 0]]
    assert counts.dtype == np.uint8


def test_sent140_by_user_from_json_lines(root):
    lines = [
        {"user": "u7", "y": [0, 1], "x": ["so sad", "so so glad"]},
        {"user": "u2", "y": [1, 1], "x": ["rare", "glad day"]},
    ]
    put(root, "tweets/sent140_leaf_k30_test.jsonl.gz", "\n".join(map(json.dumps, lines)) + "\n")
    data = dataset("sent140_users(words=3)")  # so 3, glad 2, then day before rare and sad
    assert data.inputs.tolist() == [[1, 0, 0], [2, 1, 0], [0, 1, 1]]  # "rare" is left with nothing and goes
    assert data.targets.tolist() == [0, 1, 1]
    assert users(data) == ["u7", "u7", "u2"]
    all_refused({"sent140_users(words=0)": "words 1 0"}, lambda text: refusal(dataset, text))
    spoiled = ['{"user": "u1"', json.dumps({"user": "u", "y": [0], "x": []}), '{"user": "u"}', ""]
    file = "tweets/sent140_leaf_k30_test.jsonl.gz"
    all_damaged(root, "sent140_users", file, *spoiled, gzip.compress(b"\xff\xfe"))


def test_sent140_sample_and_airline_from_csv(root):
    sample = rows(["user", "label", "text"], ["v1", 0, 'a "b", c\nd'], ["v2", 1, "c"])
    put(root, "tweets/sent140_20k_sample.csv.gz", sample)
    data = dataset("sent140_sample")
    assert data.inputs.tolist() == [[1, 1, 1, 1], [1, 0, 0, 0]]  # c leads
    assert data.targets.tolist() == [0, 1]
    head = ["user", "airline", "sentiment", "confidence", "text"]
    airline = rows(
        head, ["u1", "X", "positive", 1, "nice"], ["u1", "X", "negative", 1, "bad"], ["u4", "Y", "neutral", 1, "eh"]
    )
    put(root, "tweets/twitter_us_airline.csv.gz", airline)
    data = dataset("airline")
    assert data.targets.tolist() == [2, 0, 1]
    assert users(data) == ["u1", "u1", "u4"]
    mood = rows(["user", "mood", "text"], ["v1", 0, "a"])
    happy = rows(["user", "label", "text"], ["v1", "happy", "a"])
    all_damaged(root, "sent140_sample", "tweets/sent140_20k_sample.csv.gz", mood, happy)
    all_damaged(root, "airline", "tweets/twitter_us_airline.csv.gz", rows(head, ["u1", "X", "furious", 1, "nice"]))


def test_sent140_from_the_original_csv_in_latin_1(root):
    text = rows(["4", "11", "Mon", "NO_QUERY", "josé", "olé olé"], ["0", "12", "Mon", "NO_QUERY", "ann", "no"])
    name = "tweets/training.1600000.processed.noemoticon.csv"
    put(root, name, text, "latin-1")
    data = dataset("sent140_csv")
    assert data.inputs.tolist() == [[2, 0], [0, 1]]
    assert data.targets.tolist() == [1, 0]
    assert users(data) == ["josé", "ann"]
    all_damaged(root, "sent140_csv", name, rows(["2", "11", "Mon", "Q", "ann", "neither"]), rows(["4", "11", "Mon"]))


def leaf(content):
    return json.dumps({"users": list(content), "num_samples": [], "user_data": content})


def test_sent140_from_leaf_keeps_the_words_of_training(root):
    posts = [
        ["1", "Mon", "Q", "ann", "so sad", "x"],
        ["2", "Mon", "Q", "ann", "glad", "x"],
        ["3", "Mon", "Q", "bob", "sad news", "x"],
    ]
    put(root, "sent140/train/a.json", leaf({"bob": {"x": posts[:1], "y": [0]}, "ann": {"x": posts[1:2], "y": [1]}}))
    put(root, "sent140/test/a.json", leaf({"bob": {"x": posts[2:], "y": [0]}}))
    data = dataset("sent140")
    assert data.inputs.tolist() == [[0, 1, 1], [1, 0, 0]]  # glad, sad, so
    assert data.test.inputs.tolist() == [[0, 1, 0]]
    assert (users(data), users(data.test)) == (["bob", "ann"], ["bob"])
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
    assert (data.kind, data.classes, data.group_word) == ("sequence", len(letters), "role")
    windows = {name: [(t[i : i + 6], t[i + 6]) for i in range(len(t) - 6)] for name, t in said.items()}
    expected = windows["First Citizen"] + windows["All"]
    found = ["".join(letters[c] for c in row) for row in data.inputs]
    assert list(zip(found, (letters[c] for c in data.targets), strict=True)) == expected
    assert users(data) == ["First Citizen"] * len(windows["First Citizen"]) + ["All"] * len(windows["All"])
    assert data.overlap == 6


def test_a_language_model_is_given_the_character_after_every_position(root):
    put(root, "shakespeare/input.txt", SPEECHES)
    last, every = dataset("tiny_shakespeare(length=6)"), dataset("tiny_shakespeare(length=6, task='next')")
    assert every.targets.shape == every.inputs.shape == last.inputs.shape
    np.testing.assert_array_equal(every.targets, np.column_stack([last.inputs[:, 1:], last.targets]))
    assert (every.kind, every.classes, every.overlap) == (last.kind, last.classes, last.overlap)
    all_damaged(root, "tiny_shakespeare", "shakespeare/input.txt", b"\xff\xfe", "no heading here\nat all")


def test_strides_skip_and_short_speakers_go(root):
    put(root, "shakespeare/input.txt", SPEECHES)
    every, third = dataset("tiny_shakespeare(length=16)"), dataset("tiny_shakespeare(length=16, stride=3)")
    assert set(users(every)) == {"First Citizen"}  # the other says 16 characters
    np.testing.assert_array_equal(third.inputs, every.inputs[::3])
    np.testing.assert_array_equal(third.targets, every.targets[::3])
    assert third.overlap == 5
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


def test_the_papers_alphabet_has_79_letters():
    assert len(LETTERS) == len(set(LETTERS)) == 79
    assert "\n" not in LETTERS
    assert codes("aZ\n$é ~", LETTERS).tolist() == [LETTERS.index(c) for c in "aZ    "] + [LETTERS.index(" ")]


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
    assert set(users(data)) == {"hamlet: HAMLET", "lear: WITCH"}  # three lines each
    text = "To be, or not I will"
    assert "".join(LETTERS[c] for c in data.inputs[3]) == text[3:7]
    assert LETTERS[data.targets[3]] == text[7]
    assert data.classes == 79
    assert "macbeth: WITCH" in users(dataset("shakespeare(length=4, least_lines=2)"))
    unspoken = json.dumps({"play": "x", "speaker": "y"})
    all_damaged(root, "shakespeare", "shakespeare/plays_speeches.jsonl.gz", "{", unspoken, "[]", b"\xff")


# ---- MultiNLI ----


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
    assert data.targets.tolist() == [1, 0]
    assert data.test.targets.tolist() == [2]
    assert (users(data), users(data.test)) == (["travel", "fiction"], ["fiction"])
    assert (data.classes, data.kind, data.group_word) == (3, "classification", "genre")
    assert bytes(dataset("multinli(length=20)").inputs[0]) == prompt[:20]
    following = dataset("multinli(length=60, task='next')")
    whole = prompt + b" neutral"
    assert bytes(following.inputs[0]) == (whole + b"\0" * 60)[:59]
    assert following.targets[0].tolist() == list((whole + b"\0" * 60)[1:60])
    assert (following.classes, following.kind) == (256, "sequence")
    all_refused({"multinli(length=60, task='both')": "'label' 'next' 'both'"}, lambda text: refusal(dataset, text))
    spoiled = ["{", pair("maybe", "x", "a", "b"), pair("-", "x", "a", "b"), '{"gold_label": "neutral"}', b"\xff\xff"]
    all_damaged(root, "multinli", "multinli/multinli_1.0_train.jsonl", *spoiled)
