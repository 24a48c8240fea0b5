"""How agents' service rates differ: the law of one agent's rate, and of the capacity of n of them."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, ndtr, ndtri

from staffing.models.arguments import non_negative, positive


@dataclass(frozen=True)
class GammaRates:
    """Agents' rates independent and gamma distributed with the given mean and coefficient of variation.

    The capacity of n agents, the sum of their rates, is then gamma with mean n mean and CV cv / sqrt(n): exact.

    Parameters
    ----------
    mean : float
        Mean rate, > 0, in calls per unit of time.
    cv : float
        Coefficient of variation between agents, >= 0; 0 makes them identical.

    Raises
    ------
    ScenarioError
        If a parameter is out of range.
    """

    mean: float
    cv: float

    def __post_init__(self) -> None:
        positive("mean", self.mean)
        non_negative("cv", self.cv)

    @property
    def alike(self) -> bool:
        """Whether agents do not differ, or by less than numbers can tell."""
        return self.cv < 1e-9

    def capacity_at_score(self, agents: int, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Capacity of `agents` agents at the normal score z: its quantile at probability Phi(z)."""
        if self.alike or agents == 0:
            return np.full(z.shape, agents * self.mean)
        shape = agents / self.cv**2
        if shape > 1e6:
            # Cornish-Fisher: 1e-11 of the capacity here, where the incomplete gamma's inverse fails in the tail.
            deviation = math.sqrt(shape)
            unit = shape + deviation * z + (z * z - 1) / 3 + (z**3 - 7 * z) / (36 * deviation)
        else:
            unit = np.where(z < 0, gammaincinv(shape, ndtr(z)), gammainccinv(shape, ndtr(-z)))
        return unit * (self.mean * self.cv**2)

    def score(self, agents: int, capacity: float) -> float:
        """The normal score of a capacity of `agents` agents who differ, accurate in both tails."""
        below = self.capacity_cdf(agents, capacity)
        if below < 0.5:
            return float(ndtri(below))
        unit = max(capacity, 0.0) / (self.mean * self.cv**2)
        return -float(ndtri(gammaincc(agents / self.cv**2, unit)))

    def capacity_cdf(self, agents: int, capacity: float) -> float:
        """P(capacity of `agents` agents <= capacity)."""
        if self.alike or agents == 0:
            return float(agents * self.mean <= capacity * (1 + 1e-12))
        return float(gammainc(agents / self.cv**2, max(capacity, 0.0) / (self.mean * self.cv**2)))

    def rosters(
        self, agents: int, size: int, generator: np.random.Generator, *, strata: bool = False
    ) -> NDArray[np.float64]:
        """Rates of `size` rosters, shape (size, agents).

        With `strata` the capacities of the rosters are one from each of `size` equally likely ranges, in random
        order: each roster is still an exact draw, and their averages vary less. It rests on the independence of a
        sum of gamma variables and their proportions.
        """
        if self.alike or agents == 0:
            return np.full((size, agents), self.mean)
        rates = generator.standard_gamma(1 / self.cv**2, (size, agents)) * (self.mean * self.cv**2)
        if strata:
            u = (generator.permutation(size) + generator.random(size)) / size
            total = gammaincinv(agents / self.cv**2, u) * (self.mean * self.cv**2)
            rates *= (total / rates.sum(axis=1))[:, np.newaxis]
        return rates
