"""What a simulation says of the formulas: rows of measures, a verdict, a reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["agrees", "disagrees", "inconclusive"]

LEAST_MARGINS = {
    "wait_probability": 0.002,
    "mean_wait": 0.25,
    "abandonment_probability": 0.002,
    "service_level_offered": 0.002,
    "occupancy": 0.002,
}
"""The measures checked, and the difference in each (fractions, seconds) that no planner would act on."""


@dataclass(frozen=True, kw_only=True)
class CheckRow:
    """One measure at one level: the model against the simulation."""

    agents: int
    measure: str
    model: float
    simulated: float
    standard_error: float
    half_width: float
    """z standard errors: the simulated value is known to this much, at the check's false-alarm rate."""
    margin: float
    """The difference that still counts as agreement: what the method states it may err by, and the larger of 1% of
    the value and 0.002 (0.25 s for waits)."""
    verdict: Verdict

    @property
    def difference(self) -> float:
        """|model - simulated|."""
        return abs(self.model - self.simulated)


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """The cost per hour of a neighbouring level less that of the recommended one, on the same callers and rosters."""

    agents: int
    model_difference: float
    simulated_difference: float
    half_width: float
    resolved: bool
    """Whether the simulation tells which is cheaper."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a simulation says of the formulas.

    It tests the mathematics, not the data: the simulation shares the formulas' assumptions (Poisson calls,
    exponential service and patience, gamma rates, longest-idle agent first) and none of their derivations.
    """

    verdict: Verdict
    reason: str
    """In words, where the verdict is not "agrees"."""
    rows: tuple[CheckRow, ...]
    neighbours: tuple[Neighbour, ...]
    replications: int
    """Rosters simulated at the level that took most."""
    calls: int
    """Calls simulated and measured, in all."""
    seed: int
    false_alarm_rate: float
    seconds: float


def verdict_of(difference: float, half_width: float, margin: float) -> Verdict:
    """Whether two values so far apart, one of them known to +- half_width, agree within the margin."""
    if difference + half_width <= margin:
        return "agrees"
    return "disagrees" if difference - half_width > margin else "inconclusive"


def overall(rows: Iterable[CheckRow]) -> tuple[Verdict, str]:
    """The verdict of a whole check, and in words the row that is most to blame for it unless all agree."""
    for verdict in ("disagrees", "inconclusive"):
        blamed = [row for row in rows if row.verdict == verdict]
        if blamed:
            return verdict, _reason(
                max(blamed, key=lambda row: (row.difference + row.half_width) / row.margin)
            )
    return "agrees", ""


def _reason(row: CheckRow) -> str:
    said = f"{row.measure} at {row.agents} agents: model {row.model:.5g}, simulated {row.simulated:.5g}"
    if row.verdict == "disagrees":
        return f"{said} +- {row.half_width:.2g}, more than {row.margin:.2g} apart"
    if row.half_width < row.difference - row.margin:
        return f"{said}, but waits are too rare to go by: give it more check_seconds"
    if row.half_width > 100 * row.margin:
        return f"{said}, known far too roughly to tell: give it more check_seconds"
    return f"{said}, known to +- {row.half_width:.2g} where {row.margin:.2g} is needed: give it more check_seconds"
