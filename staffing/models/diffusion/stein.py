"""Stein's method, computed: the chain's Poisson equation, its differences, and the generators compared term by term."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from staffing.models.diffusion.chain import BirthDeathChain
from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.diffusion.smooth_functions import Function, law_nodes

Vector = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
_SEEN = 1e-12
"""Stein factors are sought among states that have this chance on either side."""


def poisson_differences(chain: BirthDeathChain, h: Function) -> Vector:
    """f(x + 1) - f(x) for the solution of lam (f(x + 1) - f(x)) - d_x (f(x) - f(x - 1)) = h(x) - E h(X).

    With F and F' the chances of at most x and of more, and D h(w) = h(w + 1) - h(w),

        lam p(x) (f(x + 1) - f(x)) = -F'(x) sum_(w <= x) F(w) D h(w) - F(x) sum_(w > x) F'(w) D h(w):

    sums of one sign for monotone h, so that nothing cancels, however unlikely the state.

    Parameters
    ----------
    chain : BirthDeathChain
        The law p of X, with states x_0, ..., x_N.
    h : function
        Of the scaled states (x - n) / sqrt(n).

    Returns
    -------
    array, shape (N,)
        At x_0, ..., x_(N - 1).
    """
    p = chain.chances
    rises = np.diff(h(chain.scaled))
    most, more = np.cumsum(p)[:-1], np.cumsum(p[::-1])[::-1][1:]
    low = np.cumsum(most * rises)
    high = np.cumsum((more * rises)[::-1])[::-1]
    high = np.concatenate([high[1:], [0.0]])
    return -(more / p[:-1] * low + most / p[:-1] * high) / chain.arrival_rate


@dataclass(frozen=True)
class SteinComparison:
    """E h(X) - E h(Y) of one function, term by term, beside what it is; X scaled, Y the diffusion's."""

    difference: float
    """E h(X) - E h(Y) from the two laws."""
    terms: dict[str, float]
    """What it is made of; they add up to it.

    drift: the chain's drift is not the diffusion's, (b_X - b_Y) f'; 0 where death rates are linear.
    variance: (a_X - a_Y) f'' / 2, the chain's variance changing with the state.
    third: the rest of Taylor's expansion of the chain's steps, of third order in them.
    kink: that rest within one step of 0, where f''' jumps because the drift has a kink.
    lattice: h - E h(X) less the chain's generator between its states, where f is a spline.
    """
    sizes: dict[str, float]
    """The means of the terms' absolute values, under Y."""
    factors: tuple[float, float, float]
    """Stein factors: the greatest first, second and third difference of f, over the step to that power."""
    factor_bound: float
    """A bound by the factors M alone, but for the lattice's term.

    M_1 E|b_X - b_Y| + M_2 E|a_X - a_Y| / 2 + M_3 E a_X / (6 sqrt(n)).
    """

    @property
    def bound(self) -> float:
        """|E h(X) - E h(Y)| is no more than the sum of the sizes."""
        return sum(self.sizes.values())


def stein_comparison(chain: BirthDeathChain, law: PiecewiseOU, h: Function) -> SteinComparison:
    """E h(X) - E h(Y) by comparing generators on the solution f of the chain's Poisson equation.

    f, known at the states, is made a cubic spline, linear beyond them. Y is stationary, so E G_Y f(Y) = 0, and

        E h(X) - E h(Y) = -E (h(Y) - E h(X) - G_Y f(Y)) = -E (G_X f - G_Y f)(Y) - E (h - E h(X) - G_X f)(Y)

    with G_X the chain's generator, its death rates linear between whole numbers, from any y. Exact but for rounding and
    the quadrature over the law of Y, six nodes from one state to the next: to about 1e-10 n^(1/2).

    Parameters
    ----------
    chain : BirthDeathChain
        The law of X = (x - n) / sqrt(n).
    law : PiecewiseOU
        The law of Y, its parameters plain numbers.
    h : function
        With two derivatives but for a kink at 0.

    References
    ----------
    Braverman, Dai and Feng (2016), Stein's method for steady-state diffusion approximations: an introduction through
    the Erlang-A and Erlang-C models; Braverman (2022), The prelimit generator comparison approach of Stein's method.
    """
    n, lam = chain.agents, chain.arrival_rate
    step = 1 / math.sqrt(n)
    x, p = chain.scaled, chain.chances
    mean = float(p @ h(x))
    first = poisson_differences(chain, h)
    spline = _Smooth(x, first, int(p.argmax()))
    y, w = _nodes(law, x)

    deaths = chain.death_rate(n + y / step)
    b_x, a_x = step * (lam - deaths), step**2 * (lam + deaths)
    b_y = law.drift + law.pull * np.maximum(-y, 0.0) - law.theta * np.maximum(y, 0.0)
    here, slope, bend = spline.value(y), spline.slope(y), spline.bend(y)
    generator = lam * (spline.value(y + step) - here) - deaths * (here - spline.value(y - step))
    rest = generator - b_x * slope - a_x * bend / 2
    near = np.abs(y) < step
    parts = {
        "drift": (b_x - b_y) * slope,
        "variance": (a_x - law.variance) / 2 * bend,
        "third": np.where(near, 0.0, rest),
        "kink": np.where(near, rest, 0.0),
        "lattice": h(y) - mean - generator,
    }
    sizes = {name: float(w @ np.abs(part)) for name, part in parts.items()}
    factors = _factors(first, p, step)
    nodes, weights = law_nodes(law)
    return SteinComparison(
        difference=mean - float(weights @ h(nodes)),
        terms={name: -float(w @ part) for name, part in parts.items()},
        sizes=sizes,
        factors=factors,
        factor_bound=float(
            factors[0] * (w @ np.abs(b_x - b_y))
            + factors[1] * (w @ np.abs(a_x - law.variance)) / 2
            + factors[2] * (w @ a_x) * step / 6
        ),
    )


def _factors(first: Vector, p: Vector, step: float) -> tuple[float, float, float]:
    seen = (np.cumsum(p) > _SEEN) & (np.cumsum(p[::-1])[::-1] > _SEEN)
    inside = first[seen[:-1] & seen[1:]]
    one, two, three = (float(np.abs(np.diff(inside, order)).max(initial=0.0)) for order in range(3))
    return one / step, two / step**2, three / step**3


class _Smooth:
    """f as a spline through its differences at the states, linear beyond."""

    def __init__(self, x: Vector, first: Vector, middle: int) -> None:
        values = np.concatenate([[0.0], np.cumsum(first)])
        self._low, self._high = float(x[0]), float(x[-1])
        self._spline = CubicSpline(x, values - values[middle])

    def value(self, y: Vector) -> Vector:
        at = np.clip(y, self._low, self._high)
        return np.asarray(self._spline(at) + self._spline(at, 1) * (y - at))

    def slope(self, y: Vector) -> Vector:
        return np.asarray(self._spline(np.clip(y, self._low, self._high), 1))

    def bend(self, y: Vector) -> Vector:
        outside = (y < self._low) | (y > self._high)
        return np.where(outside, 0.0, self._spline(np.clip(y, self._low, self._high), 2))


def _nodes(law: PiecewiseOU, x: Vector) -> tuple[Vector, Vector]:
    """Nodes and weights of the law of Y, in panels from state to state and beyond them as far as there is any Y."""
    nodes, _ = law_nodes(law)
    low, high = float(nodes[0]), float(nodes[-1])
    inside = x[(x >= low - 1e-9) & (x <= high + 1e-9)]
    below = np.linspace(low, inside[0], 33)[:-1] if low < inside[0] else np.zeros(0)
    above = np.linspace(inside[-1], high, 33)[1:] if high > inside[-1] else np.zeros(0)
    ends = np.concatenate([below, inside, above])
    left, right = ends[:-1, np.newaxis], ends[1:, np.newaxis]
    y = ((left + right) / 2 + (right - left) / 2 * _NODES).ravel()
    return y, ((right - left) / 2 * _WEIGHTS).ravel() * law.density(y)
