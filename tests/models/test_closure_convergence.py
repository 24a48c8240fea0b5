"""The gamma closure against the exact law of rosters, at a load that keeps the chance to wait as centres grow."""

import math
from itertools import pairwise

import numpy as np
import pytest

from staffing.models.rate_laws import GammaRates
from staffing.models.shared_queue import Callers, closure_rows, measures_by_roster, roster_levels

LAW = GammaRates(1.0, 0.3)
SIZES = (25, 100, 400, 1600)
GROUPS, GROUP = 20, 100


def mean_errors(agents: int, beta: float) -> dict[str, tuple[float, float]]:
    """Mean absolute error in P(wait) over stratified rosters and its standard error, with either c2."""
    callers = Callers(agents - beta * math.sqrt(agents), 0.5)
    generator = np.random.default_rng(agents)
    rosters = np.vstack([LAW.rosters(agents, GROUP, generator, strata=True) for _ in range(GROUPS)])
    capacities = rosters.sum(axis=1)
    own_c2 = (rosters.std(axis=1) / rosters.mean(axis=1)) ** 2
    rows = {
        "exact": roster_levels(callers, np.ascontiguousarray(rosters.T), range(agents, agents + 1))[0],
        "c2 of the law": closure_rows(callers, agents, capacities, LAW.cv**2),
        "c2 of the roster": np.concatenate(
            [
                closure_rows(callers, agents, np.array([s]), c2)
                for s, c2 in zip(capacities, own_c2, strict=True)
            ]
        ),
    }
    waits = {
        name: measures_by_roster(callers, agents, row, capacities)["wait_probability"]
        for name, row in rows.items()
    }
    exact = waits.pop("exact")
    groups = {name: np.abs(wait - exact).reshape(GROUPS, -1).mean(axis=1) for name, wait in waits.items()}
    return {name: (group.mean(), group.std(ddof=1) / math.sqrt(GROUPS)) for name, group in groups.items()}


@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_the_closures_error_in_the_chance_to_wait_falls_as_it_must(beta: float) -> None:
    """By 1 / sqrt(n) with the law's c2, from which a roster's own strays by as much; by 1 / n with the roster's.

    Local exponents rise to these, their distance about halving each time n is four times as large, so twice the last
    less the one before is the limit, or above it. Four standard errors: a false alarm in 7,000 runs of all four.
    """
    found = [mean_errors(agents, beta) for agents in SIZES]
    for name, limit in (("c2 of the law", 0.5), ("c2 of the roster", 1.0)):
        log_errors = [math.log(errors[name][0]) / math.log(4) for errors in found]
        relative = [errors[name][1] / errors[name][0] / math.log(4) for errors in found]
        exponents = [before - after for before, after in pairwise(log_errors)]
        assert all(0.8 * limit < exponent < 1.1 * limit for exponent in exponents)
        # In the log errors at 100, 400 and 1600 agents its weights are -1, 3 and -2.
        uncertainty = math.hypot(relative[1], 3 * relative[2], 2 * relative[3])
        assert uncertainty < 0.06
        assert 2 * exponents[2] - exponents[1] > limit - 4 * uncertainty
