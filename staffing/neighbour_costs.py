"""What a level's neighbours cost more or less than it does, simulated on callers and rosters in common."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from staffing.check import TOO_CLOSE, Neighbour, verdict_of
from staffing.level import Level
from staffing.looks import FEWEST_BATCHES, FEWEST_WAITS, SLACK, Budget, student
from staffing.models.simulation.controlled_mean import controlled_mean, enough
from staffing.models.simulation.shared_queue import SharedQueueSimulation
from staffing.optimize.costs import Costs
from staffing.unseen import Unseen


class NeighbourCost:
    """The cost per hour of one level less that of another, by formula and by simulation.

    Parameters
    ----------
    costs : Costs
        The prices.
    level, base : Level
        What the formulas say of both.
    run, base_run : SharedQueueSimulation
        Simulations of both, of the same seed, so that they can be compared batch by batch.
    comparisons : int
        How many comparisons share the false-alarm rate.
    unseen : Unseen, optional
        What rosters too rare to be simulated may add.
    """

    def __init__(
        self,
        costs: Costs,
        level: Level,
        base: Level,
        run: SharedQueueSimulation,
        base_run: SharedQueueSimulation,
        comparisons: int,
        unseen: Unseen | None = None,
    ) -> None:
        self.runs = run, base_run
        self._costs, self._levels, self._comparisons = costs, (level, base), comparisons
        self._unseen = unseen
        self._threshold = TOO_CLOSE * base.cost_per_hour
        self.found = self._look()

    @property
    def batches(self) -> int:
        """Batches that both have."""
        return min(run.batches for run in self.runs)

    def look(self) -> None:
        """Compare anew."""
        self.found = self._look()

    def _look(self) -> Neighbour:
        level, base = self._levels
        common = self.batches
        (cost, rare), (base_cost, base_rare) = (
            self._cost_by_batch(level, run, common)
            for level, run in zip(self._levels, self.runs, strict=True)
        )
        controls = np.hstack([run.controls()[:common] for run in self.runs])
        simulated, error = controlled_mean(cost - base_cost, controls)
        freedom = common - 1 - (controls.shape[1] if enough(common, controls.shape[1]) else 0)
        z = student(self._comparisons, common, freedom)
        hidden = (
            sum(self._unseen.most_cost(run.agents, run.rosters) for run in self.runs) if self._unseen else 0.0
        )
        mute = rare or base_rare or z == math.inf or hidden > max(self._threshold, z * error)
        half_width = math.inf if mute else z * error
        model = level.cost_per_hour - base.cost_per_hour
        resolved = abs(simulated) > half_width
        margin = sum(self._stated_error(level) for level in self._levels)
        if not (resolved and simulated * model < 0):
            margin += self._threshold
        return Neighbour(
            agents=level.agents,
            model_difference=model,
            simulated_difference=simulated,
            standard_error=error,
            half_width=half_width,
            margin=margin,
            verdict=verdict_of(abs(model - simulated), half_width, margin),
            resolved=resolved,
            too_close=abs(simulated) + half_width <= self._threshold,
        )

    def needed(self) -> float:
        """Batches that should settle it, going by the interval so far; 0 if it is settled."""
        found = self.found
        if found.resolved or found.too_close:
            return 0.0
        if self.batches < FEWEST_BATCHES:
            return FEWEST_BATCHES
        effect = max(abs(found.simulated_difference), abs(found.model_difference))
        goal = max(effect, self._threshold - abs(found.simulated_difference), 1e-300)
        ratio = found.half_width / goal
        return ratio * ratio * self.batches

    def _cost_by_batch(
        self, level: Level, run: SharedQueueSimulation, batches: int
    ) -> tuple[NDArray[np.float64], bool]:
        """The cost in each batch, and whether it is nothing to go by: waits are too rare, or settle too slowly."""
        values = run.batch_values()[:batches]
        waits = max(
            level.performance.wait_probability, float(np.mean([v["wait_probability"] for v in values]))
        )
        rare = waits * run.calls / run.batches < FEWEST_WAITS or not run.settled
        return np.array([self._costs.total(run.agents, v) for v in values]), rare

    def _stated_error(self, level: Level) -> float:
        stated = level.performance.method_error
        errors = {
            m: e if isinstance(e := stated[m], float) else 0.0
            for m in ("mean_queue", "abandonment_probability", "blocking_probability")
        }
        return self._costs.total(0, errors)


def settle(neighbours: Iterable[NeighbourCost], budget: Budget) -> None:
    """Run each pair until it is known which level is cheaper, or that it hardly matters.

    One for which the budget will not do, going by its interval so far, gets no more of it.
    """
    unsettled = list(neighbours)
    for slack in SLACK:
        unsettled = [
            neighbour
            for neighbour in sorted(unsettled, key=NeighbourCost.needed)
            if _run_on(neighbour, slack, budget)
        ]
        for neighbour in unsettled:
            neighbour.look()


def _run_on(neighbour: NeighbourCost, slack: float, budget: Budget) -> bool:
    """Run both to the batches needed and some more, if the budget allows; whether there is anything new."""
    needed = neighbour.needed()
    fewer, more = sorted(run.batches for run in neighbour.runs)
    left = budget.affordable()
    affordable = fewer + left if fewer + left <= more else (fewer + more + left) // 2
    target = int(min(slack * needed, affordable, budget.most_batches))
    if target < needed or target <= fewer:
        return False
    for run in neighbour.runs:
        budget.run(run, max(target - run.batches, 0))
    return True
