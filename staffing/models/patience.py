"""How long callers wait before they give up: laws of patience."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincc, gammainccinv, gammaln, ndtr, ndtri

from staffing.models.arguments import positive
from staffing.models.errors import ScenarioError

Vector = NDArray[np.float64]

LEAST_SCV, MOST_SCV = 1e-6, 1e4
"""Squared CVs of patience that numbers can follow; what is less is a step, what is more nobody has measured."""
GRADES = 4.0 ** np.arange(-1.0, 4.0)
"""Where exp(-x) bends."""
_SCORES = np.array([-40.0, -27, -18, -12, -8, -5, -3, -1, 1, 3, 5, 8, 12, 18, 27, 40])
"""Where the normal law bends."""


class PatienceLaw(ABC):
    """A caller's patience: how long one waits before giving up, independent and alike in law.

    Times t >= 0 are in the unit of the mean. Every figure is right to about 1e-14 of its value, however small.
    """

    mean: float

    @abstractmethod
    def at(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """Survival, 1 - survival without cancellation, and E[min(patience, t)], the integral of survival to t."""

    def survival(self, t: float) -> float:
        """The share of callers who still wait at t >= 0."""
        return float(self.at(np.array([t]))[0][0])

    @abstractmethod
    def time_at(self, share: Vector) -> Vector:
        """The time at which the share still waiting has fallen to this, 0 < share <= 1; to about 1e-9."""

    @property
    @abstractmethod
    def bends(self) -> Vector:
        """Times > 0, in order, between which survival and its complement are smooth in t, or in log t if it grows much.

        Every jump and kink is among them. Before the first the law goes as some power of time.
        """


@dataclass(frozen=True)
class _ByMean(PatienceLaw):
    """A law that its mean determines.

    Parameters
    ----------
    mean : float
        Mean patience, > 0 and finite.

    Raises
    ------
    ScenarioError
        If the mean is out of range.
    """

    mean: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", positive("mean", self.mean))


class ExponentialPatience(_ByMean):
    """Exponential patience: having waited tells nothing about how long one still will."""

    def at(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """exp(-t / mean), and mean times what is missing from 1."""
        gone = -np.expm1(-t / self.mean)
        return np.exp(-t / self.mean), gone, self.mean * gone

    def time_at(self, share: Vector) -> Vector:
        """-mean log(share)."""
        return -self.mean * np.log(share)

    @cached_property
    def bends(self) -> Vector:
        """Its scale, and wider."""
        return self.mean * GRADES


class DeterministicPatience(_ByMean):
    """Every caller waits for exactly the mean, then gives up."""

    def at(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """1 before the mean, 0 after it."""
        waits = np.where(t < self.mean, 1.0, 0.0)
        return waits, 1 - waits, np.minimum(t, self.mean)

    def time_at(self, share: Vector) -> Vector:
        """The mean, unless everybody may still wait."""
        return np.where(share < 1.0, self.mean, 0.0)

    @cached_property
    def bends(self) -> Vector:
        """The mean."""
        return np.array([self.mean])


@dataclass(frozen=True)
class _ByMeanAndSCV(_ByMean):
    """A law that its mean and squared coefficient of variation determine.

    Parameters
    ----------
    mean : float
        Mean patience, > 0 and finite.
    scv : float
        Variance of patience over the square of its mean, from `LEAST_SCV` to `MOST_SCV`.

    Raises
    ------
    ScenarioError
        If a parameter is out of range.
    """

    scv: float

    def __post_init__(self) -> None:
        super().__post_init__()
        scv = positive("scv", self.scv)
        if scv < LEAST_SCV:
            raise ScenarioError(
                f"scv: {self.scv!r} must be at least {LEAST_SCV:g}; for less take DeterministicPatience"
            )
        if scv > MOST_SCV:
            raise ScenarioError(
                f"scv: {self.scv!r} must be at most {MOST_SCV:g}; for patience as unequal as that take CurvePatience"
            )
        object.__setattr__(self, "scv", scv)


class GammaPatience(_ByMeanAndSCV):
    """Gamma patience of shape 1 / scv: a sum of 1 / scv exponential phases (Erlang's law) where that is whole."""

    @property
    def _scale(self) -> float:
        return self.mean * self.scv

    def at(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """Q(a, x), P(a, x), mean P(a + 1, x) + t Q(a, x), incomplete gamma functions of x = t / (mean scv)."""
        shape, x = 1 / self.scv, t / self._scale
        waits = np.asarray(gammaincc(shape, x), np.float64)
        gone = np.asarray(gammainc(shape, x), np.float64)
        over = np.asarray(gammainc(shape + 1, x), np.float64)
        return waits, gone, self.mean * over + t * waits

    def time_at(self, share: Vector) -> Vector:
        """By inversion."""
        x = np.asarray(gammainccinv(1 / self.scv, share), np.float64)
        return self._scale * x

    @cached_property
    def bends(self) -> Vector:
        """Steps of the standard deviation about the mean, or where that is large, of the scale."""
        if self.scv > 0.1:
            return self._scale * GRADES
        times: Vector = self.mean * (1 + math.sqrt(self.scv) * _SCORES)
        return times[times > 0]


class WeibullPatience(_ByMeanAndSCV):
    """Weibull patience: survival exp(-(t / scale)^shape); scv above 1 is a shape below 1, and the reverse."""

    @cached_property
    def _shape(self) -> float:
        def excess(log_shape: float) -> float:
            inverse = math.exp(-log_shape)
            return float(gammaln(1 + 2 * inverse) - 2 * gammaln(1 + inverse)) - math.log1p(self.scv)

        # The scv is 2e5 at shape 0.1, and pi^2 / (6 shape^2) at large ones.
        return 1.0 if self.scv == 1 else math.exp(brentq(excess, math.log(0.1), math.log(1e4), xtol=1e-15))

    @cached_property
    def _scale(self) -> float:
        return self.mean / math.gamma(1 + 1 / self._shape)

    def at(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """exp(-x), x = (t / scale)^shape; mean P(1 + 1 / shape, x) + t exp(-x), P the incomplete gamma function."""
        with np.errstate(over="ignore"):
            x = (t / self._scale) ** self._shape
        waits = np.exp(-x)
        return waits, -np.expm1(-x), self.mean * gammainc(1 + 1 / self._shape, x) + t * waits

    def time_at(self, share: Vector) -> Vector:
        """Scale (-log share)^(1 / shape)."""
        return self._scale * (-np.log(share)) ** (1 / self._shape)

    @cached_property
    def bends(self) -> Vector:
        """Where the cumulative hazard passes powers of 4, and if it rises steeply, ever higher powers before."""
        rising = 1e-8 ** np.arange(4.0, 0.0, -1.0) if self._shape > 4 else np.empty(0)
        times: Vector = self._scale * np.append(rising, GRADES) ** (1 / self._shape)
        return times


class LognormalPatience(_ByMeanAndSCV):
    """Lognormal patience: few give up at once, and some wait for very long."""

    @cached_property
    def _sigma(self) -> float:
        return math.sqrt(math.log1p(self.scv))

    @cached_property
    def _median(self) -> float:
        return self.mean / math.sqrt(1 + self.scv)

    def at(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """Phi(-z), Phi(z), mean Phi(z - sigma) + t Phi(-z), z = log(t / median) / sigma, sigma^2 = log(1 + scv)."""
        with np.errstate(divide="ignore"):
            z = np.log(t / self._median) / self._sigma
        waits = np.asarray(ndtr(-z))
        return waits, np.asarray(ndtr(z)), self.mean * ndtr(z - self._sigma) + t * waits

    def time_at(self, share: Vector) -> Vector:
        """By the normal quantile."""
        return self._median * np.exp(-self._sigma * ndtri(share))

    @cached_property
    def bends(self) -> Vector:
        """Steps of z."""
        return self._median * np.exp(self._sigma * _SCORES)


class HyperexponentialPatience(_ByMeanAndSCV):
    """A mix of two exponential laws, the hasty and the patient, with balanced means: each half of the mean. scv > 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scv <= 1:
            raise ScenarioError(
                f"scv: {self.scv!r} must be above 1 for a mix of exponential laws; "
                "for 1 take ExponentialPatience, for less GammaPatience"
            )

    @cached_property
    def _shares(self) -> Vector:
        hasty = 0.5 + 0.5 * math.sqrt((self.scv - 1) / (self.scv + 1))
        return np.array([hasty, 1 / (2 * (self.scv + 1) * hasty)])

    @cached_property
    def _rates(self) -> Vector:
        return 2 * self._shares / self.mean

    def at(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """p exp(-2 p t / mean) + q exp(-2 q t / mean), q = 1 - p, p q = 1 / (2 (scv + 1))."""
        (p, q), (fast, slow) = self._shares, self._rates
        one, two = -np.expm1(-fast * t), -np.expm1(-slow * t)
        waits = p * np.exp(-fast * t) + q * np.exp(-slow * t)
        return waits, p * one + q * two, 0.5 * self.mean * (one + two)

    def time_at(self, share: Vector) -> Vector:
        """Newton from the left: the log of survival is convex and falls."""
        (p, q), (fast, slow) = self._shares, self._rates
        target = np.log(share)
        t: Vector = np.maximum(np.maximum((np.log(p) - target) / fast, (np.log(q) - target) / slow), 0.0)
        for _ in range(20):
            one, two = p * np.exp(-fast * t), q * np.exp(-slow * t)
            step = (np.log(one + two) - target) * (one + two) / (fast * one + slow * two)
            t += step
            if (step <= 1e-9 * t).all():
                break
        return t

    @cached_property
    def bends(self) -> Vector:
        """The two scales, and wider."""
        return np.sort((1 / self._rates[:, np.newaxis] * GRADES).ravel())
