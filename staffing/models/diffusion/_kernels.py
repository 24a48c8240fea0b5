"""A birth-death chain in time as arithmetic."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, error_model="numpy", nogil=True)
def uniformised(
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    weights: NDArray[np.float64],
    first: NDArray[np.int64],
    law: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Add sum_k weights[j, k] (law after first[j] + k steps) to out[j] for each time j; `law` is used up.

    up[i] and down[i] are the chances of a step from i to i + 1 and to i - 1; every term is positive.
    """
    size = law.size
    steps = 0
    for j in range(first.size):
        steps = max(steps, first[j] + weights.shape[1])
    following = np.empty_like(law)
    for k in range(steps):
        for j in range(first.size):
            at = k - first[j]
            if 0 <= at < weights.shape[1]:
                w = weights[j, at]
                if w > 0.0:
                    for i in range(size):
                        out[j, i] += w * law[i]
        for i in range(size):
            value = law[i] * (1.0 - up[i] - down[i])
            if i > 0:
                value += law[i - 1] * up[i - 1]
            if i < size - 1:
                value += law[i + 1] * down[i + 1]
            # Chances too small to matter would be computed slowly, one subnormal number after another.
            following[i] = value if value > 1e-290 else 0.0
        law, following = following, law
