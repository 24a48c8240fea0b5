"""Averages over rosters by their exact laws: the growing of rosters, and what is made of them."""

import csv
import math
import threading
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from staffing.models import sampled_agents
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import (
    GammaRates,
    LognormalRates,
    ObservedRates,
    TwoPointRates,
    UniformRates,
)
from staffing.models.roster import roster_performance
from staffing.models.sampled_agents import GROUPS, SampledAgents
from staffing.models.shared_queue import COLUMNS, Callers, roster_levels, roster_row

GAMMA = GammaRates(1.0, 0.3)


def sampled(n, load, theta, law, threshold=0.2, **options):
    return SampledAgents(Callers(load * n * law.mean, theta, threshold), law, **options)


# --- growing rosters ---


def plain_weights(rates, lam):
    """a_i = i! e_i(rates) / lam^i for each number of agents, by the obvious loops."""
    levels = [[1.0]]
    for mu in rates:
        e = levels[-1]
        levels.append([a + (i * mu / lam * e[i - 1] if i else 0.0) for i, a in enumerate([*e, 0.0])])
    return levels


@pytest.mark.parametrize("theta", [0.0, 0.4, math.inf])
@pytest.mark.parametrize("load", [0.05, 0.8, 3.0])
def test_every_level_of_every_roster_is_its_exact_law(load, theta):
    """Against the sum over states by the plain loop, and against the integral that answers given rosters."""
    n, rosters = 12, 5
    rates = GAMMA.rosters(n, rosters, np.random.default_rng(3)).T.copy()
    callers = Callers(load * n, theta, 0.2)
    rows = roster_levels(callers, rates, range(n + 1))
    assert rows.shape == (n + 1, rosters, COLUMNS)
    for r in range(rosters):
        for level, weights in enumerate(plain_weights(rates[:, r], callers.arrival_rate)):
            (known,) = roster_row(callers, rates[:level, r])
            np.testing.assert_allclose(rows[level, r], known, rtol=1e-12, atol=1e-300)
            if theta == math.inf and level:
                # Erlang's loss system for unlike agents: P(all busy) = 1 / sum a_i.
                assert rows[level, r, 0] == pytest.approx(1 / math.fsum(weights), rel=1e-13)


@pytest.mark.parametrize(
    ("lam", "mean", "cv", "theta"),
    [
        (1e-3, 1.0, 0.3, 0.5),  # hardly any calls: weights grow by n / lam an agent
        (300.0, 1.0, 0.2, 0.5),
        (5000.0, 1.0, 1.0, 0.01),  # far over capacity
        (1e-6, 1e6, 0.5, 1.0),
        (1e6, 1e-3, 0.5, 1.0),
    ],
)
def test_long_rosters_keep_their_digits(lam, mean, cv, theta):
    rates = GammaRates(mean, cv).rosters(700, 3, np.random.default_rng(5)).T.copy()
    callers = Callers(lam, theta, 0.1)
    levels = range(690, 701)
    rows = roster_levels(callers, rates, levels)
    for k, n in enumerate(levels):
        for r in range(3):
            (known,) = roster_row(callers, rates[:n, r])
            np.testing.assert_allclose(rows[k, r, :-1], known[:-1], rtol=1e-11, atol=1e-14 * n)


def test_rosters_do_not_depend_on_those_computed_with_them():
    rates = GammaRates(1.0, 0.6).rosters(400, 9, np.random.default_rng(8)).T.copy()
    rates[:, 4] *= 1e3  # this one changes its scale at other levels than the others
    callers = Callers(150.0, 0.5, 0.1)
    together = roster_levels(callers, rates, range(395, 401))
    for r in range(9):
        alone = roster_levels(callers, rates[:, r : r + 1].copy(), range(395, 401))
        np.testing.assert_array_equal(together[:, r], alone[:, 0])


# --- averages ---


def test_averages_are_those_of_the_rosters_drawn():
    model = sampled(9, 0.9, 0.5, GAMMA, rosters=100)
    rates = model._draw.rates(9)
    each = [
        roster_performance(rates[:, r], model.callers.arrival_rate, 0.5, threshold=0.2) for r in range(100)
    ]
    found = model.performance(9)
    for measure in ("wait_probability", "abandonment_probability", "service_level_offered", "mean_wait"):
        values = [performance.value(measure) for performance in each]
        assert found.value(measure) == pytest.approx(math.fsum(values) / 100, rel=1e-12)
        assert found.spread[measure].median == pytest.approx(sorted(values)[49], rel=1e-12)
        assert found.spread[measure].low == pytest.approx(sorted(values)[4], rel=1e-12)
        assert found.spread[measure].high == pytest.approx(sorted(values)[94], rel=1e-12)
    late = [performance.wait_law.survival(0.3) for performance in each]
    assert found.wait_law.survival(0.3) == pytest.approx(math.fsum(late) / 100, rel=1e-12)
    # Over rosters a mean over answered calls is weighted by them.
    answered = [p.throughput for p in each]
    weighted = math.fsum(p.mean_wait_answered * p.throughput for p in each) / math.fsum(answered)
    assert found.mean_wait_answered == pytest.approx(weighted, rel=1e-12)


with (Path(__file__).parent.parent / "reference" / "random_rates.csv").open() as file:
    ROWS = list(csv.DictReader(file))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['agents']}-{row['load']}-{row['quantity']}")
def test_published_averages(row):
    """Within four of the table's standard errors and ours together; ours are smaller."""
    n, load, cv = int(row["agents"]), float(row["load"]), float(row["rate_cv"])
    model = sampled(n, load, float(row["abandonment_over_service"]), GammaRates(1.0, cv), threshold=1 / 9)
    theirs = float(row["standard_error"])
    if row["quantity"].startswith("share_of_rosters"):
        shares, _ = model.shares_failing(n, {"late": lambda v: 0.8 - v["service_level_offered"]})
        share = shares["late"]
        ours = math.sqrt(share * (1 - share) / 1000)
    else:
        found = model.performance(n)
        share, ours = found.value(row["quantity"]), found.standard_errors[row["quantity"]]
        spread = model.by_roster(n)[row["quantity"]].std()
        assert spread == pytest.approx(float(row["sd_over_rosters"]), rel=0.2)
    assert ours < theirs
    assert share == pytest.approx(float(row["mean"]), abs=4 * math.hypot(theirs, ours))


# Mean errors of P(wait) over rosters by the gamma closure, as published, loads .9, 1 and 1.1.
PUBLISHED = {
    (TwoPointRates, 0.5, 20): (0.0036, 0.0026, 0.0015),
    (TwoPointRates, 0.5, 100): (0.0019, 0.0012, 0.0003),
    (LognormalRates, 0.6, 20): (0.0018, 0.0013, 0.0007),
    (LognormalRates, 0.6, 100): (0.0010, 0.0006, 0.0002),
}


@pytest.mark.parametrize(("law", "cv", "n"), PUBLISHED)
def test_the_closure_errs_on_other_laws_as_published(law, cv, n):
    """Given each roster's capacity and its own CV; Theirs are means of 200 rosters or fewer, good to a tenth."""
    for load, published in zip((0.9, 1.0, 1.1), PUBLISHED[law, cv, n], strict=True):
        model = sampled(n, load, 0.5, law(1.0, cv))
        rates = model._draw.rates(n)
        exact = model.by_roster(n)["wait_probability"]
        capacity, c2 = rates.sum(axis=0), (rates.std(axis=0) / rates.mean(axis=0)) ** 2
        closure = [
            sampled_agents.closure_rows(model.callers, n, capacity[r : r + 1], c2[r])[0, 0]
            for r in range(model.drawn)
        ]
        assert np.mean(np.abs(closure - exact)) <= 1.3 * published + 5e-5


LAWS = [
    GammaRates(1.0, 0.3),
    GammaRates(1.0, 1.0),
    LognormalRates(1.0, 0.6),
    UniformRates(1.0, 0.55),
    TwoPointRates(1.0, 0.5),
    TwoPointRates(1.0, 0.2),
    ObservedRates((12.0, 18.5, 21.0, 24.2, 30.0, 9.5)),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{type(law).__name__}-{law.cv:.2g}")
@pytest.mark.parametrize("n", [1, 5, 40])
def test_the_closures_stated_error_holds_for_every_law(law, n):
    """Allowing five standard errors of 4000 rosters, which must be small."""
    for load, theta in ((0.5, 0.2), (0.9, 0.5), (1.3, 2.0)):
        callers = Callers(load * n * law.mean, theta * law.mean, 0.2 / law.mean)
        exact = SampledAgents(callers, law, rosters=4000).performance(n)
        closure = DrawnAgents(callers, law).performance(n)
        for measure in MEASURES:
            stated = closure.method_error[measure]
            bound = stated if isinstance(stated, float) else 1e-9
            noise = 5 * exact.standard_errors[measure] + 1e-9 * abs(exact.value(measure))
            assert abs(closure.value(measure) - exact.value(measure)) <= bound + noise, measure
        assert exact.standard_errors["wait_probability"] < 3e-3


def test_the_stated_standard_error_is_the_scatter_between_seeds():
    """40 seeds: the ratio of variances within a factor of 3, beyond 1e-4 quantiles of F(39, 760)."""
    runs = [sampled(20, 0.9, 0.5, GAMMA, rosters=200, seed=seed).performance(20) for seed in range(40)]
    for measure in ("wait_probability", "mean_wait", "abandonment_probability", "service_level_offered"):
        scatter = np.var([run.value(measure) for run in runs], ddof=1)
        stated = np.mean([run.standard_errors[measure] ** 2 for run in runs])
        assert 1 / 3 < scatter / stated < 3
        value, error = runs[0].value(measure), runs[0].standard_errors[measure]
        assert error < 0.01 * value
        assert runs[0].method_error[measure] == 4 * error


def test_even_rosters_average_ten_times_better_than_plain_ones():
    """The root of the variance ratio for P(wait) at 100 agents; plain sampling has .12 / sqrt(1000)."""
    model = sampled(100, 1.0, 0.5, GAMMA)
    plain = model.by_roster(100)["wait_probability"].std() / math.sqrt(model.drawn)
    assert model.performance(100).standard_errors["wait_probability"] < plain / 10


@pytest.mark.parametrize("cv", [0.2, 0.6])
def test_the_cost_curve_has_no_dent(cv):
    """Second differences from 0.3 R on, as a share of the range: convex to rounding."""
    model = SampledAgents(Callers(60.0, 1.5, 1 / 9), GammaRates(1.0, cv))
    costs = np.array(
        [
            30 * n + 20 * values["mean_queue"] + 3000 * values["abandonment_probability"]
            for n in range(18, 120)
            for values in [model.values(n)]
        ]
    )
    assert np.diff(costs, 2).min() > -1e-12 * np.ptp(costs)


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_threads_and_order_do_not_change_a_bit(workers):
    one = sampled(30, 0.95, 0.5, GAMMA, rosters=140)
    many = sampled(30, 0.95, 0.5, GAMMA, rosters=140, workers=workers)
    for n in (30, 75, 2, 33):
        assert many.values(n) == one.values(n)
        np.testing.assert_array_equal(
            many.by_roster(n)["service_level_offered"], one.by_roster(n)["service_level_offered"]
        )


def test_the_width_of_a_block_of_levels_does_not_change_a_bit(monkeypatch):
    wide = sampled(30, 0.95, 0.5, GAMMA, rosters=100).values(30)
    monkeypatch.setattr(sampled_agents, "_MOST_ROWS", 100)
    monkeypatch.setattr(sampled_agents, "_TOGETHER", 7)
    narrow = sampled(30, 0.95, 0.5, GAMMA, rosters=100)
    assert narrow._width == 1
    assert narrow.values(30) == wide


def test_rosters_done_are_reported_and_an_interrupt_leaves_no_thread():
    done = []

    def bar(total):
        assert total == 200
        return nullcontext(done.append)

    model = sampled(10, 1.0, 0.5, GAMMA, rosters=200, workers=2, bar=bar)
    model.values(10)
    assert sum(done) == 200

    def interrupt(_):
        raise KeyboardInterrupt

    before = threading.active_count()
    broken = sampled(10, 1.0, 0.5, GAMMA, rosters=200, workers=2, bar=lambda total: nullcontext(interrupt))
    with pytest.raises(KeyboardInterrupt):
        broken.values(10)
    assert threading.active_count() == before
    broken._bar = bar
    assert broken.values(10) == model.values(10)


def test_shares_of_rosters_are_counted_and_any_is_their_union():
    model = sampled(20, 0.95, 0.5, LognormalRates(1.0, 0.5))
    values = model.by_roster(20)
    level, occupancy = np.median(values["service_level_offered"]), np.median(values["occupancy"])
    tests = {
        "late": lambda v: level - v["service_level_offered"],
        "busy": lambda v: v["occupancy"] - occupancy,
    }
    shares, failing_any = model.shares_failing(20, tests)
    late, busy = values["service_level_offered"] < level, values["occupancy"] > occupancy
    assert shares == {"late": late.mean(), "busy": busy.mean()}
    assert failing_any == (late | busy).mean()
    assert max(shares.values()) < failing_any < sum(shares.values())
    assert model.shares_failing(20, {}) == ({}, 0.0)


def test_the_closure_tells_shares_by_capacity_alone_to_a_hundredth():
    """3 agents in 1000 rosters is what the closure leaves out; 4 standard errors of a count of 8000 are .019."""
    callers, law = Callers(60.0, 1.5, 1 / 9), GammaRates(1.0, 0.2)
    exact, closure = SampledAgents(callers, law, rosters=8000), DrawnAgents(callers, law)
    for n in (57, 60, 63):
        test = {"late": lambda v: 0.8 - v["service_level_offered"]}
        (counted, _), (inferred, _) = exact.shares_failing(n, test), closure.shares_failing(n, test)
        noise = 4 * math.sqrt(inferred["late"] * (1 - inferred["late"]) / 8000)
        assert counted["late"] == pytest.approx(inferred["late"], abs=0.003 + noise)


# --- callers who never give up ---


def test_a_law_that_reaches_the_load_makes_the_mean_wait_infinite_whoever_was_drawn():
    model = sampled(80, 0.6, 0.0, GAMMA)
    found = model.performance(80)
    assert found.mean_wait == found.mean_queue == math.inf
    assert found.spread["mean_wait"].high < math.inf
    assert 0 < found.wait_probability < 1
    assert 0 < model.unstable_share(80) < 1e-3
    shares, _ = model.shares_failing(80, {"wait": lambda v: v["mean_wait"] - 1e3})
    assert shares["wait"] == 0


def test_unstable_rosters_fail_every_test():
    model = sampled(30, 0.97, 0.0, GAMMA)
    unstable = model.unstable_share(30)
    assert 0.1 < unstable < 0.5
    shares, failing_any = model.shares_failing(30, {"never": lambda v: -1.0 + 0 * v["occupancy"]})
    assert shares == {"never": unstable}
    assert failing_any == unstable
    assert model.performance(30).spread["mean_wait"].high == math.inf


def test_a_law_that_stays_above_the_load_has_a_mean_wait():
    law = UniformRates(1.0, 0.2)
    load = 0.95 * law.lowest
    found = sampled(20, load, 0.0, law).performance(20)
    assert 0 < found.mean_wait < math.inf
    closure = DrawnAgents(Callers(load * 20, 0.0, 0.2), law).performance(20)
    assert closure.mean_wait == pytest.approx(found.mean_wait, rel=0.05)


# --- the ends ---


def test_nobody_and_no_calls():
    model = sampled(10, 0.9, 0.5, GAMMA)
    nobody = model.performance(0)
    assert nobody.abandonment_probability == nobody.occupancy == 1
    assert nobody.spread == {}
    idle = SampledAgents(Callers(0.0, 0.5), GAMMA).performance(5)
    assert (idle.wait_probability, idle.service_level.offered, idle.occupancy) == (0, 1, 0)


def test_above_the_most_exact_the_closure_answers_and_an_exact_roster_stands_by(monkeypatch):
    monkeypatch.setattr(sampled_agents, "MOST_EXACT", 50)
    law = TwoPointRates(1.0, 0.5)
    model = sampled(60, 0.95, 0.5, law, rosters=100)
    found, closure = model.performance(60), DrawnAgents(model.callers, law).performance(60)
    assert found.method == "gamma closure, held against an exact roster"
    assert found.values() == closure.values() == model.values(60)
    assert all(
        found.method_error[m] == closure.method_error[m] or found.method_error[m] > closure.method_error[m]
        for m in MEASURES
    )
    assert model.performance(50).method == "exact law of 100 rosters"
    assert model.shares_failing(60, {}) == ({}, 0.0)
    assert model.capacity_cdf(60, 60.0) == law.capacity_cdf(60, 60.0)


def test_more_rosters_have_fewer_agents_each():
    assert sampled(5, 1.0, 0.5, GAMMA, rosters=10_000).most_exact == 2000
    assert sampled(5, 1.0, 0.5, GAMMA, rosters=100_000).most_exact == 200


def test_rosters_are_rounded_up_to_whole_groups():
    assert sampled(5, 1.0, 0.5, GAMMA, rosters=101).drawn == 6 * GROUPS
