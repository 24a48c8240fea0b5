"""Whether an independent simulation agrees with the formulas, at a level and at its neighbours."""

import math
import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from staffing.level import Level
from staffing.levels import Levels
from staffing.models.performance import MethodError, Performance
from staffing.models.simulation.shared_queue import SharedQueueSimulation
from staffing.simulating import cores, simulation_of

Verdict = Literal["agrees", "disagrees", "inconclusive"]

FALSE_ALARM = 1e-4
"""The chance that a check of right formulas says "disagrees" anywhere, at any of its looks."""

_FIRST_LOOK = 32
"""Batches at the first look, fewer if they would take far longer than there is; they double from look to look."""
_LOOKS = 8
_MARGINS = {
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


def check_level(
    levels: Levels, agents: int, *, seed: int, seconds: float, most_batches: int | None = None
) -> Check:
    """Simulate a level and its neighbours until every measure is decided or the time is spent.

    A measure agrees if |model - simulated| + z se <= margin, disagrees if |model - simulated| - z se > margin, and
    is inconclusive otherwise. z is Student's, for the batches at hand, and shares the false-alarm rate between all
    measures, levels and looks.

    Parameters
    ----------
    levels : Levels
        The model under test.
    agents : int
        The recommended level.
    seed : int
        Seed of the simulation; the same batches give the same numbers on any number of cores.
    seconds : float
        Time to spend, > 0. The first batches are run in any case.
    most_batches : int, optional
        A limit that does not depend on the machine's speed; the first look is made in any case.
    """
    tested = [levels.level(n) for n in (agents - 1, agents, agents + 1) if n >= 0]
    if levels.model.callers.abandonment_rate == 0:
        tested = [level for level in tested if level.performance.mean_wait < math.inf]
        if all(level.agents != agents for level in tested):
            return _unsettled(seed)
    runs = [simulation_of(levels.model, level.agents, around=agents, seed=seed) for level in tested]
    workers = cores()
    for run in runs:
        run.run(1)
    # The first batches have loaded the kernels, and compiled them if need be; that is not the check's time.
    begun = time.perf_counter()
    for run in runs:
        run.run(1)
    affordable = int(2 * seconds * workers / (time.perf_counter() - begun))
    target = min(max(affordable, 2), _FIRST_LOOK)
    rows: dict[int, tuple[CheckRow, ...]] = {}
    undecided = list(zip(runs, tested, strict=True))
    for _ in range(_LOOKS):
        for run, level in undecided:
            run.run(target - run.batches, workers)
            rows[level.agents] = _rows(level, run, len(tested))
        undecided = [
            (run, level)
            for run, level in undecided
            if any(row.verdict == "inconclusive" for row in rows[level.agents])
        ]
        if not undecided:
            break
        spent = time.perf_counter() - begun
        per_batch = spent / sum(run.batches for run in runs)
        more = min(target, int((seconds - spent) / (per_batch * len(undecided))))
        if most_batches is not None:
            more = min(more, most_batches - target)
        if more < 2:
            break
        target += more
    all_rows = tuple(row for level in tested for row in rows[level.agents])
    return Check(
        verdict=_overall(all_rows),
        reason=_reason(all_rows),
        rows=all_rows,
        neighbours=_neighbours(levels, tested, runs, agents),
        replications=max(run.rosters for run in runs),
        calls=sum(run.calls for run in runs),
        seed=seed,
        false_alarm_rate=FALSE_ALARM,
        seconds=time.perf_counter() - begun,
    )


def _z(comparisons: int, freedom: int) -> float:
    """Standard errors that none of these comparisons exceeds at any look, but for the false-alarm rate."""
    return -float(stdtrit(freedom, FALSE_ALARM / (2 * comparisons * _LOOKS)))


def _rows(level: Level, run: SharedQueueSimulation, levels: int) -> tuple[CheckRow, ...]:
    simulated, z = run.performance(), _z(levels * len(_MARGINS), run.degrees_of_freedom)
    return tuple(_row(level, measure, simulated, z) for measure in _MARGINS)


def _row(level: Level, measure: str, simulated: Performance, z: float) -> CheckRow:
    model = level.performance.value(measure)
    error: MethodError = level.performance.method_error.get(measure, "unknown")
    margin = max(_MARGINS[measure], 0.01 * abs(model)) + (error if isinstance(error, float) else 0.0)
    value, standard_error = simulated.value(measure), simulated.standard_errors[measure]
    half_width = z * standard_error
    difference = abs(model - value)
    return CheckRow(
        agents=level.agents,
        measure=measure,
        model=model,
        simulated=value,
        standard_error=standard_error,
        half_width=half_width,
        margin=margin,
        verdict="agrees"
        if difference + half_width <= margin
        else "disagrees"
        if difference - half_width > margin
        else "inconclusive",
    )


def _overall(rows: tuple[CheckRow, ...]) -> Verdict:
    verdicts = {row.verdict for row in rows}
    return (
        "disagrees" if "disagrees" in verdicts else "inconclusive" if "inconclusive" in verdicts else "agrees"
    )


def _reason(rows: tuple[CheckRow, ...]) -> str:
    """The worst row in words."""
    worst = max(rows, key=lambda row: (abs(row.model - row.simulated) + row.half_width) / row.margin)
    if worst.verdict == "agrees":
        return ""
    said = (
        f"{worst.measure} at {worst.agents} agents: model {worst.model:.5g}, simulated {worst.simulated:.5g}"
    )
    if worst.verdict == "disagrees":
        return f"{said} +- {worst.half_width:.2g}, more than {worst.margin:.2g} apart"
    known = (
        f"known to +- {worst.half_width:.2g} where {worst.margin:.2g} is needed"
        if worst.half_width < 100 * worst.margin
        else "known far too roughly to tell"
    )
    return f"{said}, {known}: give it more check_seconds"


def _neighbours(
    levels: Levels, tested: list[Level], runs: list[SharedQueueSimulation], agents: int
) -> tuple[Neighbour, ...]:
    costs = {level.agents: level.cost_per_hour for level in tested}
    common = min(run.batches for run in runs)
    simulated = {run.agents: _cost_by_batch(levels, run)[:common] for run in runs}
    result = []
    for n in costs:
        if n == agents:
            continue
        difference = simulated[n] - simulated[agents]
        half_width = _z(2, difference.size - 1) * float(difference.std(ddof=1)) / math.sqrt(difference.size)
        mean = float(difference.mean())
        result.append(
            Neighbour(
                agents=n,
                model_difference=costs[n] - costs[agents],
                simulated_difference=mean,
                half_width=half_width,
                resolved=abs(mean) > half_width,
            )
        )
    return tuple(result)


def _cost_by_batch(levels: Levels, run: SharedQueueSimulation) -> NDArray[np.float64]:
    return np.array([levels.costs.total(run.agents, values) for values in run.batch_values()])


def _unsettled(seed: int) -> Check:
    return Check(
        verdict="inconclusive",
        reason="callers never give up, so some rosters' queues grow without end and no simulation settles",
        rows=(),
        neighbours=(),
        replications=0,
        calls=0,
        seed=seed,
        false_alarm_rate=FALSE_ALARM,
        seconds=0.0,
    )
