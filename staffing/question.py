"""A scenario in the models' terms: who calls, who answers, what it costs and what is promised."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from staffing.diffusion_method import diffusion_of
from staffing.field_kinds import nearest
from staffing.models.agents import Agents
from staffing.models.arguments import count
from staffing.models.closure_error import wait_probability_error
from staffing.models.days import Days
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.errors import ScenarioError
from staffing.models.given_agents import GivenAgents
from staffing.models.rate_laws import (
    GammaRates,
    LognormalRates,
    ObservedRates,
    RateLaw,
    TwoPointRates,
    UniformRates,
)
from staffing.models.routing import without_closure
from staffing.models.sampled_agents import FEWEST_ROSTERS, MOST_EXACT, MOST_ROSTERS, SampledAgents
from staffing.models.shared_queue import OF_PATIENCE, Callers
from staffing.models.uncertain_days import UncertainDays
from staffing.optimize.costs import Costs
from staffing.optimize.level import LevelSearch
from staffing.optimize.promises import Promise
from staffing.patience_fields import patience_of
from staffing.progress import progress_bar
from staffing.scenario import Scenario

METHODS = ("auto", "closure", "rosters", "diffusion")
LEVELS_EACH_SIDE = 6
"""Levels shown on each side of the best; none of them may be cheaper and keep the promises."""
MOST_LINES, MOST_LINES_BY_ROSTERS = 400, 60
"""Lines up to which a search looks at every level where agents who differ share them."""
LARGEST_ERROR = 0.005
"""Stated error of P(wait) at the offered load up to which "auto" trusts the closure."""
_LAWS: Mapping[str, Callable[[float, float], RateLaw]] = {
    "gamma": GammaRates,
    "lognormal": LognormalRates,
    "uniform": UniformRates,
    "two-point": TwoPointRates,
}


@dataclass(frozen=True)
class Averaging:
    """How to average over rosters, where there is more than one.

    Parameters
    ----------
    method : {"auto", "closure", "rosters", "diffusion"}
        The gamma closure, given the capacity of a roster; or the law of many rosters, one by one; "auto" takes the
        closure where its stated error is small. Fastest- and slowest-first routing have no closure; days that differ
        are not averaged over by rosters. "diffusion", the limit of many agents, is for comparison: never taken unless
        asked for, it answers for agents alike and given, too.
    rosters : int
        How many rosters, 100 to 100,000, if it is by them.
    seed : int
        Seed of their draw, >= 0.
    workers : int
        Threads; the results do not depend on it.
    progress : bool
        Whether to show progress on standard error.

    Raises
    ------
    ScenarioError
        If the method is not known or a number is out of range.
    """

    method: str = "auto"
    rosters: int = 1000
    seed: int = 0
    workers: int = 1
    progress: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            hint = nearest(str(self.method), METHODS)
            raise ScenarioError(f"method: {self.method!r} is not known; known are {', '.join(METHODS)}{hint}")
        object.__setattr__(self, "seed", count("seed", self.seed))
        object.__setattr__(self, "rosters", count("rosters", self.rosters))
        if not FEWEST_ROSTERS <= self.rosters <= MOST_ROSTERS:
            raise ScenarioError(f"rosters: {self.rosters} must be from {FEWEST_ROSTERS} to {MOST_ROSTERS}")


def callers_of(scenario: Scenario) -> Callers:
    """What is offered to the agents, per second."""
    patience = patience_of(scenario)
    return Callers(
        scenario.arrival_rate,
        scenario.abandonment_rate if patience is None else OF_PATIENCE,
        scenario.service_level_seconds,
        "second",
        patience,
        scenario.max_calls,
        scenario.arrival_scv,
    )


def law_of(scenario: Scenario) -> RateLaw:
    """The law of one agent's rate, per second."""
    if scenario.observed_rates_per_hour is not None:
        return ObservedRates(_per_second(scenario.observed_rates_per_hour))
    return _LAWS[scenario.rate_law](scenario.service_rate, scenario.rate_cv)


def agents_of(scenario: Scenario, averaging: Averaging | None = None) -> Agents:
    """The shared queue of the scenario, per second, at any head count."""
    averaging = averaging or Averaging()
    callers = callers_of(scenario)
    if averaging.method == "diffusion":
        fixed = scenario.roster == "fixed" and scenario.observed_rates_per_hour
        rates = _per_second(fixed) if fixed else law_of(scenario)
        return diffusion_of(scenario, callers, rates, seed=averaging.seed)
    if scenario.roster == "fixed" and scenario.observed_rates_per_hour is not None:
        return GivenAgents(callers, _per_second(scenario.observed_rates_per_hour), routing=scenario.routing)
    law = law_of(scenario)
    if scenario.uncertain:
        if averaging.method == "rosters":
            raise ScenarioError(
                f"method: 'rosters' cannot go with {' and '.join(scenario.uncertain)}: days that differ are averaged "
                "over by the closure only; leave method at 'auto'"
            )
        return UncertainDays(
            callers,
            law,
            Days(scenario.rate_day_cv, scenario.arrival_cv, scenario.absence),
            routing="longest-idle" if law.alike else scenario.routing,
            seed=averaging.seed,
        )
    if law.alike:
        # Whoever gets the call is like any other.
        return DrawnAgents(callers, law)
    by_rosters = (
        averaging.method == "rosters"
        or without_closure(scenario.routing)
        or (
            averaging.method == "auto"
            and scenario.offered_load <= 0.8 * MOST_EXACT
            and wait_probability_error(law, max(round(scenario.offered_load), 1)) > LARGEST_ERROR
        )
    )
    if not by_rosters:
        return DrawnAgents(callers, law, routing=scenario.routing)
    return SampledAgents(
        callers,
        law,
        rosters=averaging.rosters,
        seed=averaging.seed,
        workers=averaging.workers,
        routing=scenario.routing,
        bar=lambda total: progress_bar(averaging.progress, "averaging", total, "rosters"),
    )


def costs_of(scenario: Scenario) -> Costs:
    """Prices per hour."""
    return Costs(
        agent=scenario.agent_cost_per_hour,
        waiting=scenario.waiting_cost_per_hour,
        losing=scenario.abandonment_cost * scenario.calls_per_hour,
    )


def promises_of(scenario: Scenario) -> dict[str, Promise]:
    """The promises made, by the field that makes them."""
    measures = {
        "min_service_level": (f"service_level_{scenario.service_level_definition}", True),
        "max_abandonment": ("abandonment_probability", False),
        "max_mean_wait_seconds": ("mean_wait", False),
        "max_occupancy": ("occupancy", False),
    }
    return {
        name: Promise(measure, float(limit), at_least)
        for name, (measure, at_least) in measures.items()
        if (limit := getattr(scenario, name)) is not None
    }


def search_of(scenario: Scenario, model: Agents) -> LevelSearch:
    """The search for the scenario's best level, over `agents_of(scenario)`."""
    return LevelSearch(
        values=model.values,
        costs=costs_of(scenario),
        promises=promises_of(scenario),
        offered_load=scenario.offered_load,
        lowest=scenario.min_agents,
        highest=scenario.max_agents,
        most=model.most,
        lines=scenario.max_calls,
        given=isinstance(model, GivenAgents),
        every=isinstance(model, GivenAgents) or _unlike_agents_share_lines(scenario, model),
        uneven=LEVELS_EACH_SIDE if isinstance(model, SampledAgents) or scenario.max_calls else 0,
    )


def _unlike_agents_share_lines(scenario: Scenario, model: Agents) -> bool:
    """Whether another agent may hurt, and there are few enough levels to look at all."""
    most = MOST_LINES_BY_ROSTERS if isinstance(model, SampledAgents) else MOST_LINES
    return scenario.max_calls is not None and scenario.rate_cv > 0 and scenario.max_calls <= most


def _per_second(rates_per_hour: Sequence[float]) -> tuple[float, ...]:
    return tuple(rate / 3600 for rate in rates_per_hour)
