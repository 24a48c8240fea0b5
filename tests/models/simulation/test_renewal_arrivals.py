"""The simulation with times between calls of any law, against the exact laws of queues with such arrivals.

A comparison allows four standard errors: a right simulation fails it with probability 6e-5 for a random seed.
"""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import comb

from staffing.models.simulation.quantile_tables import gap_table
from staffing.models.simulation.shared_queue import SharedQueueSimulation


def simulation(agents, lam, gaps, **changes):
    arguments = {
        "arrival_rate": lam,
        "rosters": lambda size, _: np.ones((size, agents)),
        "agents": agents,
        "abandonment_rate": 0.0,
        "gap_quantiles": gaps,
        "threshold": 0.25,
        "rosters_per_batch": 8,
        "calls_per_roster": 1500,
    }
    return SharedQueueSimulation(**{**arguments, **changes})


def hyperexponential(steps=4096, scv=4.0):
    """Its quantiles, two phases with balanced means, the last standing for the rarest step."""
    p = (1 + math.sqrt((scv - 1) / (scv + 1))) / 2
    exceeded = 1 - np.arange(steps + 1) / steps
    exceeded[-1] = 0.5 / steps

    def survival(t):
        return p * math.exp(-2 * p * t) + (1 - p) * math.exp(-2 * (1 - p) * t)

    return np.array([0.0, *(brentq(lambda t, e=e: survival(t) - e, 0, 1e3) for e in exceeded[1:])])


GAPS = {
    "deterministic": np.array([3.0, 3.0]),
    "uniform": np.array([0.0, 1.0]),
    "half at once": np.array([0.0, 0.0, 0.0, 1.0, 2.0]),
    "hyperexponential": hyperexponential(),
}
each_law = pytest.mark.parametrize("gaps", GAPS.values(), ids=GAPS.keys())


def transform(gaps, lam, s):
    """E[exp(-s gap)] of a table's law."""
    low, high = gap_table(gaps)[:-1] / lam, gap_table(gaps)[1:] / lam
    width = s * (high - low)
    return np.mean(
        np.exp(-s * low) * np.where(width > 0, -np.expm1(-width) / np.where(width > 0, width, 1), 1)
    )


def agrees(found, measure, exact, share=0.01):
    error = found.standard_errors[measure]
    assert error < share * exact, (measure, error)
    assert abs(found.value(measure) - exact) < 4 * error, (measure, found.value(measure), exact, error)


@each_law
def test_one_agent_and_patient_callers(gaps):
    """GI/M/1: the chance to wait solves x = A*(mu (1 - x)), and the wait of those who do is exponential."""
    lam = 0.7
    x = brentq(lambda x: x - transform(gaps, lam, 1 - x), 0, 1 - 1e-6)
    done = simulation(1, lam, gaps)
    done.run(200, workers=2)
    found = done.performance()
    agrees(found, "wait_probability", x)
    agrees(found, "mean_wait", x / (1 - x), share=0.02)
    agrees(found, "service_level_virtual", 1 - x * math.exp(-(1 - x) * 0.25))
    # Seen by time and not by calls, the agent is busy as work comes in.
    agrees(found, "occupancy", lam)


def test_the_deterministic_root_is_that_of_the_formula():
    x = brentq(lambda x: x - math.exp(-(1 - x) / 0.7), 0, 0.99)
    assert transform(GAPS["deterministic"], 0.7, 1 - x) == pytest.approx(x, rel=1e-12)


@each_law
def test_several_agents_and_no_place_to_wait(gaps):
    """GI/M/n/n: 1 / B is the sum of C(n, k) prod (1 - A*(i mu)) / A*(i mu) over i up to k (Palm 1943)."""
    n, lam = 5, 4.0
    a = np.array([transform(gaps, lam, i) for i in range(1, n + 1)])
    terms = np.cumprod(np.append(1.0, (1 - a) / a))
    done = simulation(n, lam, gaps, max_calls=n)
    done.run(200, workers=2)
    blocked = 1 / sum(comb(n, k) * terms[k] for k in range(n + 1))
    found = done.performance()
    agrees(found, "blocking_probability", blocked, share=0.02)
    agrees(found, "occupancy", lam * (1 - blocked) / n)
    assert found.wait_probability == 0


def test_exponential_gaps_by_quantiles_are_poisson_calls():
    steps = np.arange(20_001) / 20_000
    quantiles = -np.log1p(-np.minimum(steps, 1 - 2e-5))
    plain, tabled = (
        simulation(6, 6.0, gaps, abandonment_rate=0.5, calls_per_roster=300) for gaps in (None, quantiles)
    )
    for done in (plain, tabled):
        done.run(150)
    for measure in ("wait_probability", "abandonment_probability", "mean_wait"):
        value = plain.performance().value(measure)
        error = math.hypot(*(done.performance().standard_errors[measure] for done in (plain, tabled)))
        assert error < 0.01 * value
        assert tabled.performance().value(measure) == pytest.approx(value, abs=4 * error + 1e-4 * value)


def test_no_quantiles_and_none_are_poisson_calls():
    results = []
    for gaps in (None, np.empty(0), []):
        done = simulation(6, 5.0, gaps, calls_per_roster=100)
        done.run(2)
        results.append(done.performance().values())
    assert results[0] == results[1] == results[2]


def test_quantiles_are_worth_the_same_on_any_scale():
    results = []
    for scale in (1.0, 2.0**40):
        done = simulation(6, 5.0, scale * GAPS["uniform"], calls_per_roster=100)
        done.run(2)
        results.append(done.performance().values())
    assert results[0] == results[1]


@pytest.mark.parametrize("width", [0.0, 1e-9])
def test_gaps_that_differ_by_rounding_alone_correct_nothing(width):
    """Rounding of no mean zero, divided by its own small scatter, would be taken for luck."""
    done = simulation(6, 5.3, np.array([1.0 - width, 1.0 + width]), calls_per_roster=200)
    done.run(60)
    assert not done.controls()[:, :2].any()
    assert done.controls()[:, 2:4].all()
    varying = simulation(6, 5.3, np.array([0.999, 1.001]), calls_per_roster=200)
    varying.run(60)
    assert varying.controls()[:, :2].all()
    assert done.performance().standard_errors["occupancy"] < 0.01


def test_variable_gaps_are_left_more_time_to_be_forgotten():
    lengths = [
        simulation(6, 5.0, gaps, calls_per_roster=None).calls_per_roster
        for gaps in (GAPS["deterministic"], None, GAPS["hyperexponential"])
    ]
    assert lengths[0] == lengths[1] < lengths[2] < 4 * lengths[1]
