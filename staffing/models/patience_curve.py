"""How long callers wait before they give up, by a curve from data."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import exprel

from staffing.models.arguments import number
from staffing.models.errors import ScenarioError
from staffing.models.patience import GRADES, PatienceLaw, Vector


@dataclass(frozen=True)
class CurvePatience(PatienceLaw):
    """Patience by a curve from data: the share of callers who would still wait, at some times.

    Between two times callers give up at a constant rate, so that the log of the share is a straight line: the rate
    that data estimate, callers lost over time waited, and one under which points of an exponential law give it back.
    After the last time they go on giving up at the rate of the last stretch. If no one is left at the last time, the
    share falls to it in a straight line, as its log cannot.

    Parameters
    ----------
    points : iterable of (float, float)
        (time, share still waiting) from (0, 1) on; times rise, shares do not rise and stay within [0, 1].

    Raises
    ------
    ScenarioError
        If there are fewer than two points, they are out of order or out of range, the first is not (0, 1), or the last
        stretch is flat, so that the share above 0 that is left would wait for ever and there were no mean.
    """

    points: tuple[tuple[float, float], ...]
    mean: float = field(init=False, repr=False, compare=False)

    def __init__(self, points: Iterable[tuple[float, float]]) -> None:
        object.__setattr__(self, "points", _checked(points))
        _, _, rates, waited = self._stretches
        after = 0.0 if self._empties else self.points[-1][1] / rates[-1]
        object.__setattr__(self, "mean", float(waited[-1] + after))

    @cached_property
    def _stretches(self) -> tuple[Vector, Vector, Vector, Vector]:
        """Per stretch: its start, the share then, the rate of giving up, and the mean time waited until then."""
        times, shares = np.array(self.points).T
        lengths, begin, end = np.diff(times), shares[:-1], shares[1:]
        rates = -np.log(np.where(end > 0, end / begin, 1.0)) / lengths
        waited = begin * lengths * np.where(end > 0, exprel(-rates * lengths), 0.5)
        return times[:-1], begin, rates, np.concatenate([[0.0], np.cumsum(waited)])

    @property
    def _empties(self) -> bool:
        """Whether nobody is left in the end."""
        return self.points[-1][1] == 0

    def at(self, t: Vector) -> tuple[Vector, Vector, Vector]:
        """The curve, what is missing from 1, and the area under it."""
        starts, shares, rates, waited = self._stretches
        at = starts.searchsorted(t, side="right") - 1
        share, into = shares[at], t - starts[at]
        log_fall = -rates[at] * into
        waits, gone = share * np.exp(log_fall), -np.expm1(np.log(share) + log_fall)
        area = share * into * exprel(log_fall)
        if self._empties:
            last, length = t >= starts[-1], self.points[-1][0] - starts[-1]
            over = np.minimum(into / length, 1.0)
            waits = np.where(last, share * (1 - over), waits)
            gone = np.where(last, (1 - share) + share * over, gone)
            area = np.where(last, share * length * over * (1 - 0.5 * over), area)
        return waits, gone, waited[at] + area

    def time_at(self, share: Vector) -> Vector:
        """By stretches."""
        starts, shares, rates, _ = self._stretches
        at = np.maximum(shares.size - shares[::-1].searchsorted(share) - 1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            into = np.where(share < shares[at], np.log(shares[at] / share) / rates[at], 0.0)
        if self._empties:
            last = (self.points[-1][0] - starts[-1]) * (1 - share / shares[-1])
            into = np.where(at == starts.size - 1, np.maximum(last, 0.0), into)
        return starts[at] + into

    @cached_property
    def bends(self) -> Vector:
        """The points, and within each stretch the scale of its rate, if it is shorter."""
        starts, _, rates, _ = self._stretches
        times = np.array([time for time, _ in self.points[1:]])
        until = times if self._empties else np.append(times[:-1], np.inf)
        with np.errstate(divide="ignore"):
            inner = starts[:, np.newaxis] + GRADES / rates[:, np.newaxis]
        return np.unique(np.concatenate([times, inner[inner < until[:, np.newaxis]]]))


def _checked(points: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The points as floats, refused by number, value and limit."""
    try:
        pairs = [(time, share) for time, share in points]
    except (TypeError, ValueError):
        raise ScenarioError("points: must be pairs (time, share still waiting)") from None
    if len(pairs) < 2:
        raise ScenarioError(f"points: {len(pairs)} given, at least two are needed: (0, 1) and a later one")
    found = [
        (number(f"points[{k}] time", time), number(f"points[{k}] share", share))
        for k, (time, share) in enumerate(pairs)
    ]
    problems = []
    if found[0] != (0.0, 1.0):
        problems.append(f"points[0]: {pairs[0]!r} must be (0, 1): at first everybody waits")
    for k, (time, share) in enumerate(found):
        if not 0 <= share <= 1:
            hint = f"; did you mean {share / 100:g}?" if 1 < share <= 100 else ""
            problems.append(f"points[{k}] share: {share:g} must lie in [0, 1]{hint}")
        if time == math.inf:
            problems.append(f"points[{k}] time: {time:g} must be finite")
        if k > 0 and not time > found[k - 1][0]:
            problems.append(
                f"points[{k}] time: {time:g} must be above the one before, {found[k - 1][0]:g}; "
                "sort the points and keep one per time"
            )
        if k > 0 and share > found[k - 1][1]:
            problems.append(
                f"points[{k}] share: {share:g} must not be above the one before, {found[k - 1][1]:g}; "
                "who has given up does not come back"
            )
        if 0 < k < len(found) - 1 and share == 0:
            problems.append(f"points[{k}] share: nobody is left at {time:g}; leave out the later points")
    if not problems and found[-1][1] == found[-2][1]:
        problems.append(
            f"points: from {found[-2][0]:g} on a share of {found[-1][1]:g} never gives up, so that there is no mean; "
            "end with a point at which fewer are left"
        )
    if problems:
        raise ScenarioError(problems)
    return tuple(found)
