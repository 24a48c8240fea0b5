"""One side of 0 of a diffusion with linear drift: a normal law cut off at 0, or an exponential one."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, ndtri_exp

Vector = NDArray[np.float64]

_FAR = -6.0
"""Scores of the cut from here on down go by the continued fraction, which subtracts nothing."""
_TERMS = 24
_SQRT2 = math.sqrt(2.0)
_MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class HalfLaw:
    """The law on y > 0 whose density is in proportion to exp((2 d y - k y^2) / sigma^2).

    With s = sigma / sqrt(2 k) and z = d / (k s) it is that of a normal variable of mean s z and standard deviation s,
    given that it is above 0; with k = 0, which needs d < 0, it is exponential of mean sigma^2 / (2 |d|). Exact up to
    rounding for every z: nothing over- or underflows, and nothing cancels where the cut is far out in the tail.

    Parameters
    ----------
    drift : array, any shape
        d, the drift at 0, away from 0 where positive.
    pull : array that broadcasts with it
        k >= 0, how fast the drift turns back.
    variance : array that broadcasts with them
        sigma^2 > 0 per unit of time.
    """

    drift: Vector
    pull: Vector
    variance: Vector

    @cached_property
    def exponential(self) -> NDArray[np.bool_]:
        """Where there is no pull."""
        return np.asarray(self.pull == 0)

    @cached_property
    def scale(self) -> Vector:
        """s; where there is no pull, the mean of the exponential law."""
        with np.errstate(divide="ignore"):
            normal = np.sqrt(self.variance / (2 * self.pull))
            return np.where(self.exponential, self.variance / (2 * np.abs(self.drift)), normal)

    @cached_property
    def z(self) -> Vector:
        """d / (k s); minus infinity where there is no pull."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return np.where(self.exponential, -np.inf, self.drift * np.sqrt(2 / (self.pull * self.variance)))

    @cached_property
    def log_mass(self) -> Vector:
        """log of the integral of exp((2 d y - k y^2) / sigma^2): log s + log(2 pi) / 2 + z^2 / 2 + log Phi(z)."""
        z = self.z
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            # z^2 / 2 and log Phi(z) cancel where z is negative; there erfcx is their sum.
            low = math.log(math.pi / 2) / 2 + np.log(erfcx(-np.minimum(z, 0.0) / _SQRT2))
            high = math.log(2 * math.pi) / 2 + z * z / 2 + log_ndtr(z)
            return np.log(self.scale) + np.where(self.exponential, 0.0, np.where(z < 0, low, high))

    @cached_property
    def _unit_moments(self) -> tuple[Vector, Vector, Vector]:
        """Mean, second moment and variance of Y / s."""
        z = self.z
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            hazard = _hazard(z)
            mean = z + hazard
            second, variance = 1 + z * mean, 1 - hazard * mean
            if np.any(z < _FAR):
                # 1 / (x + 2 / (x + 3 / (x + ...))), x = -z
                x = -np.minimum(z, _FAR)
                rest = x
                for j in range(_TERMS, 2, -1):
                    rest = x + j / rest
                far, rest = 1 / (x + 2 / rest), 1 / rest
                mean = np.where(z < _FAR, far, mean)
                second = np.where(z < _FAR, 2 * rest * far, second)
                variance = np.where(z < _FAR, far * (2 * rest - far), variance)
        one = self.exponential
        return np.where(one, 1.0, mean), np.where(one, 2.0, second), np.where(one, 1.0, variance)

    @property
    def mean(self) -> Vector:
        """E Y = s (z + phi(z) / Phi(z))."""
        return self.scale * self._unit_moments[0]

    @property
    def second_moment(self) -> Vector:
        """E Y^2."""
        return self.scale**2 * self._unit_moments[1]

    @property
    def spread(self) -> Vector:
        """Var Y."""
        return self.scale**2 * self._unit_moments[2]

    def log_tail(self, y: Vector) -> Vector:
        """log P(Y > y), y >= 0."""
        w = np.asarray(y / self.scale)
        z = np.where(self.exponential, 0.0, self.z)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            low = z * w - w * w / 2 + np.log(erfcx((w - z) / _SQRT2) / erfcx(-np.minimum(z, 0.0) / _SQRT2))
            high = log_ndtr(z - w) - log_ndtr(z)
            return np.where(self.exponential, -w, np.where(z < 0, low, high))

    def log_head(self, y: Vector) -> Vector:
        """log P(Y <= y), y >= 0."""
        w = np.asarray(y / self.scale)
        z = np.where(self.exponential, 0.0, self.z)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            plain = np.log(-np.expm1(self.log_tail(y)))
            # Before the mode, Phi(w - z) - Phi(-z) over Phi(z), each far too small for a number.
            ratio = w * (z - w / 2) + np.log(erfcx((z - w) / _SQRT2) / erfcx(z / _SQRT2))
            early = log_ndtr(-z) + np.log(np.expm1(np.minimum(ratio, 700.0))) - log_ndtr(z)
            early = np.where(ratio > 30, log_ndtr(w - z) - log_ndtr(z), early)
            return np.where(~self.exponential & (z > 0) & (w < z), early, plain)

    def tail_quantile(self, log_share: Vector) -> Vector:
        """The y with log P(Y > y) = log_share <= 0, by Newton, which from beyond it comes down to it."""
        z = np.where(self.exponential, 0.0, self.z)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            w = np.where(
                z > 0, z - ndtri_exp(log_share + log_ndtr(z)), -log_share / _hazard(np.minimum(z, 0.0))
            )
            w = np.where(log_share == 0, 0.0, np.maximum(w, 0.0))
            for _ in range(_MOST_STEPS):
                step = (self.log_tail(w * self.scale) - log_share) / _hazard(z - w)
                step = np.where(self.exponential | ~np.isfinite(step), 0.0, step)
                w = np.maximum(w + step, 0.0)
                if np.all(np.abs(step) <= 1e-15 * w):
                    break
        return self.scale * np.where(self.exponential, -log_share, w)


def _hazard(z: Vector) -> Vector:
    """phi(z) / Phi(z)."""
    return np.asarray(math.sqrt(2 / math.pi) / erfcx(-z / _SQRT2))
