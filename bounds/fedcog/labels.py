"""Integer numbers of generated samples per label, by two ways of rounding the shares.

The shares are the bound ``fedcog.complementary_allocation``, which leaves the rounding open. ``floors`` rounds as the
released code does, ``largest_remainder`` such that no sample is lost. All counts are exact integers, so that floating
point decides no ties.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import DomainError


def complement(counts: Sequence[int]) -> list[int]:
    """Return how many samples each class lacks to the most frequent one: ``max(d) - d`` (FedCOG, A.1.1)."""
    counts = _whole("class_count", counts)
    most = max(counts)
    return [most - count for count in counts]


def uniform(classes: int, per_class: int) -> list[int]:
    """Return ``per_class`` samples for every class (FedCOG, Section 4.1, uniform target labels)."""
    if classes < 1 or per_class < 0:
        raise DomainError(f"classes must be >= 1 and samples per class >= 0; got {classes} and {per_class}")
    return [per_class] * classes


def floors(lack: Sequence[int], total: int) -> list[int]:
    """Return ``floor(total * lack_c / sum(lack))``, as in FedCOG's released code: at most ``total`` samples in all."""
    shares = _shares(lack, total)
    return [total * share // sum(shares) for share in shares]


def largest_remainder(lack: Sequence[int], total: int) -> list[int]:
    """Return integer shares of ``total`` in proportion to ``lack`` that sum to ``total``.

    Every class gets the floor of its share; the rest goes to the largest fractions, and to the lower class in a tie.
    """
    shares = _shares(lack, total)
    counts = floors(shares, total)
    by_remainder = sorted(range(len(shares)), key=lambda c: (-(total * shares[c] % sum(shares)), c))
    for c in by_remainder[: total - sum(counts)]:
        counts[c] += 1
    return counts


def _shares(lack: Sequence[int], total: int) -> list[int]:
    shares = _whole("complementary_count", lack)
    if total < 0:
        raise DomainError(f"generated_samples must be >= 0; got {total}")
    if sum(shares) == 0:
        raise DomainError(
            "complementary_count must have a positive entry: classes that are all equally frequent lack nothing, "
            "and the paper does not say what to generate then"
        )
    return shares


def _whole(name: str, counts: Sequence[int]) -> list[int]:
    """Return the counts as Python integers; raise ``DomainError`` if one is not a nonnegative integer."""
    if len(counts) == 0:
        raise DomainError(f"{name} must hold at least one number; got an empty list")
    for count in counts:
        if not (count >= 0 and count % 1 == 0):
            raise DomainError(f"{name} must be integers >= 0; got {count}")
    return [int(count) for count in counts]
