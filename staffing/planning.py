"""What planners call: the best level, given levels, and a simulation, from a scenario.

The models behind them are loaded at the first call, so that importing these names costs nothing.
"""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from staffing.models.errors import ScenarioError
from staffing.scenario import Scenario

if TYPE_CHECKING:
    from staffing.curve import Curve
    from staffing.level import Level
    from staffing.models.performance import Performance
    from staffing.plan import StaffingPlan
    from staffing.question import Averaging


def optimize_staffing(
    scenario: Scenario | None = None,
    /,
    *,
    seed: int = 0,
    check: bool = True,
    check_seconds: float = 1.0,
    method: str = "auto",
    rosters: int = 1000,
    progress: bool = False,
    **fields: Any,
) -> "StaffingPlan":
    """The cheapest number of agents that keeps every promise, with what callers will experience.

    Minimises agent_cost_per_hour n + waiting_cost_per_hour E[queue] + abandonment_cost calls_per_hour P(abandon)
    over whole n, subject to the promises, both on average over rosters: agents' rates are drawn from the scenario's
    law. Exact for agents alike or given; otherwise the performance states its method and error. A simulation that
    shares the assumptions and none of the formulas then checks the level and its neighbours.

    Parameters
    ----------
    scenario : Scenario, optional
        The question; may be left out if `fields` give one.
    seed : int
        Seed of the check and of the rosters averaged over, >= 0.
    check : bool
        Whether to simulate.
    check_seconds : float
        Time the check may take, > 0; it stops earlier once everything is decided.
    method : {"auto", "closure", "rosters", "diffusion"}
        How to average over rosters: by the gamma closure given a roster's capacity; by the exact law of many rosters;
        "auto" takes the closure where its stated error is small. "diffusion" is the limit of many agents, to compare.
    rosters : int
        Rosters to average over, 100 to 100,000, if it is by them.
    progress : bool
        Whether to show progress on standard error.
    **fields
        Fields of `Scenario`, instead of or on top of `scenario`.

    Returns
    -------
    StaffingPlan

    Raises
    ------
    ScenarioError
        If the scenario cannot be used, or names neither a promise nor a cost of waiting or losing calls.
    Infeasible
        If no number of agents allowed keeps the promises, or the cost is infinite at every one.

    Examples
    --------
    >>> plan = optimize_staffing(calls_per_hour=1200, mean_handle_seconds=180, mean_patience_seconds=120,
    ...                          rate_cv=0, agent_cost_per_hour=30, abandonment_cost=2.5, check=False)
    >>> plan.agents
    58
    """
    from staffing.models.arguments import positive
    from staffing.solving import plan_of

    begun = time.perf_counter()
    question = _scenario(scenario, fields)
    question.require_goal()
    return plan_of(
        question,
        _averaging(method, rosters, seed, progress=progress),
        check_seconds=positive("check_seconds", check_seconds) if check else None,
        progress=progress,
        begun=begun,
    )


@overload
def evaluate_staffing(
    scenario: Scenario | None = None,
    /,
    *,
    agents: int,
    method: str = ...,
    rosters: int = ...,
    seed: int = ...,
    progress: bool = ...,
    **fields: Any,
) -> "Level": ...
@overload
def evaluate_staffing(
    scenario: Scenario | None = None,
    /,
    *,
    agents: Iterable[int],
    method: str = ...,
    rosters: int = ...,
    seed: int = ...,
    progress: bool = ...,
    **fields: Any,
) -> "Curve": ...
def evaluate_staffing(
    scenario: Scenario | None = None,
    /,
    *,
    agents: int | Iterable[int],
    method: str = "auto",
    rosters: int = 1000,
    seed: int = 0,
    progress: bool = False,
    **fields: Any,
) -> "Level | Curve":
    """What comes of given numbers of agents, enough or not.

    Parameters
    ----------
    scenario : Scenario, optional
        The question; promises and costs may be missing.
    agents : int or iterable of int
        Agents present, >= 0; with a fixed roster the first so many of it.
    method : {"auto", "closure", "rosters", "diffusion"}
        How to average over rosters: by the gamma closure given a roster's capacity; by the exact law of many rosters;
        "auto" takes the closure where its stated error is small. "diffusion" is the limit of many agents, to compare.
    rosters : int
        Rosters to average over, 100 to 100,000, if it is by them.
    seed : int
        Seed of the rosters averaged over, >= 0.
    progress : bool
        Whether to show progress on standard error.
    **fields
        Fields of `Scenario`, instead of or on top of `scenario`.

    Returns
    -------
    Level or Curve
        A level for one number; a curve, in the order given, for several.

    Raises
    ------
    ScenarioError
        If the scenario or a number of agents cannot be used.
    """
    from staffing.curve import Curve
    from staffing.levels import Levels
    from staffing.progress import progress_bar

    wanted = _several(agents)
    averaging = _averaging(method, rosters, seed, progress=progress and wanted is None)
    levels = Levels(_scenario(scenario, fields), averaging)
    if wanted is None:
        return levels.level(_agents(agents))
    found = []
    with progress_bar(progress, "evaluation", len(wanted), "levels") as advance:
        for n in wanted:
            found.append(levels.level(n))
            advance(1)
    return Curve(levels.scenario, found)


def simulate_staffing(
    scenario: Scenario | None = None,
    /,
    *,
    agents: int,
    seed: int = 0,
    rosters: int = 2000,
    progress: bool = False,
    **fields: Any,
) -> "Performance":
    """What callers experience with this many agents, by simulation: no formula, standard errors instead.

    Parameters
    ----------
    scenario : Scenario, optional
        The question; promises and costs may be missing.
    agents : int
        Agents present, >= 0.
    seed : int
        The same seed gives the same numbers on any number of cores.
    rosters : int
        Rosters drawn, each simulated apart, >= 128; rounded up to whole batches of 64 at most.
    progress : bool
        Whether to show a progress bar on standard error.
    **fields
        Fields of `Scenario`, instead of or on top of `scenario`.

    Raises
    ------
    ScenarioError
        If the scenario or another argument cannot be used.
    Infeasible
        If callers never give up and some roster's queue grows without end.
    """
    from staffing.models.arguments import count
    from staffing.progress import progress_bar
    from staffing.question import agents_of
    from staffing.simulating import SIMULATED, cores, simulation_of

    question, n = _scenario(scenario, fields), _agents(agents)
    if question.calls_per_hour == 0:
        raise ScenarioError("calls_per_hour = 0: there is nothing to simulate")
    if count("rosters", rosters) < 128:
        raise ScenarioError(f"rosters: {rosters} must be at least 128, to tell how uncertain the results are")
    model = agents_of(question)
    if model.rule not in SIMULATED:
        raise ScenarioError(
            f"routing = {question.routing} cannot be simulated; give {', '.join(SIMULATED[:-1])} or {SIMULATED[-1]}"
        )
    model.callers.places(n)
    if model.most is not None and n > model.most:
        raise ScenarioError(f"agents: {n} is more than the {model.most} there are; give fewer, or more rates")
    run = simulation_of(model, n, around=n, seed=count("seed", seed))
    batches = -(-rosters // run.rosters_per_batch)
    with progress_bar(progress, "simulation", batches * run.rosters_per_batch, "rosters") as advance:
        run.run(batches, cores(), advance)
    return run.performance()


def _scenario(scenario: Scenario | None, fields: dict[str, Any]) -> Scenario:
    if scenario is None:
        return Scenario.from_fields(fields)
    if not isinstance(scenario, Scenario):
        raise ScenarioError(
            f"scenario: {scenario!r} is not a Scenario; give Scenario(...) or its fields by name"
        )
    return scenario.replace(**fields) if fields else scenario


def _averaging(method: str, rosters: int, seed: int, *, progress: bool) -> "Averaging":
    from staffing.question import Averaging
    from staffing.simulating import cores

    return Averaging(method=method, rosters=rosters, seed=seed, workers=cores(), progress=progress)


def _several(agents: object) -> list[int] | None:
    """Numbers of agents, if it is several that are given; an array without a dimension is one number."""
    one = isinstance(agents, str | bytes | bytearray) or getattr(agents, "ndim", 1) == 0
    if one or not isinstance(agents, Iterable):
        return None
    return [_agents(n) for n in agents]


def _agents(agents: object) -> int:
    from staffing.models.arguments import count
    from staffing.scenario_fields import MOST_AGENTS

    n = count("agents", agents)
    if n > MOST_AGENTS:
        raise ScenarioError(f"agents: {n} is more than {MOST_AGENTS}, the most this package answers for")
    return n
