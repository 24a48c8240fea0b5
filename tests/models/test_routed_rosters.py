"""Rosters under every routing rule: printed figures, exact chains, simulations, stated errors, what always holds."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staffing.models._kernels import chain_idle_sums
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.erlang import erlang_a
from staffing.models.errors import ScenarioError
from staffing.models.given_agents import GivenAgents
from staffing.models.idle_sets import exact_roster_performance
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import GammaRates
from staffing.models.roster import roster_performance
from staffing.models.routing import Priority, WeightedRandom
from staffing.models.routing_error import routing_method
from staffing.models.sampled_agents import SampledAgents
from staffing.models.shared_queue import Callers, averaged_measures, chain_rows
from tests.models.plain_chain import Roster
from tests.models.plain_routing import pooled_death_rates, simulated_idle

TABLE = Path(__file__).resolve().parents[1] / "reference" / "roster_exact.csv"
PRINTED = list(csv.DictReader(TABLE.read_text("utf-8").splitlines()))
WEIGHTS = (WeightedRandom(-1), WeightedRandom(-0.5), WeightedRandom(0.5), WeightedRandom(1))
BY_SETS = ("random", "fastest-first", "slowest-first", *WEIGHTS)
ALL = ("longest-idle", "least-occupied", *BY_SETS)


def unequal(n, seed, cv=0.6):
    return np.random.default_rng(seed).gamma(1 / cv**2, cv**2, n) + 0.02


# --- printed figures ---


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: f"{row['rates']}-{row['routing']}")
def test_printed_figures(row):
    """By the chain of all sets to the digits printed; by lumping to a thousandth."""
    question = (
        [float(r) for r in row["rates"].split()],
        float(row["arrival_rate"]),
        float(row["abandonment_rate"]),
    )
    exact = exact_roster_performance(*question, routing=row["routing"])
    lumped = roster_performance(*question, routing=row["routing"])
    assert exact.method == "exact chain"
    assert set(exact.method_error.values()) == {"exact"}
    for measure in ("wait_probability", "mean_queue", "abandonment_probability"):
        if row[measure]:
            printed = float(row[measure])
            assert exact.value(measure) == pytest.approx(printed, abs=float(row["tolerance"]))
            assert lumped.value(measure) == pytest.approx(printed, rel=1e-3)


@pytest.mark.parametrize(
    ("rates", "lam", "waits", "queue"),
    [([0.5, 1, 1.5], 2.8, 0.5925093, 0.9165808), ([0.4, 0.8, 1, 1.2, 1.6], 5, 0.6292009, 1.4521981)],
)
def test_printed_figures_of_lumping(rates, lam, waits, queue):
    found = roster_performance(rates, lam, 0.5, routing="fastest-first")
    assert found.wait_probability == pytest.approx(waits, abs=5e-8)
    assert found.mean_queue == pytest.approx(queue, abs=5e-8)


@pytest.mark.parametrize(
    ("n", "load", "exact", "lumped"),
    [
        (20, 0.9, (0.37518, 1.2847), (0.37287, 1.2768)),
        (20, 1.0, (0.59666, 2.8834), (0.59550, 2.8778)),
        (120, 0.9, (0.11142, 0.6746), (0.10765, 0.6518)),
        (120, 1.0, (0.56978, 6.9216), (0.56780, 6.8976)),
        (200, 0.9, (0.05067, 0.3427), (0.04815, 0.3257)),
        (200, 1.0, (0.56440, 8.8865), (0.56242, 8.8553)),
    ],
)
def test_printed_figures_of_two_pools(n, load, exact, lumped):
    """Half the agents at 1.3, half at .7, the fast ones first: the chain of both numbers idle, and lumping."""
    callers, half = Callers(load * n, 0.5), n // 2
    row = chain_rows(callers, pooled_death_rates((half, half), (1.3, 0.7), load * n)[np.newaxis])
    values = averaged_measures(callers, n, row, float(n), np.ones(1))
    found = roster_performance([0.7] * half + [1.3] * half, load * n, 0.5, routing="fastest-first")
    for measure, known, approximate in zip(("wait_probability", "mean_queue"), exact, lumped, strict=True):
        digit = 0.51 * 10.0 ** -(5 if measure == "wait_probability" else 4)
        assert values[measure] == pytest.approx(known, abs=digit)
        assert found.value(measure) == pytest.approx(approximate, abs=digit)
        assert abs(values[measure] - found.value(measure)) <= found.method_error[measure]
    assert abs(values["occupancy"] - found.occupancy) <= found.method_error["occupancy"]


ABANDONED = {
    # rate_cv: load: fastest-first, longest-idle, least-occupied, slowest-first; 1e-5 of the calls, 80 draws
    0.1: {0.9: (511, 577, 572, 637), 1.0: (3229, 3302, 3296, 3367)},
    0.2: {0.9: (484, 619, 601, 731), 1.0: (3225, 3373, 3350, 3490)},
    0.3: {0.9: (491, 695, 655, 851), 1.0: (3290, 3509, 3460, 3666)},
    0.7: {0.9: (874, 1306, 1124, 1548), 1.0: (4112, 4505, 4324, 4713)},
}


@pytest.mark.parametrize("cv", ABANDONED)
@pytest.mark.parametrize("load", [0.9, 1.0])
def test_printed_figures_of_rules_against_cv(cv, load):
    """A hundred agents. The figures share one sample of 80 rosters, ours is another, of 400 even ones.

    4.5 standard errors of 80 plain draws, of means and of differences to longest-idle: 64 comparisons fail by chance
    once in 2000 times. Errors of the differences are a few hundredths of the effect.
    """
    rules = ("fastest-first", "longest-idle", "least-occupied", "slowest-first")
    models = [
        SampledAgents(Callers(100 * load, 0.5), GammaRates(1.0, cv), rosters=400, routing=r) for r in rules
    ]
    shares = np.array([model.by_roster(100)["abandonment_probability"] for model in models]) * 1e5
    printed = np.array(ABANDONED[cv][load])
    means = np.array([model.values(100)["abandonment_probability"] for model in models]) * 1e5
    margin = 4.5 * shares.std(axis=1) / math.sqrt(80)
    assert (abs(means - printed) <= margin + 0.5).all()
    apart, known = means - means[1], printed - printed[1]
    margin = 4.5 * (shares - shares[1]).std(axis=1) / math.sqrt(80)
    assert (abs(apart - known) <= margin + 1).all()
    assert (margin[[0, 3]] < 0.5 * abs(known[[0, 3]])).all(), "rules are told apart"


# --- the chain of all sets of idle agents ---


@pytest.mark.parametrize(("n", "load", "theta"), [(1, 0.8, 0.5), (3, 0.9, 0.4), (5, 1.3, 1.0), (6, 0.5, 0.2)])
def test_the_chain_of_sets_equals_the_chain_of_all_states(n, load, theta):
    """Queue and all; every measure, under fastest-first and under a list."""
    rates = unequal(n, seed=n)
    lam, threshold = load * rates.sum(), 0.4 / rates.sum()
    by_rate, listed = np.argsort(-rates).tolist(), np.random.default_rng(n).permutation(n).tolist()
    for routing, order in (("fastest-first", by_rate), ("slowest-first", by_rate[::-1]), (listed, listed)):
        chain = Roster(rates.tolist(), lam, theta, order)
        found = exact_roster_performance(rates, lam, theta, routing=routing, threshold=threshold)
        known = chain.measures(threshold)
        assert found.values() == pytest.approx(known, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("theta", [0.0, 0.5, math.inf])
def test_longest_idle_and_random_are_one_law(theta):
    rates = unequal(8, seed=1)
    known = roster_performance(rates, 0.9 * rates.sum(), theta, threshold=0.1).values()
    for routing in ("longest-idle", "random"):
        found = exact_roster_performance(rates, 0.9 * rates.sum(), theta, routing=routing, threshold=0.1)
        assert found.values() == pytest.approx(known, rel=1e-12, abs=1e-14)


def test_the_chain_of_sets_has_its_limits():
    with pytest.raises(ScenarioError, match=r"13 agents are more than 12.*roster_performance"):
        exact_roster_performance([1.0] * 13, 9.0, 0.5, routing="fastest-first")
    with pytest.raises(ScenarioError, match=r"least-occupied.*roster_performance"):
        exact_roster_performance([1.0, 2.0], 2.0, 0.5, routing="least-occupied")
    nobody = exact_roster_performance([], 3.0, 0.5, routing="fastest-first")
    assert nobody.values() == erlang_a(3.0, 1.0, 0.5, 0).values()
    idle = exact_roster_performance([0.5, 1.5], 0.0, 0.5, routing="fastest-first")
    assert idle.values() == erlang_a(0.0, 1.0, 0.5, 2).values()


# --- stated errors ---


SLOW = pytest.mark.slow


@pytest.mark.parametrize("n", [2, 3, *(pytest.param(n, marks=SLOW) for n in (4, 6, 8))])
@pytest.mark.parametrize("cv", [0.1, 0.3, 0.6, 1.0])
def test_stated_errors_hold_against_the_chain_of_sets(n, cv):
    """Gamma and two-point rosters, loads .3 to 1.5, patience of a tenth of a service to ten."""
    generator = np.random.default_rng([n, int(10 * cv)])
    two = 1 + min(cv, 0.9) * np.where(np.arange(n) < max(n // 3, 1), 1, -1)
    rosters = [*(generator.gamma(1 / cv**2, cv**2, n) + 1e-4 for _ in range(3)), two]
    for rates in rosters:
        for load in (0.3, 0.7, 1.0, 1.5):
            for routing in (*BY_SETS[1:], generator.permutation(n)):
                theta = 10 ** generator.uniform(-1, 1)
                question = rates, load * rates.sum(), theta
                found = roster_performance(*question, routing=routing, threshold=0.2)
                known = exact_roster_performance(*question, routing=routing, threshold=0.2)
                for measure, stated in found.method_error.items():
                    gap = abs(found.value(measure) - known.value(measure))
                    bound = 0.0 if stated == "exact" else stated
                    assert gap <= bound + 1e-11 * known.value(measure) + 1e-13, (measure, routing, load)


@pytest.mark.parametrize("sizes", [(6, 14), (60, 60), (20, 180)])
@pytest.mark.parametrize("rates", [(1.1, 0.9), (1.6, 0.4), (4.0, 0.7)])
@pytest.mark.parametrize("rule", ["fastest-first", "slowest-first"])
def test_stated_errors_hold_for_pools(sizes, rates, rule):
    sizes, rates = (sizes, rates) if rule == "fastest-first" else (sizes[::-1], rates[::-1])
    n, s = sum(sizes), float(np.dot(sizes, rates))
    for load in (0.85, 0.95, 1.05, 1.3):
        callers = Callers(load * s, 0.5)
        row = chain_rows(callers, pooled_death_rates(sizes, rates, load * s)[np.newaxis])
        known = averaged_measures(callers, n, row, s, np.ones(1))
        found = roster_performance(np.repeat(rates, sizes), load * s, 0.5, routing=rule)
        for measure in ("wait_probability", "abandonment_probability", "occupancy", "throughput"):
            assert abs(found.value(measure) - known[measure]) <= found.method_error[measure], (measure, load)
        sign = 1 if rule == "fastest-first" else -1
        assert sign * (known["wait_probability"] - found.wait_probability) >= -1e-9, "low, or high"


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["least-occupied", WeightedRandom(1), WeightedRandom(-1)], ids=str)
@pytest.mark.parametrize(
    ("n", "cv", "load"), [(4, 0.9, 0.9), (10, 0.6, 1.3), (30, 0.7, 0.9), (100, 0.5, 0.95)]
)
def test_stated_errors_hold_against_simulation(rule, n, cv, load):
    """With theta infinite, where only idle states count. 5 standard errors over 20 batches: 8e-5 each by chance."""
    rates = unequal(n, seed=n, cv=cv)
    lam = load * rates.sum()
    least = rule == "least-occupied"
    weights = np.ones(n) if least else rates**rule.power
    counts = simulated_idle(rates, lam, weights, least, 150_000, 20, 7)
    shares = counts / counts.sum(axis=1, keepdims=True)
    busy = 1 - shares @ np.arange(n + 1) / n
    found = roster_performance(rates, lam, math.inf, routing=rule)
    for measure, sample in (("wait_probability", shares[:, 0]), ("occupancy", busy)):
        error = sample.std(ddof=1) / math.sqrt(20)
        gap = abs(found.value(measure) - sample.mean())
        assert gap <= found.method_error[measure] + 5 * error, measure
        assert error < 0.04 * sample.mean(), "the simulation is long enough"


@pytest.mark.slow
def test_the_simulation_knows_random_routing():
    rates = unequal(20, seed=20)
    counts = simulated_idle(rates, 0.9 * rates.sum(), np.ones(20), False, 150_000, 20, 3)
    sample = counts[:, 0] / counts.sum(axis=1)
    error = sample.std(ddof=1) / math.sqrt(20)
    known = roster_performance(rates, 0.9 * rates.sum(), math.inf).wait_probability
    assert abs(sample.mean() - known) <= 5 * error
    assert error < 0.02 * known


def test_agents_kept_idle_equally_are_all_alike_given_their_capacity():
    rates = unequal(30, seed=2)
    found = roster_performance(rates, 25.0, 0.5, routing="least-occupied", threshold=0.1)
    alike = erlang_a(25.0, rates.mean(), 0.5, 30, threshold=0.1)
    assert found.values() == pytest.approx(alike.values(), rel=1e-12)


def test_rare_waits_are_flagged():
    rates = unequal(30, seed=2)
    assert roster_performance(rates, 30.0, 0.5, routing="fastest-first").method == "recursive lumping"
    rare = roster_performance(rates, 18.0, 0.5, routing="fastest-first")
    assert rare.wait_probability < 0.2
    assert rare.method == "recursive lumping, least accurate as P(wait) < 0.2"
    assert rare.method_error["wait_probability"] > 0.02 * rare.wait_probability
    assert routing_method("longest-idle", 0.01, Callers(1.0, 1.0)) == "exact roster"


# --- what holds for every roster ---

RATE = st.floats(-2, 2).map(lambda power: 10.0**power)
ROSTERS = st.lists(RATE, min_size=1, max_size=20)
LOAD = st.floats(0.01, 10)


@pytest.mark.parametrize("rule", [*ALL, list(range(7))], ids=str)
@given(load=LOAD, mu=RATE, theta=RATE)
def test_rules_do_not_matter_if_agents_are_alike(rule, load, mu, theta):
    found = roster_performance([mu] * 7, 7 * load * mu, theta, routing=rule, threshold=0.1)
    assert found.values() == pytest.approx(
        erlang_a(7 * load * mu, mu, theta, 7, threshold=0.1).values(), rel=1e-9, abs=1e-10
    )
    assert set(found.method_error.values()) == {"exact"}


@given(ROSTERS, LOAD, RATE)
def test_fast_agents_first_is_best_and_slow_ones_first_is_worst(rates, load, theta):
    fast, idle, slow = (
        roster_performance(rates, load * sum(rates), theta, routing=rule)
        for rule in ("fastest-first", "longest-idle", "slowest-first")
    )
    for measure in ("wait_probability", "mean_wait", "abandonment_probability"):
        assert fast.value(measure) <= idle.value(measure) * (1 + 1e-9) + 1e-13
        assert idle.value(measure) <= slow.value(measure) * (1 + 1e-9) + 1e-13


@settings(max_examples=30)
@given(st.lists(RATE, min_size=1, max_size=5), LOAD, RATE, st.randoms(use_true_random=False))
def test_no_list_is_better_than_fastest_first(rates, load, theta, random):
    order = list(range(len(rates)))
    random.shuffle(order)
    best, listed, worst = (
        exact_roster_performance(rates, load * sum(rates), theta, routing=rule).wait_probability
        for rule in ("fastest-first", order, "slowest-first")
    )
    assert best <= listed * (1 + 1e-9)
    assert listed <= worst * (1 + 1e-9)


@pytest.mark.parametrize("rule", ALL, ids=str)
@given(rates=ROSTERS, load=LOAD, theta=RATE, unit=RATE)
def test_time_may_be_told_in_any_unit(rule, rates, load, theta, unit):
    lam = load * sum(rates)
    one = roster_performance(rates, lam, theta, threshold=0.3, routing=rule)
    two = roster_performance(
        [unit * rate for rate in rates], unit * lam, unit * theta, threshold=0.3 / unit, routing=rule
    )
    for measure in MEASURES:
        factor = 1 / unit if "mean_wait" in measure else unit if measure == "throughput" else 1
        expected = one.value(measure) * factor
        assert two.value(measure) == pytest.approx(expected, rel=1e-8, abs=1e-10 * factor), measure


@pytest.mark.parametrize("rule", ALL, ids=str)
@pytest.mark.parametrize("theta", [0.0, 0.5, math.inf])
@pytest.mark.parametrize("load", [1e-9, 0.5, 1.0, 2.0, 100.0])
def test_extreme_rosters_stay_in_range(rule, theta, load):
    for rates in (
        [1e-6] * 30 + [1e6],
        [1e-3, 1e3] * 20,
        [5.0],
        [1e-100, 1e100],
        [2.0**k for k in range(-30, 30)],
    ):
        found = roster_performance(rates, load * sum(rates), theta, routing=rule, threshold=1e-3)
        for measure, value in found.values().items():
            assert not math.isnan(value), measure
            assert value >= 0, measure
            error = found.method_error[measure]
            assert error == "exact" or error >= 0, measure


@pytest.mark.parametrize("rule", ["fastest-first", "slowest-first", WeightedRandom(0.5)], ids=str)
@pytest.mark.parametrize("load", [1e-3, 0.5, 1.0, 10.0])
def test_two_thousand_unequal_agents(rule, load):
    rates = 10 ** np.random.default_rng(1).uniform(-2, 2, 2000)
    found = roster_performance(rates, load * rates.sum(), 0.5, routing=rule)
    assert all(math.isfinite(value) for value in found.values().values())
    assert found.throughput == pytest.approx(min(load, 1) * rates.sum(), rel=0.05)


# --- the same rules for agents given, drawn, and averaged ---


@pytest.mark.parametrize("rule", [*ALL, (3, 1, 0, 4, 2)], ids=str)
def test_given_agents_are_rosters(rule):
    rates = (1.4, 0.6, 1.0, 1.1, 0.9)
    model = GivenAgents(Callers(3.0, 0.5, 0.1), rates, routing=rule)
    for n in range(6):
        staffed = [agent for agent in rule if agent < n] if isinstance(rule, tuple) else rule
        known = roster_performance(rates[:n], 3.0, 0.5, threshold=0.1, routing=staffed)
        found = model.performance(n)
        assert found.values() == pytest.approx(known.values(), rel=1e-12)
        assert found.values() == model.values(n)
        assert found.method == known.method
        for measure, stated in known.method_error.items():
            expected = stated if stated == "exact" else pytest.approx(stated, rel=1e-9, abs=1e-15)
            assert found.method_error[measure] == expected


def test_given_agents_refuse_a_list_of_others():
    with pytest.raises(ScenarioError, match="misses agent 1"):
        GivenAgents(Callers(3.0, 0.5), (1.0, 2.0), routing=Priority([0]))


@pytest.mark.parametrize("rule", ALL, ids=str)
def test_sampled_agents_are_averages_of_rosters(rule):
    callers = Callers(11.0, 0.7, 0.1)
    model = SampledAgents(callers, GammaRates(1.0, 0.4), rosters=100, routing=rule, workers=2)
    rates = model._draw.rates(12)
    known = [roster_performance(roster, 11.0, 0.7, routing=rule, threshold=0.1) for roster in rates.T]
    for measure, values in model.by_roster(12).items():
        assert values == pytest.approx([p.value(measure) for p in known], rel=1e-10)
    found = model.performance(12)
    assert found.wait_probability == pytest.approx(np.mean([p.wait_probability for p in known]), rel=1e-12)
    errors = [p.method_error["wait_probability"] for p in known]
    stated = 0.0 if errors[0] == "exact" else float(np.mean(errors))
    assert found.method_error["wait_probability"] == pytest.approx(
        4 * found.standard_errors["wait_probability"] + stated, rel=1e-9
    )
    assert found.method.endswith("of 100 rosters")
    one, none = model.performance(1), model.performance(0)
    assert one.method_error["wait_probability"] == 4 * one.standard_errors["wait_probability"]
    assert none.values() == pytest.approx(erlang_a(11.0, 1.0, 0.7, 0, threshold=0.1).values(), rel=1e-12)


def test_sampled_agents_without_a_closure_end_where_rosters_do():
    callers, law = Callers(20.0, 0.5), GammaRates(1.0, 0.3)
    model = SampledAgents(callers, law, rosters=100_000, routing="fastest-first")
    assert model.most == model.most_exact == 200
    for ask in (model.values, model.performance, lambda n: model.spread_of(n, lambda v: v["mean_wait"])):
        with pytest.raises(ScenarioError, match="201 are more than 200"):
            ask(201)
    assert SampledAgents(callers, law, routing="least-occupied").most is None
    with pytest.raises(ScenarioError, match="for agents who are given"):
        SampledAgents(callers, law, routing=[0, 1])


@pytest.mark.parametrize("n", [5, 40])
def test_the_closure_of_equal_idle_shares_is_the_average_over_rosters(n):
    callers, law = Callers(0.95 * n, 0.6, 0.1), GammaRates(1.0, 0.4)
    closure = DrawnAgents(callers, law, "least-occupied").performance(n)
    rosters = SampledAgents(callers, law, rosters=2000, routing="least-occupied").performance(n)
    assert closure.method == "closure of equal idle shares"
    for measure in MEASURES:
        error = rosters.standard_errors[measure]
        assert abs(closure.value(measure) - rosters.value(measure)) <= 6 * error + 1e-12, measure
    # A few agents differ less within a roster than the law does.
    of_rule = rosters.method_error["wait_probability"] - 4 * rosters.standard_errors["wait_probability"]
    assert of_rule <= closure.method_error["wait_probability"] <= (1.1 if n == 40 else 1.5) * of_rule


def test_the_closure_and_rosters_agree_beyond_the_rosters():
    model = SampledAgents(Callers(2050.0, 0.5), GammaRates(1.0, 0.2), rosters=100, routing="least-occupied")
    found = model.performance(2100)
    assert found.values() == DrawnAgents(model.callers, model.law, "least-occupied").values(2100)


def test_a_rule_without_a_closure_is_refused():
    for rule in ("fastest-first", "slowest-first", WeightedRandom(0.5)):
        with pytest.raises(ScenarioError, match="has no closure; SampledAgents"):
            DrawnAgents(Callers(9.0, 0.5), GammaRates(1.0, 0.2), rule)
    random = DrawnAgents(Callers(9.0, 0.5), GammaRates(1.0, 0.2), WeightedRandom(0))
    assert random.values(10) == DrawnAgents(Callers(9.0, 0.5), GammaRates(1.0, 0.2)).values(10)


def test_the_sums_of_no_death_rates_are_nobody():
    assert chain_idle_sums(np.empty(0), 3.0) == (1.0, 0.0, 0.0)
