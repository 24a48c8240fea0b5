"""Quadrature over a standard normal score whose integrand turns at known places."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

FARTHEST = 8.0
"""Scores beyond this have probability 1e-15."""
_FAR = 4.7

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


_GENTLE = 0.7
_FEWEST = 2


def gauss_size(turning: float) -> int:
    """How many Gauss nodes do for f as smooth as Phi(turning z + a), Phi the normal distribution function; else 0."""
    return _FEWEST + math.ceil(9 * turning) if turning <= _GENTLE else 0


@cache
def gauss_nodes(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss-Hermite nodes, for the standard normal law."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(size)
    return np.asarray(nodes, np.float64), np.asarray(weights / weights.sum(), np.float64)


def smooth_step(turning: float) -> float:
    """How far apart even nodes may be for f as smooth as Phi(turning z + a)."""
    return 1.25 / math.hypot(1.0, turning)


def smooth_nodes(turning: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes z and weights with sum f(z) w close to E f(Z), Z standard normal, f as smooth as Phi(turning z + a).

    Gauss-Hermite where f turns gently. Otherwise even nodes, whose error falls with their distance h as
    exp(-(2 pi / h)^2 / (2 (1 + turning^2))): so many as the turn needs, where Gauss-Hermite
    would need the square of that. Error 3e-6 for that f.
    """
    if turning == 0:
        return np.zeros(1), np.ones(1)
    if size := gauss_size(turning):
        return gauss_nodes(size)
    step = smooth_step(turning)
    count = math.ceil(_FAR / step)
    z = step * np.arange(-count, count + 1, dtype=np.float64)
    return z, np.exp(-0.5 * z * z) / np.exp(-0.5 * z * z).sum()
