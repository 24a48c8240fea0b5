"""What the variance of agents' rates does to callers: through the capacity one gets, and through who is idle."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from staffing.models.agents import OfRoster
from staffing.models.arguments import count
from staffing.models.diffusion.death_rates import linear_death_rates
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.errors import ScenarioError
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import RateLaw
from staffing.models.routing import Routing
from staffing.models.sampled_agents import FEWEST_ROSTERS, GROUPS, MOST_ROSTERS, SampledAgents
from staffing.models.shared_queue import Callers, Vector, chain_rows, closure_rows, measures_by_roster

OfCapacity = Callable[[Vector], Vector]
OfRows = Callable[[Vector, Vector], Vector]

_CAPACITY_STEP = 0.02
"""Of sqrt(lam mb), the width over which measures turn."""
_IDLENESS_STEP = 0.01
"""Of the mean rate."""
_SEEN_IDLE = 1e-12
"""Least share of the time idle from which one can say how fast the idle are."""


@dataclass(frozen=True, kw_only=True)
class VarianceChannels:
    """A figure at one CV of rates: what it is without variance, and what each channel adds to that."""

    value: float
    """The mean over rosters: alike + capacity + idleness."""
    alike: float
    """Of agents alike, all at the mean rate."""
    capacity: float
    """What rosters differing in capacity add, were all of a roster's agents alike: the same under every rule."""
    idleness: float
    """What it adds that the rule keeps some of a roster's agents idle more than others."""
    capacity_second_order: float
    """.5 n s^2 d2F / dS2 at S = n mb, s^2 the variance of one rate."""
    idleness_second_order: float
    """dF / dg (g - mb) at S = n mb and g = mb."""
    idle_rate: float
    """g, the mean rate of an idle agent, in rosters of mean capacity: the drift's pull for each of them.

    The mean rate where nobody is ever idle: then nothing depends on it.
    """
    standard_error: float
    """Of `idleness`, and so of `value`, from independent groups of rosters."""

    @property
    def second_order(self) -> float:
        """alike + capacity_second_order + idleness_second_order."""
        return self.alike + self.capacity_second_order + self.idleness_second_order


def variance_channels(
    callers: Callers,
    law: RateLaw,
    agents: int,
    *,
    routing: Routing = "longest-idle",
    figure: str | OfRoster = "abandonment_probability",
    rosters: int = 1000,
    seed: int = 0,
) -> VarianceChannels:
    """Split what a law of rates does to a figure into its two channels, with the second-order formula beside them.

    With F(S, g) the figure of a queue of capacity S whose idle agents would each work at the rate g,

        mean F - F(n mb, mb)  ~  .5 n s^2 d2F / dS2  +  dF / dg (g - mb).

    The first is the capacity channel: rosters stray by s sqrt(n), and a queue convex in S loses more to a poor roster
    than it gains by a good one. Its size goes with the square of the CV. The second is the idleness channel: g is
    mb (1 + CV^2) in the limit of longest-idle and random routing, mb where all idle alike, and away from mb by a
    multiple of the CV itself under priorities. So a little variance helps under fastest-first, and much of it hurts.

    The capacity channel is a quadrature over S. The idleness channel is a mean over rosters, of what each differs from
    agents alike of its capacity; they have the same Latin hypercube of uniforms at every CV and under every rule, for
    the same seed and number of rosters. So values are ten times surer than plain means over as many rosters.

    Parameters
    ----------
    callers : Callers
        What is offered; their queue must settle whoever serves it.
    law : RateLaw
        The law of one agent's rate.
    agents : int
        n >= 1.
    routing, rosters, seed
        As for `SampledAgents`: each roster exact under longest-idle and random routing, by recursive lumping under
        fastest- and slowest-first, by the closure of equal idle shares under least-occupied.
    figure : str or callable
        A measure, or a function of all measures, elementwise in rosters: a cost, say.

    Returns
    -------
    VarianceChannels
        The sum of the channels is exact as far as the rule's rosters are, and the law of capacity, taken for gamma; the
        second-order formula is an approximation: at n = 100, load .9 and theta half the mean rate it is within 2% of
        P(abandon) up to a CV of .5 under longest-idle and least-occupied routing, 6% under the priorities.

    Raises
    ------
    ScenarioError
        If there is no agent, nobody calls, a measure is not known, a queue may grow without end, or as `SampledAgents`.
    """
    n = count("agents", agents)
    if n == 0:
        raise ScenarioError("agents: 0 must be at least 1, for rates to have a variance")
    if callers.arrival_rate == 0 or not callers.settle:
        raise ScenarioError(
            "callers: some must call, and give up in the end or be blocked; the mean over rosters is infinite otherwise"
        )
    if isinstance(figure, str) and figure not in MEASURES:
        raise ScenarioError(f"figure: {figure!r} is not known; known are {', '.join(MEASURES)}")

    rosters = count("rosters", rosters)
    if not FEWEST_ROSTERS <= rosters <= MOST_ROSTERS:
        raise ScenarioError(f"rosters: {rosters!r} must be from {FEWEST_ROSTERS} to {MOST_ROSTERS}")

    def figure_of(values: Mapping[str, Vector]) -> Vector:
        return values[figure] if isinstance(figure, str) else figure(values)

    def of(rows: Vector, capacities: Vector) -> Vector:
        return figure_of(measures_by_roster(callers, n, rows, capacities))

    def equal(capacities: Vector) -> Vector:
        """The figure of agents alike of these capacities."""
        return of(closure_rows(callers, n, capacities, 0.0), capacities)

    model = SampledAgents(callers, law, rosters=rosters, seed=seed, routing=routing)
    capacities, values = model.capacities(n), model.by_roster(n)
    idle = np.broadcast_to(figure_of(values), capacities.shape) - equal(capacities)
    # Capacity less throughput is what idle agents would do; against what as many of the roster's mean rate would.
    unused = capacities * (1 - values["capacity_utilisation"])
    # Where next to nobody is ever idle, what is left of both is rounding: there is no idle agent to have a rate.
    share_idle = 1 - values["occupancy"]
    seen_idle = float(share_idle.mean()) > _SEEN_IDLE
    idle_rate = law.mean * float(unused.sum() / (capacities * share_idle).sum()) if seen_idle else law.mean
    alike, curvature = _without_variance(callers, n, law.mean, equal)
    nodes, weights = DrawnAgents(callers, law, "least-occupied").nodes(n)
    of_capacity, idleness = float(weights @ equal(nodes)) - alike, float(idle.mean())
    return VarianceChannels(
        value=alike + of_capacity + idleness,
        alike=alike,
        capacity=of_capacity,
        idleness=idleness,
        capacity_second_order=0.5 * n * (law.cv * law.mean) ** 2 * curvature,
        idleness_second_order=_idleness_slope(callers, n, law.mean, of) * (idle_rate - law.mean),
        idle_rate=idle_rate,
        standard_error=float(np.std(idle.reshape(GROUPS, -1).mean(axis=1), ddof=1)) / math.sqrt(GROUPS),
    )


def _without_variance(callers: Callers, n: int, mean: float, equal: OfCapacity) -> tuple[float, float]:
    """F(S, mb) at S = n mb, and its second derivative in S."""
    whole, h = n * mean, _CAPACITY_STEP * math.sqrt(callers.arrival_rate * mean)
    h = min(h, whole / 2)
    less, middle, more = equal(np.array([whole - h, whole, whole + h]))
    return float(middle), float(less - 2 * middle + more) / h**2


def _idleness_slope(callers: Callers, n: int, mean: float, of: OfRows) -> float:
    """dF / dg at S = n mb and g = mb, where idle agents take g each from the rate of the busy ones."""
    h = _IDLENESS_STEP * mean
    deaths = np.array([linear_death_rates(n, n * mean, g) for g in (mean - h, mean + h)])
    less, more = of(chain_rows(callers, deaths), np.full(2, n * mean))
    return float(more - less) / (2 * h)
