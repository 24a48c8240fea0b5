"""How fast the exact law tends to the diffusion: differences over smooth functions, by size, and their exponents."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from staffing.models.arguments import count, non_negative, number, positive
from staffing.models.diffusion.chain import BirthDeathChain
from staffing.models.diffusion.death_rates import closure_death_rates
from staffing.models.diffusion.given_capacity import given_capacity
from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.diffusion.smooth_functions import SMOOTH, WAIT, Function, law_nodes
from staffing.models.errors import ScenarioError

Vector = NDArray[np.float64]

SIZES = (25, 100, 400, 1600, 6400)
SMALL = 0.02
"""A constant below this, of functions of size 1, is that of a leading term that cancels, or nearly."""


@dataclass(frozen=True)
class BalancedQueues:
    """Queues of n = 1, 2, ... agents of mean rate 1 in balance: capacity S = n and lam = n - beta sqrt(n).

    Given the capacity the chain is that of the gamma closure d_i = S (n - i) / (n + i c2): exact for identical agents,
    c2 = 0, and in the mean over gamma rosters of capacity S. The diffusion beside it has m = -beta, g = 1 + c2 and
    either of two variances.

    Parameters
    ----------
    beta : float
        Safety, (S - lam) / sqrt(n).
    theta : float
        Abandonment rate over the mean service rate, >= 0; 0 needs beta > 0.
    c2 : float
        Squared CV of the rates, >= 0.
    limit : bool
        Whether sigma^2 is that of the limit, 2, or that of the size, (lam + min(lam, S)) / n.

    Raises
    ------
    ScenarioError
        If a parameter is out of range.
    """

    beta: float
    theta: float
    c2: float = 0.0
    limit: bool = False

    def __post_init__(self) -> None:
        number("beta", self.beta)
        non_negative("theta", self.theta)
        non_negative("c2", self.c2)
        if self.theta == 0 and self.beta <= 0:
            raise ScenarioError(
                f"beta: {self.beta!r} must be above 0 where theta is 0: the queue has no stationary law"
            )

    def chain(self, agents: int) -> BirthDeathChain:
        """The exact law at n agents."""
        n = self._count(agents)
        return BirthDeathChain(self._arrival_rate(n), closure_death_rates(n, float(n), self.c2), self.theta)

    def diffusion(self, agents: int) -> PiecewiseOU:
        """The diffusion at n agents."""
        n = self._count(agents)
        if self.limit:
            return PiecewiseOU(-self.beta, 1 + self.c2, self.theta, 2.0)
        return given_capacity(self._arrival_rate(n), n, self.theta, n, 1 + self.c2)

    def _count(self, agents: int) -> int:
        n = count("agents", agents)
        if n == 0:
            raise ScenarioError("agents: 0 must be at least 1")
        return n

    def _arrival_rate(self, n: int) -> float:
        return positive("arrival_rate", n - self.beta * math.sqrt(n))


@dataclass(frozen=True, eq=False)
class Convergence:
    """Differences E h((X - n) / sqrt(n)) - E h(Y) of functions h at sizes n."""

    sizes: tuple[int, ...]
    """Each four times the one before."""
    differences: Mapping[str, Vector]
    """By function, one per size."""

    def constants(self, function: str) -> Vector:
        """sqrt(n) times the difference, at each size."""
        return np.asarray(np.sqrt(np.array(self.sizes)) * self.differences[function])

    def exponents(self, function: str) -> Vector:
        """Local exponents p(n), with which the difference falls as n^-p from n to 4 n; nan where it changes sign."""
        d = self.differences[function]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log(d[:-1] / d[1:]) / math.log(4))

    def extrapolated(self, function: str) -> Vector:
        """2 p(4 n) - p(n): the exponent without its own first error, of order 1 / sqrt(n)."""
        p = self.exponents(function)
        return 2 * p[1:] - p[:-1]

    def small(self, bound: float = SMALL) -> list[str]:
        """Functions whose constant at the largest size is below a bound.

        Their leading term, c / sqrt(n), cancels or nearly so: the sign of c depends on the load, and near its change
        what one sees at any size are the terms of order 1 / n, so that a local exponent says nothing of the rate.
        """
        return [name for name in self.differences if abs(self.constants(name)[-1]) < bound]


def convergence(
    queues: BalancedQueues, sizes: Sequence[int] = SIZES, functions: Mapping[str, Function] = SMOOTH
) -> Convergence:
    """Differences over smooth functions, and of P(wait), under `WAIT`, at sizes n.

    Both means are exact to 1e-12.

    Parameters
    ----------
    queues : BalancedQueues
        The family.
    sizes : sequence of int
        n >= 1, each four times the one before.
    functions : mapping of str to function
        By name; smooth on either side of 0.

    Raises
    ------
    ScenarioError
        If sizes are not as described, or there is no load left at one.
    """
    sizes = tuple(count("sizes", n) for n in sizes)
    if not sizes or sizes[0] < 1 or any(4 * n != following for n, following in pairwise(sizes)):
        raise ScenarioError(f"sizes: {sizes} must start at 1 or above, each four times the one before")
    differences: dict[str, list[float]] = {WAIT: [], **{name: [] for name in functions}}
    for n in sizes:
        chain, law = queues.chain(n), queues.diffusion(n)
        x, p = chain.scaled, chain.chances
        y, w = law_nodes(law)
        differences[WAIT].append(float(p[chain.states >= n].sum() - law.above))
        for name, h in functions.items():
            differences[name].append(float(p @ h(x) - w @ h(y)))
    return Convergence(sizes, {name: np.array(values) for name, values in differences.items()})
