"""Preparation and augmentation of stacked batches, against plain loops over single images."""

from itertools import product

import numpy as np
import torch
from refusals import all_refused

from empirics.data.conversion import CIFAR10_PIXELS, Codes, Frequencies
from empirics.federation.augment import CROP_FLIP, CropFlip, DECAYING_K, FEDINIT, noise, Recipe, WORDS

ROWS, BATCH, SIDE = 3, 5, 9


def pictures(channels=3, height=SIDE, width=SIDE, seed=0):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.integers(1, 256, (ROWS, BATCH, channels, height, width), np.uint8))


def some_words(seed=1):
    return noise(seed, 4, np.array([2, 0, 7]), 1, BATCH)[:, 0]


def by_hand(image, word, augment):
    """One image: pad, crop at the drawn corner (or the middle), mirror."""
    height, width = image.shape[1:] if augment.size is None else (augment.size, augment.size)
    p = augment.padding
    padded = np.zeros((image.shape[0], image.shape[1] + 2 * p, image.shape[2] + 2 * p), image.dtype)
    padded[:, p : p + image.shape[1], p : p + image.shape[2]] = image
    down, right = padded.shape[1] - height, padded.shape[2] - width
    top, left, mirror, cropped = (int(w) for w in word)
    top, left = (
        (top % (down + 1), left % (right + 1)) if cropped < augment.crop_share * 2**31 else (down // 2, right // 2)
    )
    piece = padded[:, top : top + height, left : left + width]
    return piece[:, :, ::-1] if mirror < augment.flip_share * 2**31 else piece


def test_stacked_crops_equal_those_of_single_images():
    crops = CropFlip(2), CropFlip(4), CropFlip(3, crop_share=0.5), CropFlip(0, size=6), CropFlip(1, 4, flip_share=0.0)
    for augment, height in product(crops, (SIDE, 12)):
        images, drawn = pictures(height=height), some_words()
        found = augment(images, drawn)
        for row, i in product(range(ROWS), range(BATCH)):
            expected = by_hand(images[row, i].numpy(), drawn[row, i], augment)
            np.testing.assert_array_equal(found[row, i].numpy(), expected)
        assert found.dtype == torch.uint8


def test_the_centre_is_seen_at_test_time():
    images = pictures()
    np.testing.assert_array_equal(CROP_FLIP.centre(images), images)
    assert (CROP_FLIP.padding, CROP_FLIP.crop_share, CROP_FLIP.flip_share) == (4, 1, 0.5)
    np.testing.assert_array_equal(CropFlip(0, size=5).centre(images), images[..., 2:7, 2:7])
    assert DECAYING_K.centre(torch.zeros(2, 3, 32, 32)).shape == (2, 3, 28, 28)


def test_corners_flips_and_crops_are_drawn_as_often_as_they_should():
    drawn = noise(5, 0, np.arange(40), 10, 50).reshape(-1, WORDS)
    count = len(drawn)
    for column in range(2):
        corners = np.bincount(drawn[:, column] % 9, minlength=9) / count
        assert np.abs(corners - 1 / 9).max() < 5 * np.sqrt(1 / 9 / count)
    for column in (2, 3):
        assert abs((drawn[:, column] < 0.5 * 2**31).double().mean() - 0.5) < 5 * 0.5 / np.sqrt(count)
    assert np.abs(np.corrcoef(drawn.numpy().T) - np.eye(WORDS)).max() < 5 / np.sqrt(count)
    assert drawn.min() >= 0
    assert drawn.max() < 2**31


def test_bad_augmentations_are_refused():
    all_refused(
        [
            (lambda: CropFlip(-1), "padding 0 -1"),
            (lambda: CropFlip(size=0), "size 1 0"),
            (lambda: CropFlip(crop_share=1.5), "crop_share 0 1 1.5"),
            (lambda: CropFlip(flip_share=-0.1), "flip_share 0 1 -0.1"),
            (lambda: DECAYING_K(pictures(), some_words()), "28 (9, 9)"),
        ]
    )


def test_frequencies_are_shares_of_known_words():
    counts = torch.tensor([[2, 0, 6], [0, 0, 0]], dtype=torch.uint8)
    np.testing.assert_array_equal(Frequencies()(counts), [[0.25, 0, 0.75], [0, 0, 0]])
    assert Codes()(counts).dtype == torch.int64


def test_padding_is_black_before_and_grey_after_normalisation():
    images, drawn = pictures(), some_words()
    corner = torch.zeros_like(drawn)  # words of zero: the crop at the corner, mirrored
    before = Recipe(CIFAR10_PIXELS, CropFlip(4)).train(images, corner)
    after = Recipe(CIFAR10_PIXELS, FEDINIT).train(images, corner)
    for channel in range(3):
        np.testing.assert_allclose(
            before[:, :, channel, :4], -CIFAR10_PIXELS.mean[channel] / CIFAR10_PIXELS.std[channel], rtol=1e-5
        )
        assert (after[:, :, channel, :4] == 0).all()
    np.testing.assert_allclose(before[..., 4:, :5], after[..., 4:, :5], rtol=1e-6)
    inner = Recipe(CIFAR10_PIXELS, CropFlip(4)).train(images, drawn)
    np.testing.assert_allclose(inner, CIFAR10_PIXELS(CropFlip(4)(images, drawn)))
