"""Functions h by which the law of a queue is held against that of a diffusion: E h(X) and E h(Y)."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from staffing.models.diffusion.piecewise_ou import PiecewiseOU

Vector = NDArray[np.float64]
Function = Callable[[Vector], Vector]

SMOOTH: Mapping[str, Function] = {
    "x": lambda x: x,
    "x^2": lambda x: x * x,
    "x+": lambda x: np.maximum(x, 0.0),
    "sqrt(1 + x^2)": lambda x: np.sqrt(1 + x * x),
    "tanh x": np.tanh,
    "arctan x": np.arctan,
    "sin x": np.sin,
    "cos x": np.cos,
    "exp(-x^2)": lambda x: np.exp(-x * x),
    "1 / (1 + x^2)": lambda x: 1 / (1 + x * x),
    "x exp(-x^2 / 2)": lambda x: x * np.exp(-x * x / 2),
    "exp(-x+)": lambda x: np.exp(-np.maximum(x, 0.0)),
}
"""All but x^2 are Lipschitz; those of x+ have a kink at 0, where the drift has one."""

WAIT = "x >= 0"
"""The indicator whose mean is P(wait): not smooth at all, and of the same rate."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_PANELS = 48
_TAIL = 1e-20


def law_nodes(law: PiecewiseOU) -> tuple[Vector, Vector]:
    """y and w with sum h(y) w = E h(Y) for h smooth on either side of 0; one law, its parameters plain numbers.

    Gauss-Legendre panels between quantiles of probability 1e-20 from the ends: to 1e-13 for functions of the size of
    those in `SMOOTH`.
    """
    low, high = float(law.quantile(_TAIL)), float(-_mirrored(law).quantile(_TAIL))
    ends = np.concatenate(
        [np.linspace(min(low, -1e-9), 0, _PANELS), np.linspace(0, max(high, 1e-9), _PANELS)[1:]]
    )
    left, right = ends[:-1, np.newaxis], ends[1:, np.newaxis]
    y = ((left + right) / 2 + (right - left) / 2 * _NODES).ravel()
    return y, ((right - left) / 2 * _WEIGHTS).ravel() * law.density(y)


def _mirrored(law: PiecewiseOU) -> PiecewiseOU:
    """The law of -Y."""
    return PiecewiseOU(-law.drift, law.theta, law.pull, law.variance)
