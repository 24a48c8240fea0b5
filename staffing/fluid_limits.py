"""What a plan's queue would lose and hold, were calls and agents a steady flow."""

from dataclasses import dataclass

from staffing.models.agents import Agents
from staffing.models.days import Days
from staffing.models.fluid import Fluid
from staffing.models.fluid_queue import fluid_queue, fluid_queue_over_days
from staffing.question import law_of
from staffing.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class FluidLimits:
    """The limits of ever more agents and calls at the same load; 0 for a roster with capacity for its load.

    What is lost beyond them is lost to chance within the hour, and falls with size; what they tell is lost to a want of
    capacity, and does not.
    """

    mean_roster: Fluid
    """Of a roster of mean capacity, on a mean day."""
    over_rosters: Fluid
    """The mean over rosters and days, weighted by calls."""


def fluid_limits(scenario: Scenario, model: Agents, agents: int, *, seed: int = 0) -> FluidLimits:
    """The limits of this many agents."""
    mean = fluid_queue(model.callers, agents, model.mean_capacity(agents))
    if scenario.roster == "fixed":
        return FluidLimits(mean_roster=mean, over_rosters=mean)
    days = Days(scenario.rate_day_cv, scenario.arrival_cv, scenario.absence)
    over = fluid_queue_over_days(model.callers, law_of(scenario), days, agents, seed=seed)
    return FluidLimits(mean_roster=mean, over_rosters=over)
