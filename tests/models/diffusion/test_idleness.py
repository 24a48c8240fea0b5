"""Idleness coefficients: of rosters, of laws, and the one in terms of the other as rosters grow."""

import math

import numpy as np
import pytest

from staffing.models.diffusion.idleness import law_idleness, roster_idleness, rough_rule
from staffing.models.rate_laws import GammaRates, ObservedRates, TwoPointRates, UniformRates
from staffing.models.routing import Priority, WeightedRandom

RULES = ["longest-idle", "random", "least-occupied", WeightedRandom(0.5), WeightedRandom(-1.0)]
RATES = np.array([0.5, 1.0, 1.2, 2.0])


def test_each_rule_has_its_coefficient():
    s, s2 = RATES.sum(), (RATES**2).sum()
    assert roster_idleness(RATES, "longest-idle") == roster_idleness(RATES, "random") == s2 / s
    assert roster_idleness(RATES, "least-occupied") == s / 4 == roster_idleness(RATES, WeightedRandom(1.0))
    assert roster_idleness(RATES, WeightedRandom(-1.0)) == (RATES**3).sum() / s2
    assert roster_idleness(RATES, "fastest-first") == 0.5
    assert roster_idleness(RATES, "slowest-first") == 2.0
    assert roster_idleness(RATES[:3], Priority((3, 0, 2, 1))) == 1.0


@pytest.mark.parametrize("rule", [*RULES, "fastest-first", "slowest-first"])
@pytest.mark.parametrize("law", [GammaRates(2.0, 0.0), ObservedRates((2.0, 2.0))])
def test_agents_who_do_not_differ_idle_at_their_rate(rule, law):
    assert law_idleness(law, rule) == pytest.approx(2.0, rel=1e-14)
    assert roster_idleness(np.full(7, 2.0), rule) == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "law", [GammaRates(1.3, 0.3), TwoPointRates(1.0, 0.5), ObservedRates((1.0, 2.0, 4.0))]
)
def test_that_of_the_law_is_that_of_a_large_roster(rule, law):
    size = 200_000
    roster = law.quantile((np.arange(size) + 0.5) / size)
    assert law_idleness(law, rule) == pytest.approx(roster_idleness(roster, rule), rel=2e-5)


def test_strict_priorities_leave_the_ends_of_the_law_idle():
    law = UniformRates(1.0, 0.3)
    assert law_idleness(law, "fastest-first") == law.lowest
    assert law_idleness(law, "slowest-first") == law.highest
    ends = np.sort(law.rosters(50, 4001, np.random.default_rng(5)), axis=1)[:, [0, -1]]
    low, high = np.median(ends, axis=0)
    assert law_idleness(law, "fastest-first", 50) == pytest.approx(low, abs=2e-3)
    assert law_idleness(law, "slowest-first", 50) == pytest.approx(high, abs=2e-3)
    assert law_idleness(GammaRates(1.0, 0.3), "slowest-first") == math.inf


def test_rules_whose_coefficient_is_rough_say_so():
    assert "slowest idle" in rough_rule("fastest-first")
    assert "fastest idle" in rough_rule("slowest-first")
    assert "last idle" in rough_rule(Priority((1, 0)))
    assert not any(rough_rule(rule) for rule in RULES)
