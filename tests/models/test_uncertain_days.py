"""A shared queue over rosters and days, against plain sums over days, plain draws of days, and limits."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

from staffing.models.days import Days
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.errors import ScenarioError
from staffing.models.kinds_of_days import MOST_NODES, kinds_for_means
from staffing.models.patience import DeterministicPatience, GammaPatience
from staffing.models.performance import MEASURES, measures
from staffing.models.rate_laws import GammaRates, LognormalRates
from staffing.models.shared_queue import Callers, closure_rows
from staffing.models.uncertain_days import QUADRATURE_ERROR, UncertainDays

CALLERS = Callers(15.0, 1.5, 0.1)
LAW = GammaRates(1.0, 0.2)
KINDS = [
    Days(rate_cv=0.15),
    Days(arrival_cv=0.25),
    Days(absence=0.1),
    Days(rate_cv=0.1, arrival_cv=0.15, absence=0.05),
    Days(rate_cv=0.4, arrival_cv=0.3, absence=0.2),
]


def mean_over(callers, law, agents, days, c2):
    """Measures and their standard errors from (weight, A, present, capacity) of days, one after the other."""
    total, present_mean, capacity_mean = np.zeros(9), 0.0, 0.0
    for weight, calls, present, capacity in days:
        on_day = callers.replace_rate(callers.arrival_rate * calls)
        row = closure_rows(on_day, int(present), np.array([capacity]), c2)[0, :9]
        by_calls = np.array([calls, 1, calls, calls, calls, calls, 1, calls, calls])
        total += weight * by_calls * row
        present_mean += weight * present
        capacity_mean += weight * capacity
    return measures(
        total.tolist(), arrival_rate=callers.arrival_rate, agents=present_mean, capacity=capacity_mean
    )


def plain_days(law, agents, days, count):
    """Days on an even grid of probabilities, or all numbers present."""
    u = (np.arange(count) + 0.5) / count
    middle = ndtri(u)
    arrivals = days.arrival_factor(middle if days.arrival_cv else np.zeros(1))
    factors = days.rate_factor(middle if days.rate_cv else np.zeros(1))
    arrivals, factors = arrivals / arrivals.mean(), factors / factors.mean()
    for present in range(agents + 1):
        chance = (
            math.comb(agents, present) * (1 - days.absence) ** present * days.absence ** (agents - present)
        )
        if chance < 1e-7:
            continue
        for capacity in law.capacity_at_score(present, middle[:: 1 if law.cv else count]):
            for factor in factors:
                for calls in arrivals:
                    share = (1 if law.cv == 0 else count) * factors.size * arrivals.size
                    yield chance / share, calls, present, capacity * factor


@pytest.mark.parametrize("days", KINDS[:3])
def test_each_alone_is_a_plain_sum_over_days(days):
    law = GammaRates(1.0, 0.0)
    plain = mean_over(CALLERS, law, 18, plain_days(law, 18, days, 2000), 0.0)
    found = UncertainDays(CALLERS, law, days).values(18)
    for measure in MEASURES:
        assert found[measure] == pytest.approx(plain[measure], abs=3e-5, rel=3e-4), measure


@pytest.mark.parametrize("days", KINDS)
def test_means_are_those_of_plain_draws(days):
    generator, size = np.random.default_rng(5), 20_000
    agents, groups = 18, []
    for _ in range(20):
        draws = size // 20
        t = math.sqrt(math.log1p(days.rate_cv**2))
        factor = np.exp(t * generator.standard_normal(draws) - t * t / 2)
        calls = np.ones(draws)
        if days.arrival_cv:
            calls = generator.gamma(1 / days.arrival_cv**2, days.arrival_cv**2, draws)
        present = generator.binomial(agents, 1 - days.absence, draws)
        capacity = np.array([LAW.rosters(int(m), 1, generator).sum() for m in present]) * factor
        weights = np.full(draws, 1 / draws)
        groups.append(
            mean_over(CALLERS, LAW, agents, zip(weights, calls, present, capacity, strict=True), LAW.cv**2)
        )
    found = UncertainDays(CALLERS, LAW, days).values(agents)
    for measure in ("wait_probability", "abandonment_probability", "mean_queue", "occupancy", "throughput"):
        drawn = np.array([group[measure] for group in groups])
        error = drawn.std(ddof=1) / math.sqrt(drawn.size)
        assert error < 0.02 * drawn.mean()
        # Twenty-five comparisons by Student's law of 19 degrees: a false alarm once in 1,500.
        assert abs(found[measure] - drawn.mean()) < 5 * error, measure


@pytest.mark.parametrize("days", KINDS)
@pytest.mark.parametrize("callers", [CALLERS, Callers(15.0, 0.1, 0.3), Callers(15.0, math.inf)])
@pytest.mark.parametrize("agents", [3, 18, 30])
def test_many_more_nodes_change_little(monkeypatch, days, callers, agents):
    found = UncertainDays(callers, LAW, days).values(agents)
    monkeypatch.setattr("staffing.models.score_nodes.gauss_size", lambda turning: 0)
    monkeypatch.setattr("staffing.models.days.gauss_size", lambda turning: 0)
    monkeypatch.setattr(
        "staffing.models.score_nodes.smooth_step", lambda turning: 0.6 / math.hypot(1, turning)
    )
    monkeypatch.setattr("staffing.models.days.smooth_step", lambda turning: 0.0)
    fine = UncertainDays(callers, LAW, days).values(agents)
    for measure in MEASURES:
        assert found[measure] == pytest.approx(fine[measure], abs=QUADRATURE_ERROR, rel=QUADRATURE_ERROR)


@pytest.mark.parametrize("days", KINDS)
@pytest.mark.parametrize("agents", [3, 18, 30])
def test_those_who_give_up_balance_those_who_wait(days, agents):
    found = UncertainDays(CALLERS, LAW, days).values(agents)
    giving_up = CALLERS.abandonment_rate * found["mean_queue"]
    assert giving_up == pytest.approx(found["abandonment_probability"] * CALLERS.arrival_rate, rel=1e-12)


@pytest.mark.parametrize("absence", [0.43, 0.7])
def test_days_on_which_nobody_is_present_are_counted_as_often_as_they_come(absence):
    """Callers hardly ever come, and wait out a patience of thousands of services if nobody is there."""
    model = UncertainDays(Callers(0.0024, 1e-4), GammaRates(1.0, 0.2), Days(0.1, 0.5, absence))
    for agents in range(1, 25):
        waits = model.values(agents)["mean_wait"] * 1e-4
        assert waits == pytest.approx(absence**agents, rel=0.02, abs=1e-6)


def test_neighbouring_levels_have_as_many_nodes():
    """Whatever whole numbers lie beside Gauss's nodes of the number present."""
    model = UncertainDays(Callers(60.0, 0.5, 0.1), LAW, Days(0.1, 0.1, 0.05))
    sizes = [model._average(n)[0].weights.size for n in range(45, 80)]
    assert max(sizes) == min(sizes)


def test_long_patience_on_three_kinds_of_days_asks_for_no_more_nodes_than_there_may_be():
    kinds = kinds_for_means(LAW, Days(rate_cv=0.3, arrival_cv=0.3, absence=0.3), 570, math.sqrt(1e-6 / 400))
    assert kinds.weights.size < 1.1 * MOST_NODES
    assert kinds.weights.sum() == pytest.approx(1, abs=1e-9)
    assert kinds.weights @ kinds.capacities == pytest.approx(0.7 * 570, rel=1e-6)


@pytest.mark.parametrize(
    ("tau", "lost", "waits"),
    [(0, 0.00708, 0.203), (0.05, 0.00987, 0.233), (0.1, 0.01842, 0.293), (0.2, 0.04749, 0.393)],
)
def test_a_common_factor_does_what_it_should(tau, lost, waits):
    days = Days(rate_cv=math.sqrt(math.expm1(tau**2)))
    found = UncertainDays(Callers(90.0, 0.5), GammaRates(1.0, 0.3), days).values(100)
    assert found["abandonment_probability"] == pytest.approx(lost, rel=0.003)
    assert found["wait_probability"] == pytest.approx(waits, rel=0.003)


@pytest.mark.parametrize(("price", "best"), [(4.0, 473), (1.2, 408)])
def test_days_far_wider_than_the_queue_s_turn_are_staffed_right(price, best):
    days = Days(rate_cv=math.sqrt(math.expm1(0.15**2)))
    model = UncertainDays(Callers(400.0, 0.5), GammaRates(1.0, 0.3), days)
    costs = {n: n + price * model.values(n)["mean_queue"] for n in range(best - 3, best + 4)}
    assert min(costs, key=costs.__getitem__) == best


def test_certain_days_are_any_days():
    apart = []
    for cv in (0.0, 0.01, 0.02, 0.04):
        found = UncertainDays(CALLERS, LAW, Days(cv, cv, cv**2)).values(18)
        plain = DrawnAgents(CALLERS, LAW).values(18)
        apart.append(max(abs(found[m] - plain[m]) for m in MEASURES))
    assert apart[0] < 2e-6
    # What uncertainty does is of its square's order.
    assert apart[2] / apart[1] == pytest.approx(4, rel=0.1)
    assert apart[3] / apart[2] == pytest.approx(4, rel=0.1)


def test_a_change_of_the_unit_of_time_changes_nothing_else():
    days = KINDS[3]
    one = UncertainDays(CALLERS, LAW, days).performance(18)
    other = UncertainDays(Callers(900.0, 90.0, 0.1 / 60), GammaRates(60.0, 0.2), days).performance(18)
    for measure in MEASURES:
        scale = {"mean_wait": 60, "mean_wait_answered": 60, "throughput": 1 / 60}.get(measure, 1)
        assert other.value(measure) * scale == pytest.approx(one.value(measure), rel=1e-10)
        assert other.spread[measure].high * scale == pytest.approx(one.spread[measure].high, rel=1e-10)


@pytest.mark.parametrize("days", KINDS)
def test_quantiles_and_shares_are_those_of_plain_draws(days):
    model, generator, size = UncertainDays(CALLERS, LAW, days), np.random.default_rng(7), 4000
    rates = np.vstack([model.rosters(17)(400, generator) for _ in range(size // 400)])
    calls = np.ones(size)
    if days.arrival_cv:
        calls = generator.gamma(1 / days.arrival_cv**2, days.arrival_cv**2, size)
    lost = np.empty(size)
    for j in range(size):
        on_day = CALLERS.replace_rate(CALLERS.arrival_rate * calls[j])
        capacity, present = rates[j].sum(), int((rates[j] > 0).sum())
        lost[j] = closure_rows(on_day, present, np.array([capacity]), LAW.cv**2)[0, 2]
    shares, _ = model.shares_failing(18, {"lost": lambda values: values["abandonment_probability"] - 0.05})
    assert shares["lost"] == pytest.approx(np.mean(lost > 0.05), abs=4 * 0.5 / math.sqrt(size))
    high = model.performance(18).spread["abandonment_probability"].high
    assert np.mean(lost <= high) == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / size))
    below = np.mean(rates.sum(axis=1) / calls <= 15.0)
    assert model.capacity_cdf(18, 15.0) == pytest.approx(below, abs=4 * 0.5 / math.sqrt(size))


@pytest.mark.parametrize("days", KINDS)
def test_shares_from_points_agree_with_the_quadrature(days):
    model = UncertainDays(CALLERS, LAW, days)
    by_day = model._by_day(18)
    load = by_day["throughput"] / by_day["capacity_utilisation"]
    points = np.mean(load <= CALLERS.arrival_rate * by_day["calls"])
    assert points == pytest.approx(model.capacity_cdf(18, CALLERS.arrival_rate), abs=0.005)
    for measure in ("wait_probability", "abandonment_probability"):
        assert by_day["calls"] @ by_day[measure] / by_day["calls"].sum() == pytest.approx(
            model.values(18)[measure], abs=0.001
        )


def test_the_law_of_waits_goes_with_the_measures():
    found = UncertainDays(CALLERS, LAW, KINDS[3]).performance(18)
    assert 1 - found.wait_cdf(0) == pytest.approx(found.wait_probability, rel=1e-9)
    stay = math.exp(-CALLERS.abandonment_rate * CALLERS.threshold)
    late = (1 - found.service_level.virtual) * stay
    assert 1 - found.wait_cdf(CALLERS.threshold) == pytest.approx(late, rel=1e-9)
    assert math.exp(found.log_wait_survival(0.3)) == pytest.approx(1 - found.wait_cdf(0.3), rel=1e-9)


def test_patience_of_any_law_comes_with_it():
    days = KINDS[3]
    exponential = UncertainDays(CALLERS, LAW, days).performance(18)
    gamma = Callers(15.0, threshold=0.1, patience=GammaPatience(1 / 1.5, 1 + 1e-9))
    found = UncertainDays(gamma, LAW, days).performance(18)
    for measure in MEASURES:
        assert found.value(measure) == pytest.approx(exponential.value(measure), rel=1e-4), measure
    certain = Callers(15.0, threshold=0.1, patience=DeterministicPatience(0.5))
    law = GammaRates(1.0, 0.0)
    plain = mean_over(certain, law, 18, plain_days(law, 18, Days(arrival_cv=0.1), 2000), 0.0)
    found = UncertainDays(certain, law, Days(arrival_cv=0.1)).values(18)
    for measure in MEASURES:
        assert found[measure] == pytest.approx(plain[measure], abs=3e-5, rel=3e-4), measure


@pytest.mark.parametrize("days", KINDS)
def test_callers_who_never_give_up_wait_for_ever_in_the_mean(days):
    model = UncertainDays(Callers(15.0, 0.0, 0.1), LAW, days)
    found = model.performance(40)
    assert found.mean_wait == found.mean_queue == found.mean_wait_answered == math.inf
    assert 0 < found.wait_probability < 1
    assert found.abandonment_probability == 0
    share = model.unstable_share(40)
    assert 0 < share < 0.5
    assert share == model.capacity_cdf(40, 15.0)


@pytest.mark.parametrize("days", KINDS)
def test_one_more_agent_helps_and_uncertainty_hurts(days):
    model, sure = UncertainDays(CALLERS, LAW, days), DrawnAgents(CALLERS, LAW)
    lost = [model.values(n)["abandonment_probability"] for n in range(30)]
    assert lost[0] == 1
    assert np.all(np.diff(lost) < 0)
    assert lost[18] > sure.values(18)["abandonment_probability"]
    assert all(
        0 <= model.values(n)[m] <= 1 for n in (0, 5, 25) for m in MEASURES if "prob" in m or "level" in m
    )


def test_conventions_without_calls_or_agents():
    days = KINDS[3]
    none = UncertainDays(replace(CALLERS, arrival_rate=0.0), LAW, days).performance(3)
    assert (none.wait_probability, none.service_level.offered, none.occupancy) == (0, 1, 0)
    nobody = UncertainDays(CALLERS, LAW, days).performance(0)
    assert (nobody.wait_probability, nobody.abandonment_probability, nobody.occupancy) == (1, 1, 1)
    assert nobody.mean_wait == pytest.approx(1 / 1.5)


def test_least_occupied_states_the_rule_s_error_too():
    for law in (LAW, LognormalRates(1.0, 0.4)):
        plain = UncertainDays(CALLERS, law, KINDS[3]).performance(18)
        found = UncertainDays(CALLERS, law, KINDS[3], "least-occupied").performance(18)
        assert found.method == "closure of equal idle shares over days"
        assert found.wait_probability < plain.wait_probability
        assert found.method_error["wait_probability"] > QUADRATURE_ERROR


def test_routing_without_a_closure_is_refused():
    with pytest.raises(ScenarioError, match="fastest-first"):
        UncertainDays(CALLERS, LAW, KINDS[0], "fastest-first")


def test_same_seed_same_points():
    one, same, other = (
        UncertainDays(CALLERS, LAW, KINDS[3], seed=seed).performance(18) for seed in (1, 1, 2)
    )
    assert one.spread == same.spread != other.spread
    assert one.values() == other.values()
