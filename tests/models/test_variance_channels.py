"""Variance and abandonment: theory's table, the second-order formula, and a split that adds up."""

import math
from functools import cache

import numpy as np
import pytest

from staffing.models.drawn_agents import DrawnAgents
from staffing.models.errors import ScenarioError
from staffing.models.latin_hypercube import LatinHypercube
from staffing.models.rate_laws import GammaRates, TwoPointRates
from staffing.models.sampled_agents import SampledAgents
from staffing.models.shared_queue import Callers, measures_by_roster, roster_levels
from staffing.models.variance_channels import VarianceChannels, variance_channels

N = 100
RULES = ("fastest-first", "longest-idle", "least-occupied", "slowest-first")
PRINTED = {
    0.9: {
        0.0: (569, 569, 569, 569),
        0.1: (511, 577, 572, 637),
        0.2: (484, 619, 601, 731),
        0.3: (491, 695, 655, 851),
        0.7: (874, 1306, 1124, 1548),
    },
    1.0: {
        0.0: (3303,) * 4,
        0.1: (3229, 3302, 3296, 3367),
        0.2: (3225, 3373, 3350, 3490),
        0.3: (3290, 3509, 3460, 3666),
        0.7: (4112, 4505, 4324, 4713),
    },
}
"""P(abandon) x 1e5, n = 100, theta = .5: 80 draws in common, by load and CV, the rules in the order above."""
DRAWS = 80


@cache
def channels(load: float, cv: float, rule: str) -> VarianceChannels:
    return variance_channels(Callers(load * N, 0.5), GammaRates(1.0, cv), N, routing=rule, rosters=400)


@cache
def by_roster(load: float, cv: float, rule: str) -> np.ndarray:
    model = SampledAgents(Callers(load * N, 0.5), GammaRates(1.0, cv), rosters=400, routing=rule)
    return 1e5 * model.by_roster(N)["abandonment_probability"]


@pytest.mark.parametrize("load", PRINTED)
@pytest.mark.parametrize("cv", PRINTED[0.9])
def test_abandonment_is_the_theorys_under_every_rule(load, cv):
    for rule, printed in zip(RULES, PRINTED[load][cv], strict=True):
        found = channels(load, cv, rule)
        se = math.hypot(by_roster(load, cv, rule).std() / math.sqrt(DRAWS), 1e5 * found.standard_error)
        assert abs(1e5 * found.value - printed) < 4 * se + 0.5, rule  # 40 figures: false alarm 3e-3


@pytest.mark.parametrize("load", PRINTED)
@pytest.mark.parametrize("cv", [0.1, 0.2, 0.3, 0.7])
def test_what_a_rule_changes_is_the_theorys_which_common_draws_tell_far_better(load, cv):
    known = by_roster(load, cv, "longest-idle")
    printed_known = PRINTED[load][cv][1]
    for rule, printed in zip(RULES, PRINTED[load][cv], strict=True):
        difference = by_roster(load, cv, rule) - known
        se = difference.std() / math.sqrt(DRAWS)
        found = 1e5 * (channels(load, cv, rule).idleness - channels(load, cv, "longest-idle").idleness)
        assert abs(found - (printed - printed_known)) < 4 * se + 1.0, rule
        assert se < 0.35 * by_roster(load, cv, rule).std() / math.sqrt(DRAWS)


def test_a_little_variance_helps_under_fastest_first_and_much_hurts():
    values = {cv: channels(0.9, cv, "fastest-first") for cv in PRINTED[0.9]}
    assert min(values, key=lambda cv: values[cv].value) == 0.2
    # far outside what the draw of rosters leaves open
    for cv in (0.0, 0.1, 0.3, 0.7):
        difference = values[cv].value - values[0.2].value
        assert difference > 6 * math.hypot(values[cv].standard_error, values[0.2].standard_error)
    # a first-order gain against a second-order loss
    for cv in (0.1, 0.2):
        assert values[cv].idleness / cv == pytest.approx(-0.006, rel=0.06)
        assert values[cv].capacity / cv**2 == pytest.approx(0.0105, rel=0.03)
    for rule in RULES[1:]:
        of_rule = [channels(0.9, cv, rule).value for cv in PRINTED[0.9]]
        assert of_rule == sorted(of_rule)


@pytest.mark.parametrize("c2", [0.04, 0.09, 0.16, 0.25])
def test_the_second_order_formula_is_within_three_percent_up_to_a_quarter(c2):
    found = channels(0.9, math.sqrt(c2), "least-occupied")
    assert found.second_order == pytest.approx(found.value, rel=0.03)
    assert found.idleness == 0
    assert found.idleness_second_order == pytest.approx(0, abs=1e-12)
    printed = {0.04: (611, 611), 0.09: (663, 666), 0.25: (830, 850)}
    if c2 in printed:
        formula, full = printed[c2]
        # two or three digits are printed
        assert 1e5 * found.second_order == pytest.approx(formula, abs=1 if c2 < 0.2 else 5)
        assert 1e5 * found.value == pytest.approx(full, abs=1 if c2 < 0.2 else 5)
    known = channels(0.9, math.sqrt(c2), "longest-idle")
    assert known.second_order == pytest.approx(known.value, rel=0.02)


def test_formulas_own_error_is_of_higher_order():
    found = [channels(0.9, cv, "least-occupied") for cv in (0.1, 0.2)]
    off = [f.second_order - f.value for f in found]
    assert off[1] / off[0] == pytest.approx(2**4, rel=0.2)


@pytest.mark.parametrize(("c2", "printed"), [(0.09, 611), (0.25, 679), (0.5, 775)])
def test_the_idleness_channel_alone_is_the_theorys(c2, printed):
    """Rosters scaled to a capacity of n; printed from 80 draws, it seems, whose error is added."""
    callers = Callers(90.0, 0.5)
    rates = LatinHypercube(GammaRates(1.0, math.sqrt(c2)), groups=20, size=20, seed=1).rates(N)
    rates = np.ascontiguousarray(rates * (N / rates.sum(axis=0)))
    rows = roster_levels(callers, rates, range(N, N + 1))[0]
    lost = 1e5 * measures_by_roster(callers, N, rows, np.full(400, float(N)))["abandonment_probability"]
    se = lost.std() * math.hypot(1 / math.sqrt(DRAWS), 1 / 20)
    assert abs(lost.mean() - printed) < 4 * se + 0.5
    assert se < 0.02 * printed


@pytest.mark.parametrize("rule", RULES)
def test_the_parts_add_up_and_the_sum_is_the_mean_over_rosters(rule):
    callers, law = Callers(54.0, 0.7, 0.1), GammaRates(1.0, 0.4)
    model = SampledAgents(callers, law, rosters=1000, routing=rule, seed=5)
    plain = model.performance(60)
    for measure in ("abandonment_probability", "mean_queue", "service_level_offered"):
        found = variance_channels(callers, law, 60, routing=rule, figure=measure, rosters=1000, seed=5)
        assert found.value == pytest.approx(found.alike + found.capacity + found.idleness, rel=1e-12)
        se = plain.standard_errors[measure]
        assert abs(found.value - plain.value(measure)) < 4 * se
        assert found.standard_error < se / 5
    unequal = DrawnAgents(callers, law, "least-occupied").values(60)
    assert found.alike + found.capacity == pytest.approx(unequal["service_level_offered"], abs=1e-9)


def test_a_cost_may_be_split_as_well():
    callers, law = Callers(54.0, 0.7), GammaRates(1.0, 0.3)
    cost, queue, lost = (
        variance_channels(callers, law, 60, figure=figure, rosters=200)
        for figure in (
            lambda v: 20 * v["mean_queue"] + 150 * v["abandonment_probability"],
            "mean_queue",
            "abandonment_probability",
        )
    )
    for part in ("value", "alike", "capacity", "idleness", "second_order"):
        expected = 20 * getattr(queue, part) + 150 * getattr(lost, part)
        assert getattr(cost, part) == pytest.approx(expected, rel=1e-6)


def test_idle_rates_are_those_of_the_rules():
    assert channels(0.9, 0.3, "longest-idle").idle_rate == pytest.approx(1.09, abs=0.02)
    assert channels(0.9, 0.3, "least-occupied").idle_rate == pytest.approx(1, abs=1e-9)
    # theory has .733 at this load, of one draw whose capacity is n
    assert channels(0.9, 0.3, "fastest-first").idle_rate == pytest.approx(0.733, abs=0.015)


def test_rosters_are_common_to_all_cvs():
    """The k-th agents' uniforms depend on seed and k alone."""
    one, two = (
        LatinHypercube(GammaRates(1.0, cv), groups=20, size=5, seed=3).rates(7).reshape(7, 20, 5)
        for cv in (0.1, 0.5)
    )
    np.testing.assert_array_equal(np.argsort(one, axis=2), np.argsort(two, axis=2))


def test_agents_alike_and_a_single_agent():
    for rule in RULES:
        found = variance_channels(Callers(9.0, 0.5), GammaRates(1.0, 0.0), 10, routing=rule, rosters=100)
        assert found.value == pytest.approx(found.alike, rel=1e-12)
        assert found.idle_rate == pytest.approx(1, rel=1e-12)
    one = variance_channels(Callers(0.5, 0.5), TwoPointRates(1.0, 0.5), 1, rosters=100)
    assert one.idleness == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("callers", "n", "options", "words"),
    [
        (Callers(1.0, 0.5), 0, {}, "agents: 0 must be at least 1"),
        (Callers(1.0, 0.5), -1, {}, "agents: -1"),
        (Callers(0.0, 0.5), 3, {}, "some must call"),
        (Callers(1.0, 0.0), 3, {}, "give up in the end"),
        (Callers(1.0, 0.5), 3, {"figure": "waits"}, "figure: 'waits' is not known"),
        (Callers(1.0, 0.5), 3, {"routing": "fast"}, "routing: 'fast'"),
    ],
)
def test_what_cannot_be_split_is_refused(callers, n, options, words):
    with pytest.raises(ScenarioError, match=words):
        variance_channels(callers, GammaRates(1.0, 0.3), n, **options)


def test_idleness_adds_nothing_where_nobody_is_ever_idle():
    found = variance_channels(Callers(90.0, 0.5), GammaRates(1, 0.3), 10)
    # All of the load beyond capacity is lost, whatever the capacity: 1 - 10 / 90.
    assert found.value == pytest.approx(8 / 9, rel=1e-9)
    assert found.idle_rate == 1
    for added in (found.idleness, found.idleness_second_order, found.capacity, found.capacity_second_order):
        assert added == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("rosters", [0, -1, 1.5, 99, 100_001, math.nan])
def test_numbers_of_rosters_that_make_no_sense_are_refused(rosters):
    with pytest.raises(ScenarioError, match="rosters"):
        variance_channels(Callers(90.0, 0.5), GammaRates(1, 0.3), 10, rosters=rosters)
