"""What the calculators in use would say: Erlang C and Erlang A take every agent for the average one."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from staffing.levels import Levels
from staffing.models.errors import Infeasible
from staffing.question import agents_of, promises_of, search_of
from staffing.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class ClassicAnswer:
    """One calculator's number of agents, and what it comes to when agents differ and callers give up."""

    model: str
    agents: int | None
    """None if the model has no answer; `reason` says why."""
    reason: str = ""
    cost_per_hour: float = 0.0
    """What that many agents cost an hour in the scenario as it is, on average over rosters."""
    share_missing: Mapping[str, float] = field(default_factory=dict)
    """Per promise, the share of rosters that miss it with that many agents."""


@dataclass(frozen=True, kw_only=True)
class Classic:
    """Erlang C (nobody gives up) and Erlang A (callers give up), both with identical agents."""

    erlang_c: ClassicAnswer
    erlang_a: ClassicAnswer


def classic_of(levels: Levels) -> Classic:
    """What plain Erlang C and Erlang A recommend, judged by the scenario as it is."""
    scenario = levels.scenario
    alike = scenario.alike().replace(max_agents=scenario.most_agents)
    patient = alike.replace(mean_patience_seconds=float("inf"), max_abandonment=None, abandonment_cost=0)
    return Classic(
        erlang_c=_answer(levels, patient, "Erlang C"),
        erlang_a=_answer(levels, alike, "Erlang A"),
    )


def _answer(levels: Levels, simplified: Scenario, model: str) -> ClassicAnswer:
    if model == "Erlang A" and simplified.mean_patience_seconds == float("inf"):
        return ClassicAnswer(model=model, agents=None, reason="callers never give up, so it is Erlang C")
    search = search_of(simplified, agents_of(simplified))
    if not search.costs.trade_off and not promises_of(simplified):
        return ClassicAnswer(
            model=model, agents=None, reason="it knows no abandonment, so it cannot weigh lost calls"
        )
    try:
        agents = search.best()
    except Infeasible as error:
        return ClassicAnswer(model=model, agents=None, reason=str(error).splitlines()[0])
    return ClassicAnswer(
        model=model,
        agents=agents,
        cost_per_hour=levels.costs.total(agents, levels.model.values(agents)),
        share_missing=levels.shares_missing(agents)[0],
    )
