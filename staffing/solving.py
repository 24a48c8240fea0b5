"""From a scenario to a plan."""

import math
import time
from importlib.metadata import version

from staffing.binding import binding_of
from staffing.checking import check_level
from staffing.classic import classic_of
from staffing.curve import Curve
from staffing.fluid_limits import fluid_limits
from staffing.levels import Levels
from staffing.models.errors import Infeasible
from staffing.models.regime import classify, regime_probabilities, safety
from staffing.plan import StaffingPlan
from staffing.question import LEVELS_EACH_SIDE, Averaging, law_of, search_of
from staffing.scenario import Scenario


def plan_of(
    scenario: Scenario,
    averaging: Averaging,
    *,
    check_seconds: float | None,
    progress: bool = False,
    begun: float,
) -> StaffingPlan:
    """The best level, its surroundings and, unless `check_seconds` is None, the simulation's verdict."""
    _refuse_infinite_means(scenario)
    levels = Levels(scenario, averaging)
    search = search_of(scenario, levels.model)
    agents = search.best()
    model, lam = levels.model, scenario.arrival_rate
    end = agents + LEVELS_EACH_SIDE if model.most is None else min(agents + LEVELS_EACH_SIDE, model.most)
    curve = Curve(scenario, [levels.level(n) for n in range(max(agents - LEVELS_EACH_SIDE, 0), end + 1)])
    check = None
    if check_seconds is not None and lam > 0:
        check = check_level(levels, agents, seed=averaging.seed, seconds=check_seconds, progress=progress)
    return StaffingPlan(
        scenario=scenario,
        level=curve.at(agents),
        curve=curve,
        regime=classify(safety(lam, model.mean_rate, model.mean_capacity(agents))) if lam > 0 else "QD",
        regime_probabilities=regime_probabilities(
            lam, model.mean_rate, lambda capacity: model.capacity_cdf(agents, capacity)
        )
        if lam > 0
        else {"QD": 1.0, "QED": 0.0, "ED": 0.0},
        fluid=fluid_limits(scenario, model, agents, seed=averaging.seed),
        binding=binding_of(search, agents),
        classic=classic_of(levels),
        check=check,
        assumed=scenario.assumed(),
        warnings=scenario.warnings(),
        provenance={
            "version": version("staffing"),
            "seed": averaging.seed,
            "method": curve.at(agents).performance.method,
            "seconds": time.perf_counter() - begun,
        },
    )


def _refuse_infinite_means(scenario: Scenario) -> None:
    """Callers who never give up and agents or days that differ: at every level some queue grows without end."""
    limited = scenario.max_calls is not None
    if scenario.mean_patience_seconds < math.inf or scenario.calls_per_hour == 0 or limited:
        return
    law, days = law_of(scenario), scenario.uncertain
    if not days and (law.alike or law.lowest > 0):
        return
    cause = f"agents differ (rate_cv = {scenario.rate_cv:g})"
    if days:
        cause = f"days differ ({', '.join(f'{name} = {getattr(scenario, name):g}' for name in days)})"
    what = "day" if days else "roster"
    certain = " and ".join(f"{name} = 0" for name in days or ("rate_cv",))
    if days and not (law.alike or law.lowest > 0):
        certain += " and rate_cv = 0"
    wants = [
        f"{name} = {value:g}"
        for name in ("waiting_cost_per_hour", "max_mean_wait_seconds")
        if (value := getattr(scenario, name))
    ]
    if wants:
        raise Infeasible(
            f"{' and '.join(wants)} cannot be weighed: callers never give up and {cause}, so some {what} falls below "
            f"the load at any number of agents, and the mean wait is infinite; give a finite mean_patience_seconds, or "
            f"max_calls, or {certain}, or promise min_service_level"
        )
