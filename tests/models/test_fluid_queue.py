"""Fluid limits under any patience and with a limit on calls: reached by exact queues as they grow."""

import math

import numpy as np
import pytest

from staffing.models.days import Days
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.fluid import Fluid, fluid_limit, fluid_over_days
from staffing.models.fluid_queue import fluid_queue, fluid_queue_over_days
from staffing.models.patience import (
    DeterministicPatience,
    ExponentialPatience,
    GammaPatience,
    LognormalPatience,
)
from staffing.models.rate_laws import GammaRates
from staffing.models.shared_queue import Callers
from staffing.models.uncertain_days import UncertainDays

ALIKE = GammaRates(1.0, 0.0)
LAWS = [GammaPatience(2.0, 0.5), LognormalPatience(2.0, 2.0), DeterministicPatience(0.4)]


def test_exponential_patience_is_the_plain_limit():
    for lam, s in ((120.0, 100.0), (80.0, 100.0), (0.0, 1.0), (5.0, 0.0)):
        assert fluid_queue(Callers(lam, 0.5), 100, s) == fluid_limit(lam, s, 0.5)
    law, days = GammaRates(1.0, 0.2), Days(0.1, 0.1, 0.1)
    assert fluid_queue_over_days(Callers(60.0, 0.5), law, days, 66) == fluid_over_days(
        60.0, 0.5, law, days, 66
    )


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize(("load", "places"), [(0.8, None), (1.2, None), (1.2, 5.0), (1.2, 0.08), (2.0, 0.3)])
def test_large_queues_come_to_it(law, load, places):
    """Places to wait in, per agent. Errors fall at least as 1 / sqrt(n)."""
    off = []
    for n in (100, 1600):
        most = None if places is None else n + round(places * n)
        callers = Callers(load * n, patience=law, max_calls=most)
        found, exact = fluid_queue(callers, n, float(n)), DrawnAgents(callers, ALIKE).values(n)
        lost = abs(found.abandonment_probability - exact["abandonment_probability"])
        blocked = abs(found.blocking_probability - exact["blocking_probability"])
        off.append((lost, blocked, abs(found.mean_queue - exact["mean_queue"]) / n))
        assert found.mean_wait == pytest.approx(found.mean_queue / (load * n))
        if load > 1:
            gone = found.abandonment_probability + found.blocking_probability
            assert gone == pytest.approx(1 - 1 / load, abs=1e-9)
    for first, second in zip(*off, strict=True):
        assert second < max(first / 3, 1e-3)


@pytest.mark.parametrize("theta", [0.0, 0.5])
def test_a_limit_on_calls_of_exponential_patience(theta):
    full = fluid_queue(Callers(120.0, theta, max_calls=110), 100, 100.0)
    lost = theta * 10 / 120
    assert full.abandonment_probability == pytest.approx(lost, abs=1e-12)
    assert full.blocking_probability == pytest.approx(1 / 6 - lost, abs=1e-12)
    assert full.mean_queue == pytest.approx(10)
    wide = fluid_queue(Callers(120.0, 0.5, max_calls=1000), 100, 100.0)
    assert wide == Fluid(pytest.approx(1 / 6), pytest.approx(40), pytest.approx(1 / 3), pytest.approx(0))


def test_nobody_nothing_and_no_patience():
    assert fluid_queue(Callers(0.0, patience=LAWS[0]), 3, 3.0) == Fluid(0.0, 0.0, 0.0)
    alone = fluid_queue(Callers(10.0, patience=LAWS[0]), 0, 0.0)
    assert alone == Fluid(pytest.approx(1), pytest.approx(20), pytest.approx(2), pytest.approx(0))
    places = fluid_queue(Callers(10.0, 0.5, max_calls=4), 0, 0.0)
    assert places == Fluid(pytest.approx(0.2), pytest.approx(4), pytest.approx(0.4), pytest.approx(0.8))
    none = fluid_queue(Callers(10.0, math.inf, max_calls=9), 8, 8.0)
    assert none == Fluid(pytest.approx(0.2), 0.0, 0.0)
    everybody = fluid_queue(Callers(10.0, 0.0), 5, 5.0)
    assert everybody == Fluid(0.0, math.inf, math.inf)


@pytest.mark.parametrize("days", [Days(), Days(0.1, 0.1, 0.1)])
def test_means_over_rosters_and_days_are_those_of_exponential_patience_where_it_is(days):
    """By the points against the closed form: a law of patience that is exponential in all but name."""
    rates = GammaRates(1.0, 0.4)
    nearly = GammaPatience(2.0, 1.0001)
    assert not isinstance(nearly, ExponentialPatience)
    found = fluid_queue_over_days(Callers(60.0, patience=nearly), rates, days, 62)
    exact = fluid_queue_over_days(Callers(60.0, 0.5), rates, days, 62)
    assert found.abandonment_probability == pytest.approx(exact.abandonment_probability, rel=0.01)
    assert found.mean_queue == pytest.approx(exact.mean_queue, rel=0.01)
    one = fluid_queue_over_days(Callers(60.0, patience=nearly), ALIKE, Days(), 50)
    assert one == fluid_queue(Callers(60.0, patience=nearly), 50, 50.0)


def test_a_wide_factor_on_the_days_leaves_the_fluid_part_of_what_is_lost():
    callers, days = Callers(1000.0, patience=LAWS[1]), Days(rate_cv=0.2)
    fluid = fluid_queue_over_days(callers, ALIKE, days, 1000)
    exact = UncertainDays(callers, ALIKE, days).values(1000)
    assert fluid.abandonment_probability == pytest.approx(exact["abandonment_probability"], rel=0.06)
    assert np.isfinite(fluid.mean_queue)
