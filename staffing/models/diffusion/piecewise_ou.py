"""The stationary law of a diffusion whose drift is linear on either side of 0: the limit, given the capacity."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from staffing.models.diffusion.half_law import HalfLaw
from staffing.models.errors import ScenarioError

Vector = NDArray[np.float64]

_LOG_HALF = math.log(0.5)


@dataclass(frozen=True, eq=False)
class PiecewiseOU:
    """The stationary law of dX = (m + g X^- - theta X^+) dt + sigma dB.

    In the limit of many servers X = (callers in the system - n) / sqrt(n): X^+ sqrt(n) wait, X^- sqrt(n) agents are
    idle. The density is continuous, and on each side of 0 that of a normal law (Browne and Whitt 1995):

        f(x) = exp((2 m x - k x^2) / sigma^2) / C,    k = theta for x > 0 and g for x < 0.

    All of it is computed from logarithms, exact up to rounding: z = m / (k s), s = sigma / sqrt(2 k), may be hundreds.
    The drift balances: m + g E X^- - theta E X^+ = 0.

    Parameters
    ----------
    drift : array_like
        m, the drift at 0; (arrival rate - capacity) / sqrt(n). Arrays of any shapes that broadcast give a law each, and
        measures as arrays; plain numbers give numpy's scalars.
    pull : array_like
        g >= 0, what an idle agent adds to the drift. 0 needs a drift above 0.
    theta : array_like
        Abandonment rate, >= 0 and finite. 0 needs a drift below 0. Where nobody waits at all, theta infinite, the
        limit is another process, reflected at 0: take `erlang_b`.
    variance : array_like
        sigma^2 > 0.

    Raises
    ------
    ScenarioError
        If a parameter is out of range, or there is no stationary law: theta = 0 and a drift that is not below 0, or
        g = 0 and a drift that is not above 0.

    References
    ----------
    Browne and Whitt (1995), Piecewise-linear diffusion processes; Garnett, Mandelbaum and Reiman (2002); Atar (2008),
    Central limit theorem for a many-server queue with random service rates.
    """

    drift: Vector
    pull: Vector
    theta: Vector
    variance: Vector

    def __init__(self, drift: ArrayLike, pull: ArrayLike, theta: ArrayLike, variance: ArrayLike) -> None:
        for name, value in (("drift", drift), ("pull", pull), ("theta", theta), ("variance", variance)):
            object.__setattr__(self, name, _finite(name, value))
        _refuse(self.pull < 0, "pull", self.pull, "must be at least 0")
        _refuse(self.theta < 0, "theta", self.theta, "must be at least 0")
        _refuse(self.variance <= 0, "variance", self.variance, "must be above 0")
        upward = (self.theta == 0) & (self.drift >= 0)
        _refuse(
            upward, "drift", self.drift, "must be below 0 where theta is 0: the queue has no stationary law"
        )
        downward = (self.pull == 0) & (self.drift <= 0)
        _refuse(
            downward, "drift", self.drift, "must be above 0 where the pull is 0: there is no stationary law"
        )

    @cached_property
    def _upper(self) -> HalfLaw:
        return HalfLaw(self.drift, self.theta, self.variance)

    @cached_property
    def _lower(self) -> HalfLaw:
        return HalfLaw(-self.drift, self.pull, self.variance)

    @cached_property
    def log_odds(self) -> Vector:
        """log P(X > 0) - log P(X < 0)."""
        return self._upper.log_mass - self._lower.log_mass

    @cached_property
    def above(self) -> Vector:
        """P(X > 0): in the limit the share of calls that wait."""
        return np.asarray(expit(self.log_odds))[()]

    @cached_property
    def below(self) -> Vector:
        """P(X < 0)."""
        return np.asarray(expit(-self.log_odds))[()]

    @property
    def log_above(self) -> Vector:
        """log P(X > 0), which itself may be too small for a number."""
        return -np.logaddexp(0.0, -self.log_odds)

    @property
    def log_below(self) -> Vector:
        """log P(X < 0)."""
        return -np.logaddexp(0.0, self.log_odds)

    @cached_property
    def mean_above(self) -> Vector:
        """E X^+."""
        return self.above * self._upper.mean

    @cached_property
    def mean_below(self) -> Vector:
        """E X^-."""
        return self.below * self._lower.mean

    @property
    def mean(self) -> Vector:
        """E X."""
        return self.mean_above - self.mean_below

    @property
    def second_moment(self) -> Vector:
        """E X^2."""
        return self.above * self._upper.second_moment + self.below * self._lower.second_moment

    @property
    def stationary_variance(self) -> Vector:
        """Var X, as a sum of what is positive."""
        between = self.above * self.below * (self._upper.mean + self._lower.mean) ** 2
        return self.above * self._upper.spread + self.below * self._lower.spread + between

    @property
    def drift_balance(self) -> Vector:
        """m + g E X^- - theta E X^+, 0 but for rounding."""
        return self.drift + self.pull * self.mean_below - self.theta * self.mean_above

    def log_density(self, x: ArrayLike) -> Vector:
        """log f(x); x broadcasts with the parameters."""
        at = np.asarray(x, np.float64)
        pull = np.where(at > 0, self.theta, self.pull)
        log_mass = np.logaddexp(self._upper.log_mass, self._lower.log_mass)
        return (2 * self.drift - pull * at) * at / self.variance - log_mass

    def density(self, x: ArrayLike) -> Vector:
        """f(x)."""
        return np.exp(self.log_density(x))

    def log_survival(self, x: ArrayLike) -> Vector:
        """log P(X > x)."""
        below, above = self._log_shares(x)
        return np.where(above < _LOG_HALF, above, np.log1p(-np.exp(np.minimum(below, _LOG_HALF))))[()]

    def log_cdf(self, x: ArrayLike) -> Vector:
        """log P(X <= x)."""
        below, above = self._log_shares(x)
        return np.where(below < _LOG_HALF, below, np.log1p(-np.exp(np.minimum(above, _LOG_HALF))))[()]

    def _log_shares(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """log P(X <= x) and log P(X > x), the lesser of them to full relative accuracy of itself."""
        at = np.asarray(x, np.float64)
        up, down = np.maximum(at, 0.0), np.maximum(-at, 0.0)
        in_lower = self.log_below + self._lower.log_tail(down)
        in_upper = self.log_above + self._upper.log_tail(up)
        below = np.where(
            at <= 0, in_lower, np.logaddexp(self.log_below, self.log_above + self._upper.log_head(up))
        )
        above = np.where(
            at >= 0, in_upper, np.logaddexp(self.log_above, self.log_below + self._lower.log_head(down))
        )
        return below, above

    def survival(self, x: ArrayLike) -> Vector:
        """P(X > x)."""
        return np.exp(self.log_survival(x))

    def cdf(self, x: ArrayLike) -> Vector:
        """P(X <= x)."""
        return np.exp(self.log_cdf(x))

    def quantile(self, p: ArrayLike) -> Vector:
        """The x with P(X <= x) = p, 0 < p < 1; p broadcasts with the parameters.

        Raises
        ------
        ScenarioError
            If p is not between 0 and 1.
        """
        share = _finite("p", p)
        _refuse((share <= 0) | (share >= 1), "p", share, "must be between 0 and 1")
        down = np.minimum(np.log(share) - self.log_below, 0.0)
        up = np.minimum(np.log1p(-share) - self.log_above, 0.0)
        lower, upper = self._lower.tail_quantile(down), self._upper.tail_quantile(up)
        return np.where(np.log(share) < self.log_below, -lower, upper)[()]


def _finite(name: str, value: ArrayLike) -> Vector:
    try:
        result = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ScenarioError(f"{name}: {value!r} is not a number, nor an array of them") from None
    _refuse(~np.isfinite(result), name, result, "must be finite")
    return result


def _refuse(bad: NDArray[np.bool_], name: str, value: Vector, need: str) -> None:
    """Refuse the first bad value; `bad` may have the broadcast shape of several parameters."""
    if np.any(bad):
        first = float(np.broadcast_to(value, np.shape(bad))[bad].flat[0])
        raise ScenarioError(f"{name}: {first:g} {need}")
