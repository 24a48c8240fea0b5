"""The agents one has, by the diffusion with the chain's own drift and variance."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from staffing.models.arguments import positive
from staffing.models.diffusion.death_rates import roster_death_rates
from staffing.models.diffusion.diffusion_error import UNKNOWN
from staffing.models.diffusion.given_capacity import refuse_unfit
from staffing.models.diffusion.rows import rows_given_wait, with_queue
from staffing.models.diffusion.universal import UniversalDiffusion
from staffing.models.errors import ScenarioError
from staffing.models.performance import Performance
from staffing.models.routing import Routing, rule_of
from staffing.models.shared_queue import Callers, shared_queue


def roster_universal(
    rates: Sequence[float] | NDArray[np.float64],
    arrival_rate: float,
    abandonment_rate: float,
    *,
    arrival_scv: float = 1.0,
    routing: Routing = "longest-idle",
    continuity: bool = True,
    threshold: float = 0.0,
    time_unit: str = "time unit of the rates",
) -> Performance:
    """Performance of these agents, who differ, by `UniversalDiffusion` with the death rates of the routing rule.

    Parameters and errors are those of `roster_diffusion`; the continuity correction is on by default, since here it
    always helps. For Poisson calls `roster_performance` costs no more and is better, being exact or as good as the
    same death rates allow; this is for calls that are not Poisson, and to see what a diffusion can do.
    """
    callers = Callers(arrival_rate, abandonment_rate, threshold, time_unit)
    refuse_unfit(callers)
    rule = rule_of(routing, len(rates))
    mu = np.array([positive(f"rates[{k}]", rate) for k, rate in enumerate(rates)])
    if mu.size == 0:
        raise ScenarioError("rates: none given; a diffusion needs at least one agent")
    lam, n, s = positive("arrival_rate", arrival_rate), np.array([mu.size]), np.array([mu.sum()])
    law = UniversalDiffusion(
        lam, roster_death_rates(mu, lam, rule), callers.abandonment_rate, arrival_scv=arrival_scv
    )
    rows = with_queue(
        rows_given_wait(callers, np.array([lam]), n, s),
        np.array([lam]),
        n,
        callers.abandonment_rate,
        wait=np.array([law.wait_probability(continuity=continuity)]),
        queue=np.array([law.mean_queue(continuity=continuity)]),
        idle=np.array([law.mean_idle]),
    )
    return shared_queue(
        callers, mu.size, rows, s, np.ones(1), method="universal diffusion", method_error=UNKNOWN
    )
