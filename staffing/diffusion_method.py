"""A scenario by the diffusion, and what it has no diffusion for."""

from collections.abc import Sequence

from staffing.models.agents import Agents
from staffing.models.days import Days
from staffing.models.diffusion.diffusion_agents import DrawnDiffusionAgents, GivenDiffusionAgents
from staffing.models.errors import ScenarioError
from staffing.models.rate_laws import RateLaw
from staffing.models.shared_queue import Callers
from staffing.scenario import Scenario


def diffusion_of(
    scenario: Scenario, callers: Callers, rates: RateLaw | Sequence[float], *, seed: int
) -> Agents:
    """The scenario's shared queue by the diffusion, per second; `rates` are their law, or those of given agents.

    Raises
    ------
    ScenarioError
        If there is no diffusion of its queue: patience is not exponential or 0, or calls are limited.
    """
    _refuse(scenario)
    if not isinstance(rates, RateLaw):
        return GivenDiffusionAgents(callers, tuple(rates), routing=scenario.routing)
    return DrawnDiffusionAgents(
        callers,
        rates,
        Days(scenario.rate_day_cv, scenario.arrival_cv, scenario.absence),
        routing="longest-idle" if rates.alike else scenario.routing,
        seed=seed,
    )


def _refuse(scenario: Scenario) -> None:
    why = ""
    if scenario.mean_patience_seconds == 0:
        why = (
            "mean_patience_seconds = 0: where nobody waits there is no queue to be diffused; let callers wait"
        )
    elif scenario.patience_law != "exponential":
        why = (
            f"patience_law = {scenario.patience_law!r}: the diffusion knows of patience its rate at 0 alone; give"
            " exponential patience"
        )
    elif scenario.max_calls is not None:
        why = f"max_calls = {scenario.max_calls}: its queue has no end; leave max_calls out"
    if why:
        raise ScenarioError(
            f"method: 'diffusion' cannot go with {why}, or leave method at 'auto', which answers it"
        )
