"""How agents' service rates differ: the law of one agent's rate, and of the capacity of n of them."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, gammainc, gammaincc, gammainccinv, gammaincinv, ndtr, ndtri

from staffing.models.arguments import non_negative, positive
from staffing.models.errors import ScenarioError

Vector = NDArray[np.float64]

_SCORES = np.linspace(-8.25, 8.25, 8449)


def _large_gamma_quantile(shape: float, z: Vector) -> Vector:
    """Cornish-Fisher: 1e-11 of the quantile from shape 10,000 on, and many times as fast as its inversion."""
    root = math.sqrt(shape)
    return (
        shape
        + root * z
        + (z * z - 1) / 3
        + (z**3 - 7 * z) / (36 * root)
        - (3 * z**4 + 7 * z * z - 16) / (810 * shape)
        + (9 * z**5 + 256 * z**3 - 433 * z) / (38880 * shape * root)
    )


class RateLaw(ABC):
    """Agents' rates, independent and alike in law.

    The capacity of n agents, the sum of their rates, is taken to be gamma distributed with its true mean and variance:
    exact for gamma rates, otherwise wrong in the third moment and those that follow.
    """

    mean: float
    cv: float

    @property
    def alike(self) -> bool:
        """Whether agents do not differ, or by less than numbers can tell."""
        return self.cv < 1e-9

    @property
    def lowest(self) -> float:
        """No agent is slower; 0 if agents may be as slow as you like, the mean if they are alike."""
        return self.mean if self.alike else 0.0

    @property
    def highest(self) -> float:
        """No agent is faster."""
        return self.mean if self.alike else math.inf

    @property
    @abstractmethod
    def skewness(self) -> float:
        """Third central moment over the cube of the standard deviation; for a CV of 0 its limit."""

    @property
    @abstractmethod
    def excess_kurtosis(self) -> float:
        """Fourth central moment over the square of the variance, less 3; for a CV of 0 its limit."""

    @abstractmethod
    def quantile(self, u: Vector) -> Vector:
        """The rate that a share u of agents does not exceed, 0 < u < 1."""

    def capacity_at_score(self, agents: int, z: Vector) -> Vector:
        """Capacity of `agents` agents at the normal score z: its quantile at probability Phi(z)."""
        if self.alike or agents == 0:
            return np.full(z.shape, agents * self.mean)
        shape = agents / self.cv**2
        if shape > 1e4:
            unit = _large_gamma_quantile(shape, z)
        else:
            unit, low = np.empty(z.shape), z < 0
            unit[low] = gammaincinv(shape, ndtr(z[low]))
            unit[~low] = gammainccinv(shape, ndtr(-z[~low]))
        return unit * (self.mean * self.cv**2)

    def score(self, agents: int, capacity: float) -> float:
        """The normal score of a capacity of `agents` agents who differ, accurate in both tails."""
        shape, unit = agents / self.cv**2, max(capacity, 0.0) / (self.mean * self.cv**2)
        below = float(gammainc(shape, unit))
        return float(ndtri(below)) if below < 0.5 else -float(ndtri(gammaincc(shape, unit)))

    def capacity_cdf(self, agents: int, capacity: float) -> float:
        """P(capacity of `agents` agents <= capacity)."""
        if self.alike or agents == 0:
            return float(agents * self.mean <= capacity * (1 + 1e-12))
        if capacity < agents * self.lowest:
            return 0.0
        if capacity >= agents * self.highest:
            return 1.0
        return float(gammainc(agents / self.cv**2, max(capacity, 0.0) / (self.mean * self.cv**2)))

    def rosters(
        self, agents: int, size: int, generator: np.random.Generator, *, strata: bool = False
    ) -> Vector:
        """Rates of `size` rosters, shape (size, agents), independent from agent to agent.

        With `strata` rosters are a Latin hypercube: the rates of each agent are one from each of `size` equally likely
        ranges, in random order. Each roster is still an exact draw, and averages over rosters vary less.
        """
        if self.alike or agents == 0:
            return np.full((size, agents), self.mean)
        u = generator.random((size, agents))
        if strata:
            u = (generator.permuted(np.tile(np.arange(size), (agents, 1)), axis=1).T + u) / size
        return self.quantile(np.maximum(u, 1e-300))


@dataclass(frozen=True)
class _ByMeanAndCV(RateLaw):
    """A law that its mean and coefficient of variation determine.

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


class GammaRates(_ByMeanAndCV):
    """Gamma distributed rates; the capacity of n agents is then gamma too, exactly."""

    @property
    def skewness(self) -> float:
        """2 cv."""
        return 2 * self.cv

    @property
    def excess_kurtosis(self) -> float:
        """6 cv^2."""
        return 6 * self.cv**2

    def quantile(self, u: Vector) -> Vector:
        """From a table of the incomplete gamma function's inverse, to 1e-6 of the rate and many times as fast."""
        if self.alike:
            return np.full(u.shape, self.mean)
        return np.exp(np.interp(ndtri(u), _SCORES, self._log_quantiles))

    @cached_property
    def _log_quantiles(self) -> Vector:
        shape = 1 / self.cv**2
        unit = np.where(_SCORES < 0, gammaincinv(shape, ndtr(_SCORES)), gammainccinv(shape, ndtr(-_SCORES)))
        return np.log(unit * (self.mean * self.cv**2))

    def rosters(
        self, agents: int, size: int, generator: np.random.Generator, *, strata: bool = False
    ) -> Vector:
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


class LognormalRates(_ByMeanAndCV):
    """Lognormal rates."""

    @property
    def skewness(self) -> float:
        """3 cv + cv^3."""
        return self.cv * (3 + self.cv**2)

    @property
    def excess_kurtosis(self) -> float:
        """w^4 + 2 w^3 + 3 w^2 - 6, w = 1 + cv^2."""
        w = 1 + self.cv**2
        return w**4 + 2 * w**3 + 3 * w**2 - 6

    def quantile(self, u: Vector) -> Vector:
        """mean exp(s z - s^2 / 2), z the normal quantile and s^2 = log(1 + cv^2)."""
        variance = math.log1p(self.cv**2)
        return self.mean * np.exp(math.sqrt(variance) * ndtri(u) - variance / 2)


class UniformRates(_ByMeanAndCV):
    """Uniform rates between mean (1 - sqrt(3) cv) and mean (1 + sqrt(3) cv); cv at most 0.577."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cv * math.sqrt(3) > 1 + 1e-12:
            raise ScenarioError(f"cv: {self.cv!r} must be at most 1 / sqrt(3) = 0.577 for uniform rates")

    @property
    def lowest(self) -> float:
        """mean (1 - sqrt(3) cv)."""
        return self.mean * max(1 - math.sqrt(3) * self.cv, 0.0)

    @property
    def highest(self) -> float:
        """mean (1 + sqrt(3) cv)."""
        return self.mean * (1 + math.sqrt(3) * self.cv)

    @property
    def skewness(self) -> float:
        """0."""
        return 0.0

    @property
    def excess_kurtosis(self) -> float:
        """-6/5."""
        return -1.2

    def quantile(self, u: Vector) -> Vector:
        """Linear between the lowest and the highest rate."""
        return self.lowest + u * (self.highest - self.lowest)


class TwoPointRates(_ByMeanAndCV):
    """Half the agents at mean (1 - cv), half at mean (1 + cv), each by the toss of a coin; cv below 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cv >= 1:
            raise ScenarioError(f"cv: {self.cv!r} must be below 1 for rates at two points")

    @property
    def lowest(self) -> float:
        """mean (1 - cv)."""
        return self.mean * (1 - self.cv)

    @property
    def highest(self) -> float:
        """mean (1 + cv)."""
        return self.mean * (1 + self.cv)

    @property
    def skewness(self) -> float:
        """0."""
        return 0.0

    @property
    def excess_kurtosis(self) -> float:
        """-2."""
        return -2.0

    def quantile(self, u: Vector) -> Vector:
        """The lower rate up to 1/2, then the higher."""
        return np.where(u < 0.5, self.lowest, self.highest)

    def capacity_cdf(self, agents: int, capacity: float) -> float:
        """P(capacity of `agents` agents <= capacity), exactly: the fast among them are binomial."""
        if self.alike or agents == 0:
            return super().capacity_cdf(agents, capacity)
        fast = (capacity * (1 + 1e-12) - agents * self.lowest) / (self.highest - self.lowest)
        return float(bdtr(min(math.floor(fast), agents), agents, 0.5)) if fast >= 0 else 0.0


@dataclass(frozen=True)
class ObservedRates(RateLaw):
    """Each agent's rate is one of those observed, any of them as likely as any other.

    Parameters
    ----------
    rates : tuple of float
        Rates observed, each > 0; at least one.

    Raises
    ------
    ScenarioError
        If there is none, or one is not above zero and finite.
    """

    rates: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.rates:
            raise ScenarioError("rates: none given; give at least one observed rate")
        for k, rate in enumerate(self.rates):
            positive(f"rates[{k}]", rate)

    @cached_property
    def _sorted(self) -> Vector:
        return np.sort(np.array(self.rates, np.float64))

    @cached_property
    def mean(self) -> float:  # type: ignore[override]
        """Mean of the observed rates."""
        return float(self._sorted.mean())

    @cached_property
    def cv(self) -> float:  # type: ignore[override]
        """Standard deviation of the observed rates, as a population, over their mean."""
        return float(self._sorted.std()) / self.mean

    @property
    def lowest(self) -> float:
        """The slowest observed."""
        return float(self._sorted[0])

    @property
    def highest(self) -> float:
        """The fastest observed."""
        return float(self._sorted[-1])

    @property
    def skewness(self) -> float:
        """Of the observed rates, as a population."""
        return self._moment(3)

    @property
    def excess_kurtosis(self) -> float:
        """Of the observed rates, as a population."""
        return self._moment(4) - 3.0

    def _moment(self, order: int) -> float:
        deviation = self._sorted / self.mean - 1
        return 0.0 if self.alike else float((deviation**order).mean()) / self.cv**order

    def quantile(self, u: Vector) -> Vector:
        """The observed rate of rank u times their number, rounded up."""
        size = self._sorted.size
        return self._sorted[np.minimum((u * size).astype(np.int64), size - 1)]
