"""What the simulation promises apart from being right on average: seeds, threads, interrupts, refusals."""

import math
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staffing.models.errors import Infeasible, ScenarioError
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import GammaRates
from staffing.models.simulation.histogram_waits import HistogramWaits
from staffing.models.simulation.shared_queue import SharedQueueSimulation


def identical(rate, agents):
    return lambda size, generator: np.full((size, agents), rate)


def gamma(agents, cv=0.3):
    return lambda size, generator: GammaRates(1.0, cv).rosters(agents, size, generator, strata=True)


def simulation(**changes):
    arguments = {
        "arrival_rate": 10.0,
        "rosters": gamma(10),
        "agents": 10,
        "abandonment_rate": 0.5,
        "threshold": 0.1,
        "rosters_per_batch": 8,
        "calls_per_roster": 300,
    }
    return SharedQueueSimulation(**{**arguments, **changes})


def outcome(done):
    p = done.performance()
    return p.values(), p.standard_errors, [p.wait_cdf(t) for t in (0, 0.1, 1)], done.calls


@pytest.fixture(scope="module")
def eight_batches():
    done = simulation()
    done.run(8)
    return done


@settings(max_examples=30)
@given(
    cuts=st.sets(st.integers(0, 8)), workers=st.lists(st.sampled_from([1, 2, 3, 7]), min_size=10, max_size=10)
)
def test_results_depend_on_seed_and_batches_alone(eight_batches, cuts, workers):
    done, reported = simulation(), []
    for batches, threads in zip(np.diff(sorted({0, 8} | cuts)), workers, strict=False):
        done.run(int(batches), threads, reported.append)
    assert (done.batches, done.rosters, done.calls) == (8, 64, 64 * 300)
    assert outcome(done) == outcome(eight_batches)
    assert reported == [8] * 8


@pytest.mark.parametrize("failing_at", [1, 4, 7])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_run_cut_short_leaves_no_trace(eight_batches, failing_at, workers):
    """Not even after earlier runs, and wherever the interrupt falls: none of its batches, no thread."""
    done, before, heard = simulation(), threading.enumerate(), []
    done.run(2)
    two = outcome(done)

    def interrupt(rosters):
        heard.append(rosters)
        if len(heard) == failing_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        done.run(30, workers, interrupt)
    assert threading.enumerate() == before
    assert done.batches == 2
    assert outcome(done) == two
    done.run(6, workers)
    assert outcome(done) == outcome(eight_batches)


def test_another_seed_gives_other_results(eight_batches):
    other = simulation(seed=1)
    other.run(8)
    assert outcome(other) != outcome(eight_batches)


def test_performance_is_consistent(eight_batches):
    p = eight_batches.performance()
    assert p.method == "simulation"
    assert p.mean_queue == pytest.approx(10 * p.mean_wait)
    assert p.throughput == pytest.approx(10 * (1 - p.abandonment_probability))
    assert p.wait_cdf(0) == pytest.approx(1 - p.wait_probability)
    assert p.wait_cdf(p.wait_quantile(0.9)) == pytest.approx(0.9)
    assert p.wait_cdf(math.inf) == 1
    assert set(p.standard_errors) == set(MEASURES)
    assert p.service_level.virtual < p.service_level.answered
    assert p.service_level.offered < p.service_level.virtual


def test_standard_errors_shrink_with_the_square_root_of_the_batches():
    errors = []
    for batches in (50, 800):
        done = simulation(calls_per_roster=50, rosters_per_batch=4, warm_up_calls=50)
        done.run(batches)
        errors.append(done.performance().standard_errors["mean_wait"])
    assert 2.8 < errors[0] / errors[1] < 5.6


def test_few_batches_are_judged_by_their_plain_scatter(eight_batches):
    shares = [batch["wait_probability"] for batch in eight_batches.batch_values()]
    p = eight_batches.performance()
    assert p.wait_probability == pytest.approx(np.mean(shares))
    assert p.standard_errors["wait_probability"] == pytest.approx(np.std(shares, ddof=1) / math.sqrt(8))


def test_many_batches_are_judged_by_their_scatter_about_what_luck_explains():
    done = simulation()
    done.run(60)
    shares = np.array([batch["wait_probability"] for batch in done.batch_values()])
    p = done.performance()
    plain = shares.std(ddof=1) / math.sqrt(60)
    assert p.standard_errors["wait_probability"] < 0.8 * plain
    assert abs(p.wait_probability - shares.mean()) < 4.5 * plain


@pytest.mark.parametrize(("batches", "degrees"), [(2, 1), (24, 23), (25, 19), (60, 54)])
def test_degrees_of_freedom(batches, degrees):
    done = simulation(calls_per_roster=1, rosters_per_batch=1, warm_up_calls=0)
    done.run(batches)
    assert done.degrees_of_freedom == degrees


def test_batch_values_are_the_measures_of_each_batch_alone(eight_batches):
    values = eight_batches.batch_values()
    assert [set(batch) for batch in values] == [set(MEASURES)] * 8
    other = simulation()
    other.run(3, workers=2)
    assert other.batch_values() == values[:3]
    p = eight_batches.performance()
    for measure in ("wait_probability", "mean_wait", "mean_queue", "throughput", "service_level_offered"):
        assert np.mean([batch[measure] for batch in values]) == pytest.approx(p.value(measure))
    for batch in values:
        assert batch["mean_queue"] == pytest.approx(10 * batch["mean_wait"])
        assert batch["throughput"] == pytest.approx(10 * (1 - batch["abandonment_probability"]))
        assert batch["mean_wait_answered"] * (1 - batch["abandonment_probability"]) < batch["mean_wait"]
        assert batch["service_level_offered"] < batch["service_level_virtual"]
        assert 0 < batch["occupancy"] < 1
    assert simulation().batch_values() == []


def test_the_same_callers_at_two_levels_make_the_difference_sharper():
    def lost(agents, seed):
        done = simulation(rosters=identical(1.0, agents), agents=agents, seed=seed)
        done.run(2)
        return done.performance().abandonment_probability

    few = np.array([lost(10, seed) for seed in range(60)])
    more = np.array([lost(11, seed) for seed in range(60)])
    assert np.var(few - more) < 0.2 * (np.var(few) + np.var(more))
    assert few.mean() > more.mean()


def test_the_wait_law_interpolates_between_the_edges():
    law = HistogramWaits.of_counts(np.array([4, 2, 0, 2]), scale=1.0, calls=16)
    edges = [0, 1 / 3, 1, 3, math.inf]
    assert [law.survival(t) for t in edges] == pytest.approx([0.5, 0.25, 0.125, 0.125, 0])
    assert law.survival(1 / 7) == pytest.approx(0.375)


def test_the_wait_law_of_a_queue_without_agents_is_that_of_patience():
    done = simulation(rosters=identical(1.0, 0), agents=0, calls_per_roster=5000)
    done.run(10)
    p = done.performance()
    # 400,000 independent waits: Dvoretzky-Kiefer-Wolfowitz at 1e-4, and .0001 for the bins.
    distance = max(abs(p.wait_cdf(t) - (1 - math.exp(-t / 2))) for t in np.linspace(0, 20, 400))
    assert distance < math.sqrt(math.log(2 / 1e-4) / 2 / done.calls) + 1e-4
    assert (p.wait_probability, p.abandonment_probability, p.mean_wait_answered) == (1, 1, math.inf)
    assert (p.occupancy, p.capacity_utilisation, p.throughput) == (1, 1, 0)
    assert not any(math.isnan(e) for e in p.standard_errors.values())


def test_callers_without_patience_are_a_loss_system():
    done = simulation(rosters=identical(1.0, 10), abandonment_rate=math.inf, calls_per_roster=1000)
    done.run(60)
    p = done.performance()
    error = p.standard_errors["abandonment_probability"]
    assert error < 0.01 * 0.21458234
    assert abs(p.abandonment_probability - 0.21458234) < 4.5 * error  # Erlang B, 10 erlangs, 10 agents
    assert p.mean_wait == 0
    assert p.wait_cdf(0) == 1


def test_default_lengths():
    done = simulation(rosters=identical(1.0, 10), calls_per_roster=None)
    assert done.calls_per_roster == 4 * 5 * 10 * 3
    assert simulation(arrival_rate=0.1, calls_per_roster=None).calls_per_roster == 200


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"arrival_rate": 0}, "arrival_rate: 0 must be above 0"),
        ({"arrival_rate": math.inf}, "arrival_rate: inf"),
        ({"arrival_rate": "ten"}, "arrival_rate: 'ten' is not a number"),
        ({"agents": -1}, "agents: -1 must be at least 0"),
        ({"agents": 2.5}, "agents: 2.5 must be a whole number"),
        ({"abandonment_rate": -0.1}, "abandonment_rate: -0.1 must be at least 0"),
        ({"abandonment_rate": math.nan}, "abandonment_rate: nan"),
        ({"threshold": -1}, "threshold: -1"),
        ({"threshold": math.inf}, "threshold: inf"),
        ({"seed": -3}, "seed: -3"),
        ({"seed": 0.5}, "seed: 0.5"),
        ({"rosters_per_batch": 0}, "rosters_per_batch: 0 must be at least 1"),
        ({"calls_per_roster": 0}, "calls_per_roster: 0 must be at least 1"),
        ({"warm_up_calls": -1}, "warm_up_calls: -1 must be at least 0"),
        ({"rosters": 3}, "rosters: 3 must be a function"),
        ({"agents": 9}, r"shape \(8, 10\), needed is \(8, 9\)"),
        ({"rosters": identical(-1.0, 10)}, "rate of -1.0"),
        ({"rosters": identical(math.nan, 10)}, "rate of nan"),
        ({"rosters": identical(math.inf, 10)}, "rate of inf"),
    ],
)
def test_a_bad_argument_is_named(change, words):
    with pytest.raises(ScenarioError, match=words):
        simulation(**change)


def test_bad_arguments_of_run_are_named():
    done = simulation()
    with pytest.raises(ScenarioError, match="batches: -1"):
        done.run(-1)
    with pytest.raises(ScenarioError, match="workers: 0 must be at least 1"):
        done.run(1, workers=0)


@pytest.mark.parametrize("batches", [0, 1])
def test_fewer_than_two_batches_tell_nothing(batches):
    done = simulation()
    done.run(batches)
    with pytest.raises(ScenarioError, match=rf"{batches} have been run.*call run\({2 - batches}\)"):
        done.performance()


@pytest.mark.parametrize("agents", [0, 9, 10])
def test_a_queue_that_never_settles_is_refused(agents):
    done = simulation(rosters=identical(1.0, agents), agents=agents, abandonment_rate=0)
    with pytest.raises(Infeasible, match=f"arrive at rate 10, a roster can serve {agents} .*never give up"):
        done.run(2)
    assert done.batches == 0


def test_one_roster_that_never_settles_is_refused():
    # Capacity 12 on average, but a few rosters below 10: with patient callers no mean wait over rosters exists.
    with pytest.raises(Infeasible, match="in every roster"):
        simulation(rosters=gamma(12, 0.5), agents=12, abandonment_rate=0).run(20)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("rosters", "calls"), [(100_000, 10_000), (1, 10**12)])
def test_an_interrupt_ends_a_long_run_at_once_and_adds_nothing(workers, rosters, calls):
    """Between the rosters of a batch and within one of them; either batch would take hours."""
    done = simulation(rosters_per_batch=rosters, calls_per_roster=calls)
    before, sent = threading.enumerate(), []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.4, send)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        done.run(4, workers=workers)
    assert time.perf_counter() - sent[0] < 1
    timer.join()
    assert threading.enumerate() == before
    assert done.batches == 0


def test_a_failure_in_one_batch_adds_nothing():
    draws = []

    def failing(size, generator):
        draws.append(size)
        if len(draws) > 3:
            raise RuntimeError("no more rosters")
        return np.ones((size, 10))

    done = simulation(rosters=failing)
    with pytest.raises(RuntimeError, match="no more rosters"):
        done.run(6)
    assert done.batches == 0


def test_endless_patience_of_some_is_refused_where_they_alone_are_too_many():
    """Of 10 calls 3 never give up: 4 agents serve those, 3 cannot."""
    quantiles = np.array([*np.linspace(0, 1, 8), math.inf, math.inf, math.inf])
    for agents in (3, 4):
        done = simulation(
            rosters=identical(1.0, agents),
            agents=agents,
            abandonment_rate=1.0,
            patience_quantiles=quantiles,
        )
        if agents == 4:
            done.run(2)
            assert done.performance().abandonment_probability > 0.5
        else:
            with pytest.raises(Infeasible, match="rate 3, a roster can serve 3 "):
                done.run(2)


@pytest.mark.parametrize(
    "quantiles", [[], [1.0], [0.0, math.nan], [1.0, 0.5], [-1.0, 1.0], [[0.0, 1.0], [0.0, 1.0]]]
)
def test_quantiles_that_are_none_are_refused(quantiles):
    with pytest.raises(ScenarioError, match="patience_quantiles"):
        simulation(patience_quantiles=np.array(quantiles))


def test_exponential_patience_by_quantiles_is_exponential_patience():
    """The same law by another draw: within four standard errors, which are below one percent of the value."""
    steps = np.arange(20_001) / 20_000
    quantiles = -np.log1p(-np.minimum(steps, 1 - 1e-5)) / 0.5
    plain, tabled = (
        simulation(abandonment_rate=0.5),
        simulation(abandonment_rate=0.5, patience_quantiles=quantiles),
    )
    for one in (plain, tabled):
        one.run(150)
    for measure in ("wait_probability", "abandonment_probability", "mean_wait"):
        error = math.hypot(*(one.performance().standard_errors[measure] for one in (plain, tabled)))
        value = plain.performance().value(measure)
        assert error < 0.01 * value
        assert tabled.performance().value(measure) == pytest.approx(value, abs=4 * error + 1e-4 * value)


def test_in_order_the_fastest_first_serve_more_calls_than_the_slowest_first():
    """Against the exact law of two agents, by three states and the queue: four standard errors below one percent."""
    fast, slow, lam, theta = 2.0, 0.5, 2.0, 1.0
    waits = {}
    for order in ((fast, slow), (slow, fast)):
        done = simulation(
            arrival_rate=lam,
            rosters=lambda size, _, order=order: np.tile(order, (size, 1)),
            agents=2,
            abandonment_rate=theta,
            in_order=True,
        )
        done.run(200)
        # Nobody busy, the first alone, the second alone, both; the queue then falls like lam / (s + k theta).
        first, second = order
        rates = np.array(
            [
                [-lam, lam, 0, 0],
                [first, -first - lam, 0, lam],
                [second, 0, -second - lam, lam],
                [0, second, first, -second - first],
            ]
        )
        p = np.linalg.svd(rates.T)[2][-1]
        p /= p[3]
        queue = np.cumprod([lam / (first + second + k * theta) for k in range(1, 60)]).sum()
        exact = (1 + queue) / (p.sum() + queue)
        found = done.performance()
        error = found.standard_errors["wait_probability"]
        assert error < 0.01 * exact
        assert found.wait_probability == pytest.approx(exact, abs=4 * error)
        waits[order] = exact
    assert waits[fast, slow] < waits[slow, fast]
