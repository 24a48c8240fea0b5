"""Quadrature over a standard normal score whose integrand turns at known places."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FARTHEST = 8.0
"""Scores beyond this have probability 1e-15."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def score_nodes(turns: Sequence[float], width: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes z and weights with sum f(z) w close to E f(Z), Z standard normal.

    Gauss-Legendre panels that meet at every turn and widen fourfold away from it, starting from `width`, the
    distance over which f changes there. Smooth f: error about 1e-12 with 40 nodes.
    """
    kinks = {-FARTHEST, *(turn for turn in turns if abs(turn) < FARTHEST)}
    ends = {*kinks, 0.0, FARTHEST}
    for turn in turns:
        step = max(width, 1e-6)
        while step < FARTHEST:
            ends.update((turn - step, turn + step))
            step *= 4.0
    edges: list[float] = []
    for end in sorted(e for e in ends if abs(e) <= FARTHEST):
        if edges and end - edges[-1] < 0.1 * min(width, 1.0) and edges[-1] not in kinks:
            edges.pop()
        if not edges or end in kinks or end - edges[-1] >= 0.1 * min(width, 1.0):
            edges.append(end)
    edges[-1] = FARTHEST
    low, high = np.array(edges[:-1]), np.array(edges[1:])
    half = 0.5 * (high - low)[:, np.newaxis]
    z = (0.5 * (low + high)[:, np.newaxis] + half * _NODES).ravel()
    weights = (half * _WEIGHTS).ravel() * np.exp(-0.5 * z * z)
    return z, weights / weights.sum()
