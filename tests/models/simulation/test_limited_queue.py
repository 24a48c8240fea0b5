"""The simulation with places for some of the callers, against the chain of calls in the system.

A comparison allows four standard errors: a right simulation fails it with probability 6e-5 for a random seed. Each
error is bounded, so that a few percent off would be seen.
"""

import math

import numpy as np
import pytest
from scipy.linalg import expm

from staffing.models.errors import ScenarioError
from staffing.models.performance import MEASURES
from staffing.models.simulation.histogram_waits import wait_scale
from staffing.models.simulation.shared_queue import SharedQueueSimulation


def fixed(rates):
    return lambda size, generator: np.tile(np.array(rates, float), (size, 1))


def simulation(rates, lam, theta, max_calls, **changes):
    arguments = {
        "arrival_rate": lam,
        "rosters": fixed(rates),
        "agents": len(rates),
        "abandonment_rate": theta,
        "max_calls": max_calls,
        "threshold": 0.25,
        "rosters_per_batch": 8,
        "calls_per_roster": 1000,
    }
    return SharedQueueSimulation(**{**arguments, **changes})


def served_within(t, places, capacity, theta, own):
    """P(one with x ahead is answered by t) for each x; those ahead give up at rate theta each, this one at `own`."""
    rates = np.zeros((places + 1, places + 1))
    for x in range(places):  # the last state is to be answered
        down = capacity + x * theta
        rates[x, x - 1] += down
        rates[x, x] -= down + own
    return expm(rates * t)[:-1, -1]


def exactly(rates, lam, theta, max_calls, t=0.25):
    """Measures from the chain: longest idle first has a product form for the idle, then at most so many wait."""
    n, capacity, places = len(rates), sum(rates), max_calls - len(rates)
    idle = np.zeros(n + 1)
    idle[0] = 1.0
    for rate in rates:
        idle[1:] += np.arange(1, n + 1) * rate / lam * idle[:-1]
    queue = np.cumprod([1.0, *(lam / (capacity + theta * x) for x in range(1, places + 1))])
    total = idle.sum() + queue[1:].sum()
    p, free = queue / total, idle[1:].sum() / total
    waiting = p @ np.arange(places + 1)
    lost, blocked = theta * waiting / lam, p[-1]
    late, missed = (
        blocked + p[:-1] @ (1 - served_within(t, places, capacity, theta, own)) for own in (0.0, theta)
    )
    answered = 1 - lost - blocked
    return {
        "wait_probability": 1 - free - blocked,
        "mean_wait": waiting / lam,
        "mean_queue": waiting,
        "abandonment_probability": lost,
        "blocking_probability": blocked,
        "service_level_offered": 1 - missed,
        "service_level_answered": (1 - missed) / answered,
        "service_level_virtual": 1 - late,
        "capacity_utilisation": lam * answered / capacity,
        "throughput": lam * answered,
    }


UNLIKE = (0.4, 0.8, 1.0, 1.2, 1.6)
SYSTEMS = {
    "Erlang B": ([1.0] * 7, 6.0, 0.0, 7),
    "Erlang B of those who would give up": (UNLIKE, 5.0, 0.7, 5),
    "one agent, one place": ([1.0], 0.9, 0.0, 2),
    "patient and light": (UNLIKE, 3.5, 0.0, 9),
    "patient and critical": ([1.0] * 10, 10.0, 0.0, 16),
    "patient and overloaded": (UNLIKE, 9.0, 0.0, 12),
    "critical": (UNLIKE, 5.0, 0.5, 8),
    "overloaded": ([0.5] * 6, 6.0, 0.3, 12),
    "hardly limited": (UNLIKE, 5.0, 0.5, 40),
}


@pytest.mark.parametrize(("rates", "lam", "theta", "max_calls"), SYSTEMS.values(), ids=SYSTEMS.keys())
def test_every_measure_is_that_of_the_chain(rates, lam, theta, max_calls):
    done = simulation(rates, lam, theta, max_calls)
    done.run(150, workers=2)
    found, exact = done.performance(), exactly(rates, lam, theta, max_calls)
    for measure, value in exact.items():
        error = found.standard_errors[measure]
        assert error <= 0.012 * value + 1e-4, (measure, error, value)
        assert abs(found.value(measure) - value) <= 4 * error + 1e-9, (
            measure,
            found.value(measure),
            value,
            error,
        )
    if len(set(rates)) == 1:
        error = found.standard_errors["occupancy"]
        assert abs(found.occupancy - exact["capacity_utilisation"]) <= 4 * error
    assert found.wait_cdf(0) == pytest.approx(1 - found.wait_probability, abs=0.01)
    assert done.settled


def test_the_chain_used_here_is_that_of_the_tables():
    assert exactly([1.0] * 10, 10.0, 0.0, 10)["blocking_probability"] == pytest.approx(0.21458234)
    assert exactly([1.0] * 50, 48.0, 0.5, 300, 1 / 3)["service_level_offered"] == pytest.approx(
        0.943019, abs=1e-6
    )
    assert exactly([1.0] * 50, 48.0, 0.5, 300, 1 / 3)["service_level_virtual"] == pytest.approx(
        0.967943, abs=1e-6
    )


def test_measures_are_consistent():
    done = simulation(UNLIKE, 6.0, 0.5, 8)
    done.run(8)
    for found in [done.performance().values(), *done.batch_values()]:
        turned_away = found["abandonment_probability"] + found["blocking_probability"]
        assert min(found["abandonment_probability"], found["blocking_probability"]) > 0.01
        assert found["throughput"] == pytest.approx(6 * (1 - turned_away))
        assert found["mean_queue"] == pytest.approx(6 * found["mean_wait"])
        assert found["service_level_offered"] < found["service_level_virtual"]
        assert found["service_level_virtual"] < 1 - found["blocking_probability"]


def test_agents_who_are_always_busy_have_a_utilisation_with_an_honest_error():
    """In many batches they answer more calls than they can in the long run."""
    done = simulation(UNLIKE, 15.0, 0.0, 12, calls_per_roster=100)
    done.run(40)
    found = done.performance()
    assert max(batch["capacity_utilisation"] for batch in done.batch_values()) > 1
    assert found.capacity_utilisation == pytest.approx(min(found.throughput / 5, 1))
    errors = found.standard_errors
    assert errors["capacity_utilisation"] == pytest.approx(errors["throughput"] / 5)


def test_where_blocking_is_a_question_it_has_an_error():
    limited, unlimited = simulation(UNLIKE, 6.0, 0.5, 8), simulation(UNLIKE, 6.0, 0.5, None)
    for done in (limited, unlimited):
        done.run(4)
    found = limited.performance()
    assert dict(found.method_error) == dict.fromkeys(MEASURES, "unknown")
    assert 0 < found.standard_errors["blocking_probability"] < 0.05 * found.blocking_probability
    found = unlimited.performance()
    assert found.method_error["blocking_probability"] == "exact"
    assert (found.blocking_probability, found.standard_errors["blocking_probability"]) == (0, 0)


@pytest.mark.parametrize("max_calls", [10**4, 10**15, 10**30])
@pytest.mark.parametrize("theta", [0.5, math.inf])
def test_a_limit_never_reached_is_none(max_calls, theta):
    results = []
    for limit in (None, max_calls):
        done = simulation(UNLIKE, 5.0, theta, limit)
        done.run(30)
        results.append((done.performance().values(), done.performance().standard_errors))
    assert results[0] == results[1]


def test_without_patience_the_limit_takes_all_that_would_be_lost():
    lost, blocked = (simulation(UNLIKE, 5.0, math.inf, limit) for limit in (6, 5))
    for done in (lost, blocked):
        done.run(2)
    lost, blocked = lost.performance(), blocked.performance()
    assert lost.abandonment_probability == pytest.approx(blocked.blocking_probability, rel=1e-12)
    assert lost.blocking_probability == blocked.abandonment_probability == 0
    assert lost.wait_probability == lost.abandonment_probability
    assert blocked.wait_probability == 0
    assert lost.mean_wait == blocked.mean_wait == 0


@pytest.mark.parametrize("theta", [0.5, math.inf])
@pytest.mark.parametrize("factors", [None, lambda size, generator: generator.gamma(9, 1 / 9, size)])
def test_without_agents(theta, factors):
    done = simulation([], 3.0, theta, 2, arrival_factors=factors)
    done.run(40)
    found, lost = done.performance(), done.performance().abandonment_probability
    assert (found.throughput, found.mean_wait_answered, found.occupancy) == (0, math.inf, 1)
    assert found.blocking_probability == pytest.approx(1 - lost, abs=1e-9)
    if factors is None:
        # At most two in the system, each of whom leaves at rate theta: an Erlang B system of two.
        load = 3 / theta
        exact = load**2 / 2 / (1 + load + load**2 / 2)
        assert (
            abs(found.blocking_probability - exact)
            <= 4 * found.standard_errors["blocking_probability"] + 1e-12
        )


def test_patient_callers_fill_the_places_of_days_without_agents():
    """Half of the days nobody comes to work: four wait for ever, and every call is blocked."""
    rosters = np.array([[1.0, 1.0], [0.0, 0.0]])
    done = simulation(
        [1.0, 1.0], 1.5, 0.0, 4, rosters=lambda size, _: np.tile(rosters, (size // 2, 1)), agents=2
    )
    done.run(60)
    found, exact = done.performance(), exactly([1.0, 1.0], 1.5, 0.0, 4)
    for measure, value in {
        "blocking_probability": (1 + exact["blocking_probability"]) / 2,
        "mean_queue": (4 + exact["mean_queue"]) / 2,
        "throughput": exact["throughput"] / 2,
        "service_level_virtual": exact["service_level_virtual"] / 2,
    }.items():
        error = found.standard_errors[measure]
        assert error < 0.01 * value
        assert abs(found.value(measure) - value) <= 4 * error


def test_absent_agents_leave_their_places_to_those_who_wait():
    done, exact = simulation([1.0, 0.0, 0.0], 1.2, 0.5, 4), exactly([1.0], 1.2, 0.5, 4)
    done.run(60)
    for measure in ("blocking_probability", "mean_wait", "abandonment_probability"):
        error = done.performance().standard_errors[measure]
        assert error < 0.01 * exact[measure]
        assert abs(done.performance().value(measure) - exact[measure]) <= 4 * error


def test_results_do_not_depend_on_the_workers():
    gaps = np.array([0.0, 0.2, 1.0, 4.0])
    runs = [simulation(UNLIKE, 6.0, 0.5, 8, gap_quantiles=gaps) for _ in range(4)]
    for done, workers in zip(runs, (1, 2, 3, 7), strict=True):
        done.run(9, workers)
    assert all(done.performance().values() == runs[0].performance().values() for done in runs)
    assert all(done.batch_values() == runs[0].batch_values() for done in runs)
    np.testing.assert_array_equal(runs[0].controls(), runs[-1].controls())


def test_controls_have_mean_zero():
    """Five of them in two systems: 4.5 standard errors each."""
    for theta, limit in ((0.5, 8), (2.0, 5)):
        done = simulation(UNLIKE, 6.0, theta, limit, gap_quantiles=np.array([0.0, 0.2, 1.0, 4.0]))
        done.run(300, workers=2)
        controls = done.controls()
        errors = controls.std(axis=0, ddof=1) / math.sqrt(300)
        assert errors.max() < 0.002
        assert np.sum(errors > 0) == (5 if limit > 5 else 4)
        assert np.all(np.abs(controls.mean(axis=0)) <= 4.5 * errors)


@pytest.mark.parametrize("lam", [3.0, 5.0, 20.0])
def test_patient_callers_of_a_limited_queue_settle_at_any_load(lam):
    done = simulation(UNLIKE, lam, 0.0, 25)
    done.run(2)
    assert done.settled
    assert done.performance().mean_queue <= 20


def test_a_limit_too_far_to_be_reached_is_told():
    done = simulation([1.0], 1.5, 0.0, 10**9, calls_per_roster=20, rosters_per_batch=1)
    done.run(1)
    assert not done.settled


def test_a_limit_below_the_agents_is_refused():
    with pytest.raises(ScenarioError, match="max_calls: 5 is below the 7 agents"):
        simulation([1.0] * 7, 6.0, 0.5, 5)
    with pytest.raises(ScenarioError, match=r"max_calls: 7\.5 must be a whole number"):
        simulation([1.0] * 7, 6.0, 0.5, 7.5)
    with pytest.raises(ScenarioError, match="max_calls: -1"):
        simulation([], 6.0, 0.5, -1)


def test_a_limit_shortens_the_scale_of_waits():
    assert wait_scale(5.0, 9.0, 0.0) == 1.0
    assert wait_scale(5.0, 9.0, 0.0, 4) == 1.0
    assert wait_scale(50.0, 90.0, 0.0, 4) == 0.1
    assert wait_scale(50.0, 90.0, 0.01, 4) == 0.1
    assert wait_scale(50.0, 45.0, 0.01, 4) == 0.1
    assert wait_scale(50.0, 45.0, 0.01, 40) == wait_scale(50.0, 45.0, 0.01) == 0.2
    assert wait_scale(0.0, 45.0, 0.5, 4) == wait_scale(0.0, 45.0, 0.5)
