"""Checking a level and its neighbours by simulation, for as long as it takes or may take."""

import math
import sys
import time

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from staffing.check import LEAST_MARGINS, Check, CheckRow, Neighbour, overall, verdict_of
from staffing.level import Level
from staffing.levels import Levels
from staffing.models.performance import Performance
from staffing.models.simulation.shared_queue import SharedQueueSimulation
from staffing.simulating import cores, simulation_of

FALSE_ALARM = 1e-4
"""The chance that a check of right formulas says "disagrees" anywhere, at any of its looks."""

_FIRST_LOOK = 32
"""Batches at the first look, fewer if they would take far longer than there is."""
_SLACK = (1.1, 1.3, 3.0)
"""By how much the looks that follow exceed the batches that should decide."""
_LOOKS = 1 + len(_SLACK)
_FEWEST_BATCHES = 16
"""Batches below which their scatter is no measure of anything: two may agree by chance to the last digit."""
_FEWEST_WAITS = 30
"""Calls that wait in a batch, below which batches are too unlike the normal law to condemn a model."""


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
    most = levels.model.most
    tested = [
        levels.level(n) for n in (agents - 1, agents, agents + 1) if n >= 0 and (most is None or n <= most)
    ]
    if levels.model.callers.abandonment_rate == 0:
        tested = [level for level in tested if level.performance.mean_wait < math.inf]
        if all(level.agents != agents for level in tested):
            return _unsettled(seed)
    runs = [simulation_of(levels.model, level.agents, around=agents, seed=seed) for level in tested]
    for run in runs:
        run.run(1)
    # The first batches have loaded the kernels, and compiled them if need be; that is not the check's time.
    begun = time.perf_counter()
    rows = _rows_when_decided(tested, runs, begun, seconds, most_batches)
    verdict, reason = overall(rows)
    return Check(
        verdict=verdict,
        reason=reason,
        rows=rows,
        neighbours=_neighbours(levels, tested, runs, agents),
        replications=max(run.rosters for run in runs),
        calls=sum(run.calls for run in runs),
        seed=seed,
        false_alarm_rate=FALSE_ALARM,
        seconds=time.perf_counter() - begun,
    )


def _rows_when_decided(
    tested: list[Level],
    runs: list[SharedQueueSimulation],
    begun: float,
    seconds: float,
    most_batches: int | None,
) -> tuple[CheckRow, ...]:
    """Run the simulations look by look, those that are undecided only, and return every level's rows."""
    workers = cores()
    limit = sys.maxsize if most_batches is None else most_batches
    for run in runs:
        run.run(1)
    affordable = int(2 * seconds * workers / (time.perf_counter() - begun))
    more = dict.fromkeys((run.agents for run in runs), min(max(affordable, 2), _FIRST_LOOK) - 2)
    rows: dict[int, tuple[CheckRow, ...]] = {}
    undecided = list(zip(tested, runs, strict=True))
    for slack in (*_SLACK, 0.0):
        for level, run in undecided:
            run.run(more[run.agents], workers)
            rows[run.agents] = _rows(level, run, len(tested))
        wanted = {
            run.agents: slack * _deciding(run, rows[run.agents]) - run.batches
            for _, run in undecided
            if any(row.verdict == "inconclusive" for row in rows[run.agents])
        }
        spent = time.perf_counter() - begun
        affordable = int((seconds - spent) / spent * sum(run.batches for run in runs))
        share = min(affordable / max(sum(wanted.values()), 1.0), 1.0)
        more = {
            run.agents: min(int(share * wanted[run.agents]), limit - run.batches)
            for _, run in undecided
            if run.agents in wanted
        }
        undecided = [(level, run) for level, run in undecided if more.get(run.agents, 0) >= 2]
        if not undecided:
            break
    return tuple(row for level in tested for row in rows[level.agents])


def _deciding(run: SharedQueueSimulation, rows: tuple[CheckRow, ...]) -> float:
    """Batches that should decide every row, going by the intervals so far; one more than there are at least."""
    needed = (
        (row.half_width / max(0.8 * row.margin, row.difference - row.margin)) ** 2
        for row in rows
        if row.verdict == "inconclusive"
    )
    return max(min(max(needed), 1e9) * run.batches, run.batches + 1.0)


def _z(comparisons: int, freedom: int) -> float:
    """Standard errors that none of these comparisons exceeds at any look, but for the false-alarm rate."""
    return -float(stdtrit(freedom, FALSE_ALARM / (2 * comparisons * _LOOKS)))


def _rows(level: Level, run: SharedQueueSimulation, levels: int) -> tuple[CheckRow, ...]:
    simulated = run.performance()
    z = (
        _z(levels * len(LEAST_MARGINS), run.degrees_of_freedom)
        if run.batches >= _FEWEST_BATCHES
        else math.inf
    )
    waits = (
        max(performance.value("wait_probability") for performance in (level.performance, simulated))
        * run.calls
        / run.batches
    )
    return tuple(_row(level, measure, simulated, z, rare=waits < _FEWEST_WAITS) for measure in LEAST_MARGINS)


def _row(level: Level, measure: str, simulated: Performance, z: float, *, rare: bool) -> CheckRow:
    model = level.performance.value(measure)
    stated = level.performance.method_error[measure]
    margin = max(LEAST_MARGINS[measure], 0.01 * abs(model)) + (stated if isinstance(stated, float) else 0.0)
    value, standard_error = simulated.value(measure), simulated.standard_errors[measure]
    half_width = z * standard_error if z < math.inf else math.inf
    verdict = verdict_of(abs(model - value), half_width, margin)
    return CheckRow(
        agents=level.agents,
        measure=measure,
        model=model,
        simulated=value,
        standard_error=standard_error,
        half_width=half_width,
        margin=margin,
        verdict="inconclusive" if rare and verdict == "disagrees" else verdict,
    )


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
        half_width = math.inf
        if common >= _FEWEST_BATCHES:
            half_width = _z(2, common - 1) * float(difference.std(ddof=1)) / math.sqrt(common)
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
