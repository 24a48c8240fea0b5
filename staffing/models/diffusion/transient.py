"""The diffusion in time: its law from any start, on a grid, and how long it takes to forget the start."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from staffing.models.arguments import number, positive
from staffing.models.diffusion.birth_death_in_time import chances_in_time
from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.diffusion.universal import UniversalDiffusion
from staffing.models.errors import ScenarioError

Vector = NDArray[np.float64]

MOST_POINTS = 20_000
_TAIL = 1e-14
_NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class LawInTime:
    """The law at some times, from one start."""

    times: Vector
    points: Vector
    """The grid."""
    chances: Vector
    """Of each point at each time; shape (times, points)."""
    kink: float
    """Where the process waits: above 0, or above n for callers in the system."""

    @property
    def mean(self) -> Vector:
        """E X(t)."""
        return self.chances @ self.points

    @property
    def variance(self) -> Vector:
        """Var X(t)."""
        return np.asarray(((self.points - self.mean[:, np.newaxis]) ** 2 * self.chances).sum(axis=1))

    @property
    def above(self) -> Vector:
        """P(X(t) > 0), or > n: half of the point there, and those above."""
        beyond = self.points - self.kink
        return self.chances @ np.where(np.abs(beyond) < _NEAR, 0.5, beyond > 0)

    @property
    def mean_above(self) -> Vector:
        """E X(t)^+, or E (X(t) - n)^+."""
        return self.chances @ np.maximum(self.points - self.kink, 0.0)


class TransientDiffusion:
    """A diffusion in time, as a birth-death chain on an even grid.

    With f the stationary density and a the variance, the generator is (a f u')' / (2 f). From grid point x_i, a step of
    h up or down has the rates

        (a f)(x_i + h / 2) / (2 h^2 f(x_i)),    (a f)(x_i - h / 2) / (2 h^2 f(x_i)),

    so that the chain has exactly the chances f(x_i) in the long run, whatever h. In time it has errors of order h^2 in
    the mean and the variance, and is otherwise solved exactly, by uniformisation in O(t / h^3). The point where the
    drift bends is on the grid; its ends reflect.

    The death rates are those given, at all times. Those of unlike agents are means of the stationary law, over who is
    idle when i are. On the way from an empty start others are idle, and the mean is off by 2 to 8% at first; no longer
    once all agents are busy, and from overload it never is. Agents alike have one death rate, and no such error.

    Parameters
    ----------
    process : PiecewiseOU or UniversalDiffusion
        One with plain numbers for parameters. Far from balance, as from an empty start, the first keeps the variance it
        has in balance, and makes the early variance of the number in system up to twice what it is; the second does
        not.
    step : float
        h > 0, at most the stationary standard deviation; a hundredth of it if not given.
    low, high : float
        Ends of the grid, rounded outward to its points but for where the process is reflected; if not given, where
        1e-14 of the stationary law is beyond. A start must lie between them, and well within where the process may go
        beyond it.

    Raises
    ------
    ScenarioError
        If the ends are in the wrong order, the step is too wide, or there were more than `MOST_POINTS`.
    """

    def __init__(
        self,
        process: PiecewiseOU | UniversalDiffusion,
        *,
        step: float | None = None,
        low: float | None = None,
        high: float | None = None,
    ) -> None:
        self.process = process
        if isinstance(process, PiecewiseOU) and np.ndim(process.log_odds) > 0:
            raise ScenarioError("process: give one law, its parameters plain numbers, for one transient")
        self.kink = 0.0 if isinstance(process, PiecewiseOU) else float(process.agents)
        spread = math.sqrt(float(process.stationary_variance))
        self.step = spread / 100 if step is None else positive("step", step)
        if self.step > spread:
            raise ScenarioError(
                f"step: {self.step:g} is wider than the process spreads in the long run, {spread:.3g}; give a finer"
                " grid, a tenth of that or less"
            )
        bottom = float(process.quantile(_TAIL)) if low is None else number("low", low)
        top = float(process.quantile(1 - _TAIL)) if high is None else number("high", high)
        first, last = math.floor((bottom - self.kink) / self.step), math.ceil((top - self.kink) / self.step)
        if isinstance(process, UniversalDiffusion):
            # No point's half of a step reaches below where the process is reflected.
            first = max(first, math.ceil((process.lowest - self.kink) / self.step + 0.5 - _NEAR))
        if not first < last:
            raise ScenarioError(f"low: {bottom:g} must be below high, {top:g}")
        if last - first >= MOST_POINTS:
            raise ScenarioError(
                f"step: {self.step:g} from {bottom:g} to {top:g} makes {last - first + 1} points, more than"
                f" {MOST_POINTS}"
            )
        self.points: Vector = self.kink + self.step * np.arange(first, last + 1, dtype=np.float64)

    @cached_property
    def _rates(self) -> tuple[Vector, Vector]:
        middle = (self.points[:-1] + self.points[1:]) / 2
        log_flow = (
            self.process.log_density(middle) + np.log(self._variance(middle)) - math.log(2 * self.step**2)
        )
        log_f = self.process.log_density(self.points)
        up, down = np.zeros(self.points.size), np.zeros(self.points.size)
        up[:-1], down[1:] = np.exp(log_flow - log_f[:-1]), np.exp(log_flow - log_f[1:])
        return up, down

    def _variance(self, x: Vector) -> Vector:
        if isinstance(self.process, PiecewiseOU):
            return np.full(x.shape, float(self.process.variance))
        return self.process.variance(x)

    def law(self, start: float, times: Sequence[float]) -> LawInTime:
        """The law at some times from a start X(0), which is split between the two grid points beside it.

        Raises
        ------
        ScenarioError
            If the start is outside the grid, or as `chances_in_time` for the times.
        """
        x0 = number("start", start)
        if not self.points[0] - _NEAR <= x0 <= self.points[-1] + _NEAR:
            raise ScenarioError(
                f"start: {x0:g} is outside the grid, from {self.points[0]:g} to {self.points[-1]:g}; widen it by low or"
                " high"
            )
        at = np.clip((x0 - self.points[0]) / self.step, 0.0, self.points.size - 1.0)
        k = min(int(at), self.points.size - 2)
        here = np.zeros(self.points.size)
        here[k], here[k + 1] = 1 - (at - k), at - k
        chances = chances_in_time(*self._rates, here, times)
        return LawInTime(np.array(times, np.float64), self.points, chances, self.kink)

    @cached_property
    def spectral_gap(self) -> float:
        """The least rate at which what is left of the start decays: the second eigenvalue, to O(h^2)."""
        up, down = self._rates
        beside = np.sqrt(up[:-1] * down[1:])
        size = self.points.size
        values = eigh_tridiagonal(
            -(up + down), beside, eigvals_only=True, select="i", select_range=(size - 2, size - 1)
        )
        return float(-values[0])

    @property
    def relaxation_time(self) -> float:
        """1 / spectral gap: in the end the distance from the stationary law falls to 1 / e of itself in so much time.

        Where theta is 0 there is no gap but a continuum of rates from m^2 / (2 sigma^2) on, of which this is the least
        on the grid, near that end; what is left of the start then falls faster than it says, by a power of time.
        """
        return 1 / self.spectral_gap
