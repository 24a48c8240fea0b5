"""Times between calls whose squared CV is given: one family of laws, from clockwork to heavy bursts."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln

from staffing.models.arguments import non_negative

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class RenewalGaps:
    """Independent times between calls, of mean 1, with the squared CV `scv`.

    From scv = 1 on a mixture of two exponential laws, each with half of the mean ("balanced means"); its third moment,
    3 scv (1 + scv), lies between those of the gamma and the lognormal law. Below 1 a mixture of the laws of the sums of
    k - 1 and of k exponential times of one rate, 1 / k <= scv < 1 / (k - 1). At 1 both are the exponential law, and at
    0 every gap is 1.

    Parameters
    ----------
    scv : float
        Variance over squared mean, >= 0.

    Raises
    ------
    ScenarioError
        If `scv` is negative or not a number.
    """

    scv: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scv", non_negative("scv", self.scv))

    def at(self, u: Vector) -> Vector:
        """The gap that a share u of gaps does not exceed, 0 <= u < 1; to 1e-12 of itself."""
        u = np.asarray(u, dtype=float)
        if self.scv < 1e-12:
            return np.ones(u.shape)
        if self.scv < 1:
            return self._at_series(u)
        if self.scv == 1:
            return -np.log1p(-u)
        return self._at_mixture(u)

    @cached_property
    def mixture(self) -> tuple[float, float, float]:
        """(Share of gaps of the fast rate, the fast rate, the slow rate), scv >= 1."""
        w = math.sqrt((self.scv - 1) / (self.scv + 1))
        return 0.5 * (1 + w), 1 + w, 2 / ((self.scv + 1) * (1 + w))

    @cached_property
    def series(self) -> tuple[int, float, float]:
        """(Times k, share of gaps of one time less, rate of each time), 0 < scv < 1."""
        k = max(math.ceil(1 / self.scv), 2)
        less = (k * self.scv - math.sqrt(max(k * (1 - (k - 1) * self.scv), 0.0))) / (1 + self.scv)
        less = min(max(less, 0.0), 1.0)
        return k, less, k - less

    @property
    def third_moment(self) -> float:
        """E[T^3] of a gap T of mean 1."""
        if self.scv >= 1:
            return 3 * self.scv * (1 + self.scv)
        if self.scv < 1e-12:
            return 1.0
        k, less, pace = self.series
        return k * (k + 1) * (less * (k - 1) + (1 - less) * (k + 2)) / pace**3

    def _at_mixture(self, u: Vector) -> Vector:
        share, fast, slow = self.mixture
        target = np.log1p(-u)
        # The log of the share of longer gaps is convex, so that Newton's steps from the left never go too far.
        t = -target / fast
        for _ in range(200):
            quick, late = np.log(share) - fast * t, np.log1p(-share) - slow * t
            shorter = -share * np.expm1(-fast * t) - (1 - share) * np.expm1(-slow * t)
            # Of short gaps the logs would not keep the digits, of long ones the shares.
            log_longer = np.where(
                shorter < 0.5, np.log1p(-np.minimum(shorter, 0.5)), np.logaddexp(quick, late)
            )
            rate = fast * np.exp(quick - log_longer) + slow * np.exp(late - log_longer)
            step = (log_longer - target) / rate
            t = np.maximum(t + step, t)
            if np.all(step <= 1e-14 * t):
                break
        return t

    def _at_series(self, u: Vector) -> Vector:
        k, less, pace = self.series
        result = np.empty(u.shape)
        short = u < 0.5
        # log of the share of shorter gaps is concave, of longer ones too: Newton's steps never go too far.
        for part, end, share, level, sign in (
            (short, gammaincinv(k - 1.0, u[short]), gammainc, u[short], 1.0),
            (~short, gammainccinv(float(k), 1 - u[~short]), gammaincc, 1 - u[~short], -1.0),
        ):
            t = np.maximum(end, 1e-300)
            for _ in range(200):
                reached = less * share(k - 1.0, t) + (1 - less) * share(float(k), t)
                density = np.exp((k - 2) * np.log(t) - t - gammaln(k - 1.0)) * (
                    less + (1 - less) * t / (k - 1)
                )
                with np.errstate(all="ignore"):
                    step = sign * np.log(level / reached) * reached / density
                t = np.maximum(t + np.where(np.isfinite(step), step, 0.0), 1e-300)
                if not np.any(np.abs(step) > 1e-14 * t):
                    break
            result[part] = np.where(level > 0, t, 0.0) / pace
        return result
