"""What comes of any number of agents."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staffing import Scenario, evaluate_staffing, optimize_staffing

SCENARIO = Scenario(
    calls_per_hour=1200,
    mean_handle_seconds=180,
    mean_patience_seconds=120,
    agent_cost_per_hour=30,
    abandonment_cost=2.5,
    min_service_level=0.8,
    max_abandonment=0.05,
)


@pytest.fixture(scope="module")
def curve():
    return evaluate_staffing(SCENARIO, agents=range(55, 66))


def test_another_agent_never_hurts_callers(curve):
    for measure, better in {
        "service_level_offered": 1,
        "service_level_virtual": 1,
        "abandonment_probability": -1,
        "mean_wait": -1,
        "wait_probability": -1,
        "occupancy": -1,
    }.items():
        values = [better * level.performance.value(measure) for level in curve]
        assert values == sorted(values), measure
    for promise in ("min_service_level", "max_abandonment"):
        missing = [level.rosters.share_missing[promise] for level in curve]
        assert missing == sorted(missing, reverse=True)
        assert missing[0] > missing[-1]


def test_the_worst_promise_decides_how_many_rosters_miss_any(curve):
    # One capacity decides them all, so rosters that miss the laxer promise miss the stricter one too.
    for level in curve:
        assert level.rosters.share_missing_any == max(level.rosters.share_missing.values())


def test_the_share_missing_is_that_of_rosters_below_a_quantile():
    # A promise made at the median over rosters is missed by half of them.
    median = evaluate_staffing(SCENARIO, agents=60).rosters.quantiles
    for name, measure in {
        "min_service_level": "service_level_offered",
        "max_abandonment": "abandonment_probability",
        "max_mean_wait_seconds": "mean_wait",
        "max_occupancy": "occupancy",
    }.items():
        level = evaluate_staffing(SCENARIO, agents=60, **{name: median[measure].median})
        assert level.rosters.share_missing[name] == pytest.approx(0.5, abs=1e-4)
        high = median[measure].low if name == "min_service_level" else median[measure].high
        level = evaluate_staffing(SCENARIO, agents=60, **{name: high})
        assert level.rosters.share_missing[name] == pytest.approx(0.05, abs=1e-4)


def test_a_scenario_without_a_spread_misses_all_or_nothing():
    for agents, missing in ((40, 1.0), (70, 0.0)):
        level = evaluate_staffing(SCENARIO, agents=agents, rate_cv=0)
        assert level.rosters.share_missing == {"min_service_level": missing, "max_abandonment": missing}
    assert evaluate_staffing(SCENARIO, agents=0).rosters.share_missing_any == 1


class TestWithoutAbandonment:
    ENDLESS = SCENARIO.replace(mean_patience_seconds=math.inf, abandonment_cost=0)

    def test_unstable_rosters_are_counted_and_make_the_mean_infinite(self):
        shares = []
        for agents in (60, 62, 64, 68):
            level = evaluate_staffing(self.ENDLESS, agents=agents)
            shares.append(level.rosters.share_unstable)
            assert level.performance.mean_wait == math.inf
            assert math.isfinite(level.rosters.quantiles["mean_wait"].low)
        assert shares == sorted(shares, reverse=True)
        assert 0.4 < shares[0] < 0.6
        assert 0 < shares[-1] < 1e-4

    def test_unstable_rosters_miss_every_promise(self):
        promises = {"max_mean_wait_seconds": 1000, "max_occupancy": 0.999}
        for agents in (0, 58, 60, 62):
            rosters = evaluate_staffing(self.ENDLESS, agents=agents, **promises).rosters
            assert len(rosters.share_missing) == 4
            assert all(share >= rosters.share_unstable for share in rosters.share_missing.values())
            # Nobody is lost at a queue that settles.
            assert rosters.share_missing["max_abandonment"] == rosters.share_unstable

    def test_alike_agents_are_stable_or_not(self):
        alike = self.ENDLESS.replace(rate_cv=0)
        below, above = (evaluate_staffing(alike, agents=n) for n in (59, 61))
        assert below.rosters.share_unstable == 1
        assert below.performance.mean_wait == math.inf
        assert below.performance.service_level.offered == 0
        assert above.rosters.share_unstable == 0
        assert math.isfinite(above.performance.mean_wait)

    def test_as_many_agents_as_erlangs_are_too_few(self):
        for agents, handle in ((60, 180), (5, 90), (9, 300), (50, 180)):
            level = evaluate_staffing(
                self.ENDLESS,
                rate_cv=0,
                calls_per_hour=agents * 3600 / handle,
                mean_handle_seconds=handle,
                agents=agents,
            )
            assert level.performance.mean_wait == math.inf
            assert level.rosters.share_unstable == 1

    @pytest.mark.parametrize("law", [{}, {"rate_cv": 0}, {"rate_law": "lognormal", "rate_cv": 1}])
    def test_without_calls_every_queue_settles(self, law):
        quiet = self.ENDLESS.replace(
            calls_per_hour=0, waiting_cost_per_hour=1, max_mean_wait_seconds=15, **law
        )
        for agents in (0, 1, 7):
            level = evaluate_staffing(quiet, agents=agents)
            assert level.performance.mean_wait == level.rosters.share_unstable == 0
            assert level.rosters.share_missing_any == 0
        plan = optimize_staffing(quiet, check=False)
        assert (plan.agents, plan.cost_per_hour) == (0, 0)

    def test_without_calls_the_queue_at_given_agents_settles(self):
        given = {
            "observed_rates_per_hour": [18, 22],
            "roster": "fixed",
            "mean_handle_seconds": None,
            "calls_per_hour": 0,
        }
        for agents in (0, 2):
            rosters = evaluate_staffing(self.ENDLESS, agents=agents, **given).rosters
            assert rosters.share_unstable == rosters.share_missing_any == 0

    def test_patience_bounds_what_its_absence_does_not(self):
        assert evaluate_staffing(SCENARIO, agents=30).rosters.share_unstable == 0


@settings(max_examples=40)
@given(
    load=st.floats(0.1, 200),
    cv=st.floats(0.01, 1),
    patience=st.floats(1, 3600),
    excess=st.floats(-2, 2),
)
def test_levels_of_any_centre_are_sound(load, cv, patience, excess):
    agents = max(round(load + excess * math.sqrt(load)), 0)
    level = evaluate_staffing(
        SCENARIO,
        calls_per_hour=20 * load,
        rate_cv=cv,
        mean_patience_seconds=patience,
        max_mean_wait_seconds=20,
        max_occupancy=0.9,
        agents=agents,
    )
    for name, value in level.performance.values().items():
        assert value >= 0
        assert value <= 1 + 1e-12 or "wait" in name or name in ("mean_queue", "throughput"), name
    assert all(0 <= share <= 1 for share in level.rosters.share_missing.values())
    assert level.cost_per_hour >= 30 * agents
    assert level.rosters.cost_per_hour.low <= level.rosters.cost_per_hour.high
