"""The record every model answers with: names, conventions for empty systems, the law of the wait."""

import math
from dataclasses import FrozenInstanceError, replace

import pytest

from staffing.models.erlang import erlang_a, erlang_b, erlang_c
from staffing.models.errors import ScenarioError
from staffing.models.performance import MEASURES, Performance, Sums, measures, performance
from staffing.models.roster import roster_performance


class Exponential:
    """A wait that is zero with chance 0.4 and exponential with the given rate otherwise."""

    def __init__(self, rate):
        self.rate = rate

    def survival(self, t):
        return 0.6 * math.exp(-self.rate * t)


class Endless:
    def survival(self, t):
        return 0.25


VALUES = {measure: 0.01 * (k + 1) for k, measure in enumerate(MEASURES)}


def record(law=None, threshold=20.0):
    return performance(
        VALUES,
        method="a method",
        method_error=dict.fromkeys(MEASURES, "exact"),
        time_unit="s",
        threshold=threshold,
        wait_law=law or Exponential(0.5),
    )


def test_every_measure_by_its_name():
    p = record()
    assert p.values() == VALUES
    assert list(p.values()) == list(MEASURES)
    for measure in MEASURES:
        assert p.value(measure) == VALUES[measure]
    assert p.mean_wait == VALUES["mean_wait"]
    level = p.service_level
    assert (level.threshold, level.offered) == (20.0, VALUES["service_level_offered"])
    assert (level.answered, level.virtual) == (
        VALUES["service_level_answered"],
        VALUES["service_level_virtual"],
    )
    assert p.standard_errors == {}
    assert p.spread == {}


@pytest.mark.parametrize("name", ["asa", "service_level", "service_level_", "method", "", "spread"])
def test_an_unknown_measure_is_refused_with_the_known_ones(name):
    with pytest.raises(ScenarioError, match="measure") as refusal:
        record().value(name)
    assert repr(name) in str(refusal.value)
    assert "service_level_offered" in str(refusal.value)


def test_the_record_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        record().mean_wait = 0.0


def test_the_law_of_the_wait_takes_no_part_in_equality():
    assert record(Exponential(1.0)) == record(Exponential(2.0))
    assert record() != replace(record(), mean_wait=9.0)
    assert "wait_law" not in repr(record())


@pytest.mark.parametrize("model", ["erlang", "roster"])
def test_methods_name_themselves_and_their_unit(model):
    if model == "erlang":
        p = erlang_a(4.0, 1.0, 0.5, 5, threshold=0.3, time_unit="minute")
        assert p.method == "Erlang A"
        assert erlang_b(4.0, 1.0, 5).method == "Erlang B"
        assert erlang_c(4.0, 1.0, 5).method == "Erlang C"
    else:
        p = roster_performance([1.0] * 5, 4.0, 0.5, threshold=0.3, time_unit="minute")
        assert p.method == "exact roster"
    assert isinstance(p, Performance)
    assert (p.time_unit, p.service_level.threshold) == ("minute", 0.3)
    assert dict(p.method_error) == dict.fromkeys(MEASURES, "exact")
    assert p.standard_errors == p.spread == {}


# --- the wait ---


def test_cdf_and_quantile_of_a_known_law():
    p = record(Exponential(0.5))
    assert p.wait_cdf(0) == pytest.approx(0.4, rel=1e-15)
    assert p.wait_cdf(-1e-9) == p.wait_cdf(-math.inf) == 0
    assert p.wait_cdf(3.0) == pytest.approx(1 - 0.6 * math.exp(-1.5), rel=1e-15)
    assert p.wait_cdf(math.inf) == 1
    for share in (0.0, 0.2, 0.4):
        assert p.wait_quantile(share) == 0
    for share in (0.400001, 0.5, 0.9, 0.999999, 1 - 1e-12):
        t = -math.log((1 - share) / 0.6) / 0.5
        assert p.wait_quantile(share) == pytest.approx(t, rel=1e-3 if share > 0.9999999 else 1e-8)


@pytest.mark.parametrize("rate", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("threshold", [0.0, 1e-6, 1.0, 1e4])
def test_quantiles_at_any_scale_of_time(rate, threshold):
    """Whatever the threshold, which the search starts from."""
    p = record(Exponential(rate), threshold)
    assert p.wait_quantile(0.9) == pytest.approx(math.log(6) / rate, rel=1e-9, abs=4e-12 * threshold)


def test_a_quantile_far_below_the_threshold():
    assert record(Exponential(1e9), 1e4).wait_quantile(0.9) == pytest.approx(math.log(6) / 1e9, rel=1e-6)


def test_a_wait_that_may_never_end():
    p = record(Endless())
    assert p.wait_quantile(0.75) == 0
    assert p.wait_quantile(0.76) == math.inf
    assert p.wait_cdf(1e300) == 0.75


@pytest.mark.parametrize("share", [-0.1, 1.0, 1.5, math.nan, math.inf, 90])
def test_bad_shares_are_refused(share):
    with pytest.raises(ScenarioError, match="p: "):
        record().wait_quantile(share)


def test_a_time_that_is_none_is_refused():
    with pytest.raises(ScenarioError, match="t: nan"):
        record().wait_cdf(math.nan)


# --- measures from sums ---

BUSY = Sums(
    waits=0.5,
    queue=3.0,
    lost=0.2,
    answered_wait=0.1,
    answered_in_time=0.6,
    virtually_late=0.3,
    busy=4.0,
    answered=0.8,
)


def test_measures_from_sums():
    values = measures(BUSY, arrival_rate=10.0, agents=5, capacity=16.0)
    assert values == pytest.approx(
        {
            "wait_probability": 0.5,
            "mean_wait": 0.3,
            "mean_wait_answered": 0.125,
            "mean_queue": 3.0,
            "abandonment_probability": 0.2,
            "blocking_probability": 0.0,
            "service_level_offered": 0.6,
            "service_level_answered": 0.75,
            "service_level_virtual": 0.7,
            "occupancy": 0.8,
            "capacity_utilisation": 0.5,
            "throughput": 8.0,
        },
        rel=1e-15,
    )
    assert list(values) == list(MEASURES)


def test_measures_of_empty_systems():
    nobody = measures(BUSY._replace(answered=0.0, busy=0.0), arrival_rate=10.0, agents=0, capacity=0.0)
    assert nobody["mean_wait_answered"] == math.inf
    assert nobody["service_level_answered"] == 0
    assert nobody["occupancy"] == nobody["capacity_utilisation"] == 1  # as of ever fewer agents
    idle = Sums(0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0)
    for agents in (0, 5):
        no_calls = measures(idle, arrival_rate=0.0, agents=agents, capacity=float(agents))
        for measure in ("mean_wait", "throughput", "occupancy", "capacity_utilisation"):
            assert no_calls[measure] == 0
        assert no_calls["service_level_answered"] == 1


def test_blocked_calls_are_counted():
    values = measures(BUSY._replace(blocked=0.125), arrival_rate=10.0, agents=5, capacity=16.0)
    assert values["blocking_probability"] == 0.125
