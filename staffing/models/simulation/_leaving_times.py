"""When those who wait leave the queue, answered or not: a binary heap with the earliest time on top."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def join(leaving: Floats, waiting: int, time: float) -> None:
    """Add one who leaves at this time to the `waiting` in the heap, the first entries of `leaving`."""
    node = waiting
    while node > 0 and leaving[(node - 1) >> 1] > time:
        leaving[node] = leaving[(node - 1) >> 1]
        node = (node - 1) >> 1
    leaving[node] = time


@njit(cache=True, nogil=True)
def still_waiting(leaving: Floats, waiting: int, now: float) -> int:
    """How many of the `waiting` leave after `now`: from here on, the heap is theirs."""
    while waiting > 0 and leaving[0] <= now:
        waiting -= 1
        last = leaving[waiting]
        node, child = 0, 1
        while child < waiting:
            if child + 1 < waiting and leaving[child + 1] < leaving[child]:
                child += 1
            if leaving[child] >= last:
                break
            leaving[node] = leaving[child]
            node, child = child, 2 * child + 1
        leaving[node] = last
    return waiting
