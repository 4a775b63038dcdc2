"""Random order and stratified samples that depend on a seed and on the things drawn, never on their order."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]


def random_keys(values: npt.ArrayLike, seed: int, purpose: str) -> Keys:
    """Return a pseudo-random key per 64-bit value: the finaliser of splitmix64, salted by seed and purpose."""
    salt = int.from_bytes(blake2b(f"{seed}:{purpose}".encode(), digest_size=8).digest(), "little")
    keys = np.asarray(values, np.uint64) ^ np.uint64(salt)
    with np.errstate(over="ignore"):
        for _ in range(2):
            keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            keys = (keys ^ (keys >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15)
    return keys


def uniform_quotas(sizes: Sequence[int], total: int) -> list[int]:
    """Divide a total over strata as evenly as their sizes allow; strata that are too small give all they have.

    The last units go to the first strata that still have members.
    """
    quotas = [0] * len(sizes)
    left = min(total, sum(sizes))
    for rank, place in enumerate(sorted(range(len(sizes)), key=lambda place: (sizes[place], -place))):
        quotas[place] = min(sizes[place], left // (len(sizes) - rank))
        left -= quotas[place]
    return quotas


def proportional_quotas(sizes: Sequence[int], total: int) -> list[int]:
    """Divide a total over strata in proportion to their sizes, by the largest remainders."""
    everything = sum(sizes)
    total = min(total, everything)
    if not total:
        return [0] * len(sizes)
    quotas = [size * total // everything for size in sizes]
    remainders = sorted(range(len(sizes)), key=lambda place: (-(sizes[place] * total % everything), place))
    for place in remainders[: total - sum(quotas)]:
        quotas[place] += 1
    return quotas


def stratified_sample(strata: npt.NDArray[np.int64], keys: Keys, total: int) -> npt.NDArray[np.int64]:
    """Return the positions of a sample with strata of uniform sizes, the smallest keys of each, in order."""
    names, sizes = np.unique(strata, return_counts=True)
    chosen = [np.empty(0, np.int64)]
    for name, quota in zip(names.tolist(), uniform_quotas(sizes.tolist(), total), strict=True):
        members = np.flatnonzero(strata == name)
        chosen.append(members[np.argsort(keys[members], kind="stable")[:quota]])
    return np.sort(np.concatenate(chosen))
