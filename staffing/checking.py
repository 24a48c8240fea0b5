"""Checking a level and its neighbours by simulation, for as long as it takes or may take."""

import math

from staffing.check import LEAST_MARGINS, Check, CheckRow, overall, verdict_of
from staffing.level import Level
from staffing.levels import Levels
from staffing.looks import FALSE_ALARM, FEWEST_WAITS, FIRST_LOOK, SLACK, Budget, student
from staffing.models.performance import Performance
from staffing.models.simulation.shared_queue import SharedQueueSimulation
from staffing.neighbour_costs import NeighbourCost, settle
from staffing.progress import progress_bar
from staffing.scenario import Scenario
from staffing.simulating import SIMULATED, simulation_of
from staffing.unseen import Unseen


def check_level(
    levels: Levels,
    agents: int,
    *,
    seed: int,
    seconds: float,
    progress: bool = False,
    most_batches: int | None = None,
) -> Check:
    """Simulate a level and its neighbours until everything is decided or the time is spent.

    A measure agrees if |model - simulated| + z se <= margin, disagrees if |model - simulated| - z se > margin, and
    is inconclusive otherwise; the differences in cost to the neighbours likewise. z is Student's, for the batches at
    hand, and shares the false-alarm rate between all measures, levels, differences and looks. Measures come first;
    the time they leave goes to telling which neighbour is cheaper.

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
    progress : bool
        Whether to show a progress bar.
    most_batches : int, optional
        A limit that does not depend on the machine's speed; the first look is made in any case.
    """
    if levels.model.rule not in SIMULATED:
        return _not_simulated(levels.scenario, seed)
    most = levels.model.most
    tested = [
        levels.level(n) for n in (agents - 1, agents, agents + 1) if n >= 0 and (most is None or n <= most)
    ]
    callers = levels.model.callers
    if not callers.settle:
        tested = [level for level in tested if level.performance.mean_wait < math.inf]
        if all(level.agents != agents for level in tested):
            return _unsettled(levels.scenario, agents, seed)
    runs = [simulation_of(levels.model, level.agents, around=agents, seed=seed) for level in tested]
    # One batch may take long, and is not the check's time if it has to load or to compile the kernels first.
    for run in runs:
        run.run(1)
    measures = [m for m in LEAST_MARGINS if m != "blocking_probability" or callers.max_calls is not None]
    comparisons = len(tested) * len(measures) + len(tested) - 1
    unseen = Unseen(levels.model, levels.costs) if callers.settle else None
    with progress_bar(progress, "check", seconds, "s") as advance:
        budget = Budget(seconds, most_batches, advance)
        rows = _rows_when_decided(tested, runs, measures, comparisons, budget, unseen)
        [base] = [(level, run) for level, run in zip(tested, runs, strict=True) if level.agents == agents]
        neighbours = [
            NeighbourCost(levels.costs, level, base[0], run, base[1], comparisons, unseen)
            for level, run in zip(tested, runs, strict=True)
            if level.agents != agents
        ]
        settle(neighbours, budget)
    found = tuple(neighbour.found for neighbour in neighbours)
    verdict, reason = overall(rows, found)
    if verdict == "disagrees" and "unknown" in levels.level(agents).performance.method_error.values():
        reason += "; this method does not state how far it is off"
    return Check(
        verdict=verdict,
        reason=reason,
        rows=rows,
        neighbours=found,
        assumes=assumptions(levels.scenario),
        replications=max(run.rosters for run in runs),
        calls=sum(run.calls for run in runs),
        seed=seed,
        false_alarm_rate=FALSE_ALARM,
        seconds=budget.spent,
    )


_DAYS = {
    "rate_day_cv": "a lognormal factor on all rates every day",
    "arrival_cv": "a gamma factor on calls every day",
    "absence": "absences independent",
}


def assumptions(scenario: Scenario) -> tuple[str, ...]:
    """What the simulation takes for granted as the formulas do."""
    agents = "the agents given" if scenario.roster == "fixed" else f"rates drawn afresh ({scenario.rate_law})"
    return (
        _calls(scenario),
        _laws(scenario),
        agents if scenario.rate_cv > 0 else "agents alike",
        *(_DAYS[name] for name in scenario.uncertain),
        _routing(scenario),
        "steady state",
    )


def _rows_when_decided(
    tested: list[Level],
    runs: list[SharedQueueSimulation],
    measures: list[str],
    comparisons: int,
    budget: Budget,
    unseen: Unseen | None,
) -> tuple[CheckRow, ...]:
    """Run the simulations look by look, those that are undecided only, and return every level's rows."""
    for run in runs:
        budget.run(run, 1)
    affordable = int(2 * budget.seconds * budget.workers / budget.spent)
    more = dict.fromkeys((run.agents for run in runs), min(max(affordable, 2), FIRST_LOOK) - 2)
    rows: dict[int, tuple[CheckRow, ...]] = {}
    undecided = list(zip(tested, runs, strict=True))
    for slack in (*SLACK, 0.0):
        for level, run in undecided:
            budget.run(run, more[run.agents])
            rows[run.agents] = _rows(level, run, measures, comparisons, unseen)
        wanted = {
            run.agents: slack * _deciding(run, rows[run.agents]) - run.batches
            for _, run in undecided
            if any(row.verdict == "inconclusive" for row in rows[run.agents])
        }
        share = min(budget.affordable() / max(sum(wanted.values()), 1.0), 1.0)
        more = {
            run.agents: min(int(share * wanted[run.agents]), budget.most_batches - run.batches)
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


def _rows(
    level: Level, run: SharedQueueSimulation, measures: list[str], comparisons: int, unseen: Unseen | None
) -> tuple[CheckRow, ...]:
    simulated = run.performance()
    z = student(comparisons, run.batches, run.degrees_of_freedom)
    waits = (
        max(performance.value("wait_probability") for performance in (level.performance, simulated))
        * run.calls
        / run.batches
    )
    mute = waits < FEWEST_WAITS or not run.settled
    hidden = {m: unseen.most(m, run.agents, run.rosters) if unseen else 0.0 for m in measures}
    return tuple(
        _row(level, measure, simulated, z, mute=mute, hidden=hidden[measure]) for measure in measures
    )


def _row(
    level: Level, measure: str, simulated: Performance, z: float, *, mute: bool, hidden: float
) -> CheckRow:
    model = level.performance.value(measure)
    stated = level.performance.method_error[measure]
    margin = max(LEAST_MARGINS[measure], 0.01 * abs(model)) + (stated if isinstance(stated, float) else 0.0)
    value, standard_error = simulated.value(measure), simulated.standard_errors[measure]
    half_width = z * standard_error if z < math.inf else math.inf
    verdict = verdict_of(abs(model - value), half_width, margin)
    # An error so large that nothing could disagree is no agreement.
    if verdict == "agrees" and isinstance(stated, float) and stated > _loose(measure, model):
        verdict = "inconclusive"
    return CheckRow(
        agents=level.agents,
        measure=measure,
        model=model,
        simulated=value,
        standard_error=standard_error,
        half_width=half_width,
        margin=margin,
        verdict="inconclusive"
        if verdict == "disagrees" and (mute or hidden > max(margin, half_width))
        else verdict,
    )


def _loose(measure: str, model: float) -> float:
    """A stated error beyond this says nothing of a measure: a tenth of a share, half of a wait."""
    return max(0.5 * model, LEAST_MARGINS[measure]) if measure == "mean_wait" else 0.1


def _calls(scenario: Scenario) -> str:
    if scenario.arrival_scv != 1:
        law = "exponential times" if scenario.arrival_scv > 1 else "sums of exponential times"
        return f"independent times between calls, mixed of two laws of {law}"
    return (
        "Poisson calls"
        if scenario.max_calls is None
        else f"Poisson calls, at most {scenario.max_calls} at a time"
    )


def _laws(scenario: Scenario) -> str:
    if scenario.mean_patience_seconds == 0:
        return "exponential service"
    if scenario.patience_law == "exponential":
        return "exponential service and patience"
    patience = "by its curve" if scenario.patience_law == "curve" else scenario.patience_law
    return f"exponential service, patience {patience}"


def _routing(scenario: Scenario) -> str:
    return {
        "fastest-first": "fastest idle agent first",
        "slowest-first": "slowest idle agent first",
        "random": "longest idle agent first (random has the same law)",
    }.get(scenario.routing, "longest idle agent first")


def _not_simulated(scenario: Scenario, seed: int) -> Check:
    return _nothing_run(
        scenario,
        seed,
        f"routing = {scenario.routing}: the simulation routes calls by {', '.join(SIMULATED[:-1])} or {SIMULATED[-1]} "
        "only",
    )


def _unsettled(scenario: Scenario, agents: int, seed: int) -> Check:
    cause = (
        f"{' and '.join(scenario.uncertain)} leave some days below the load"
        if scenario.uncertain
        else f"rate_cv = {scenario.rate_cv:g} leaves some rosters below the load"
        if scenario.rate_cv > 0 and scenario.roster == "drawn"
        else f"{agents} agents are below the load of {scenario.offered_load:.4g} erlangs"
    )
    return _nothing_run(
        scenario,
        seed,
        f"mean_patience_seconds = inf: callers never give up, and {cause}, so queues grow without end and "
        "no simulation settles",
    )


def _nothing_run(scenario: Scenario, seed: int, reason: str) -> Check:
    return Check(
        verdict="inconclusive",
        reason=reason,
        rows=(),
        neighbours=(),
        assumes=assumptions(scenario),
        replications=0,
        calls=0,
        seed=seed,
        false_alarm_rate=FALSE_ALARM,
        seconds=0.0,
    )
