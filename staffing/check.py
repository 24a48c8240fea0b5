"""What a simulation says of the formulas: rows of measures, a verdict, a reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["agrees", "disagrees", "inconclusive"]

LEAST_MARGINS = {
    "wait_probability": 0.002,
    "mean_wait": 0.25,
    "abandonment_probability": 0.002,
    "blocking_probability": 0.002,
    "service_level_offered": 0.002,
    "occupancy": 0.002,
}
"""The measures checked, and the difference in each (fractions, seconds) that no planner would act on.

Blocking is checked where there is a limit on calls.
"""

TOO_CLOSE = 0.001
"""The share of a level's cost per hour by which another may differ and still be as good to a planner."""


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
    standard_error: float
    half_width: float
    """z standard errors: the simulated difference is known to this much, at the check's false-alarm rate."""
    margin: float
    """The difference of differences that still counts as agreement: what the method states it may err by and, unless
    the signs contradict each other, a thousandth of the cost per hour."""
    verdict: Verdict
    """Only "disagrees" touches the verdict of the whole check."""
    resolved: bool
    """Whether the simulation tells which is cheaper."""
    too_close: bool
    """Whether the simulation tells that they differ by less than a thousandth of the cost per hour."""

    @property
    def within(self) -> float:
        """What the simulation leaves possible: the costs differ by no more than this."""
        return abs(self.simulated_difference) + self.half_width


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a simulation says of the formulas.

    It tests the mathematics, not the data: the simulation shares what the formulas assume, and none of their
    derivations.
    """

    verdict: Verdict
    reason: str
    """In words, where the verdict is not "agrees"."""
    rows: tuple[CheckRow, ...]
    neighbours: tuple[Neighbour, ...]
    assumes: tuple[str, ...]
    """What the simulation takes for granted as the formulas do, so that no verdict speaks of it."""
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


def overall(rows: Iterable[CheckRow], neighbours: Iterable[Neighbour] = ()) -> tuple[Verdict, str]:
    """The verdict of a whole check, and in words what is most to blame for it unless all agree."""
    rows = tuple(rows)
    for verdict in ("disagrees", "inconclusive"):
        blamed = [row for row in rows if row.verdict == verdict]
        if blamed:
            return verdict, _reason(
                max(blamed, key=lambda row: (row.difference + row.half_width) / row.margin)
            )
        for neighbour in neighbours:
            if neighbour.verdict == verdict == "disagrees":
                return verdict, _neighbour_reason(neighbour)
    return "agrees", ""


def _neighbour_reason(neighbour: Neighbour) -> str:
    return (
        f"cost per hour of {neighbour.agents} agents less that of the plan: "
        f"model {neighbour.model_difference:.5g}, simulated {neighbour.simulated_difference:.5g} "
        f"+- {neighbour.half_width:.2g}, more than {neighbour.margin:.2g} apart"
    )


def _reason(row: CheckRow) -> str:
    said = f"{row.measure} at {row.agents} agents: model {row.model:.5g}, simulated {row.simulated:.5g}"
    if row.verdict == "disagrees":
        return f"{said} +- {row.half_width:.2g}, more than {row.margin:.2g} apart"
    if row.difference + row.half_width <= row.margin:
        return (
            f"{said}, but the formula itself is only known to {row.margin:.2g}, too little for agreement to mean "
            "anything; with up to 2000 agents try method = rosters"
        )
    if row.half_width < row.difference - row.margin:
        return f"{said}, but what decides is too rare, or settles too slowly, for a simulation to go by"
    if row.half_width > 100 * row.margin:
        return f"{said}, known far too roughly to tell: give it more check_seconds"
    needed = abs(row.margin - row.difference)
    return f"{said}, known to +- {row.half_width:.2g} where {needed:.2g} would decide: give it more check_seconds"
