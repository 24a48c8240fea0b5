"""A scenario written as TOML and read again is the same scenario."""

import math
import tomllib
from dataclasses import MISSING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from staffing.field_kinds import Choice, Label, Number, Numbers, Points, kind_of
from staffing.models.errors import StaffingError
from staffing.scenario import Scenario, check_fields
from staffing.scenario_fields import FIELDS
from staffing.scenario_file import read_scenario
from staffing.scenario_toml import scenario_toml

ORDINARY = {"calls_per_hour": 1200, "mean_handle_seconds": 180, "mean_patience_seconds": 120}


def label(longest):
    letters = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))
    marks = st.sampled_from(
        ['"', "'", '"""', "\\", "\\u0041", "\\n", "#", "=", "[", "\ufeff", "\U0010ffff", " "]
    )
    return st.lists(letters | marks, max_size=longest // 6).map("".join)


def curve(steps):
    """A curve of patience from lengths of its stretches and shares of those who outlast each."""
    points = [(0.0, 1.0)]
    for length, share in steps:
        points.append((points[-1][0] + length, points[-1][1] * 0.99 * share))
    return points


def values(kind):
    if isinstance(kind, Label):
        return label(200)
    if isinstance(kind, Choice):
        return st.sampled_from(kind.words)
    if isinstance(kind, Numbers):
        return st.lists(st.floats(kind.low, kind.high), min_size=1, max_size=20)
    if isinstance(kind, Points):
        pairs = st.tuples(st.floats(0.1, 100), st.floats(0.1, 1))
        return st.lists(pairs, min_size=1, max_size=5).map(curve)
    assert isinstance(kind, Number)
    within = st.floats(kind.low, kind.high)
    if kind.whole:
        return st.integers(int(kind.low), int(kind.high))
    return st.one_of(within, st.sampled_from([kind.low, kind.high, *kind.besides])).filter(
        lambda number: number not in kind.refused
    )


@st.composite
def scenarios(draw):
    """Scenarios with any of the fields given, each over all its values, but for those that contradict others."""
    given = {
        name: draw(values(kind_of(item)))
        for name, item in FIELDS.items()
        if item.default is MISSING or draw(st.booleans())
    }
    for _ in range(20):
        if not (problems := check_fields(given)[-1]):
            break
        for name in problems[0].fields:
            if name in given:
                del given[name]
            elif name in ORDINARY:
                given[name] = ORDINARY[name]
    return Scenario(**given)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scenarios())
@example(Scenario(**ORDINARY))
@example(Scenario(**ORDINARY | {"mean_patience_seconds": math.inf}, max_agents=None, min_agents=7))
@example(Scenario(**ORDINARY, name='a "quoted" \\ back\\slash, Früh 電話 \u202e # = [x]'))
@example(Scenario(**ORDINARY, rate_cv=5e-324, shrinkage=1e-300, agent_cost_per_hour=1e9))
def test_what_is_written_is_read_again(tmp_path, centre):
    centre.to_toml(tmp_path / "centre.toml")
    again = read_scenario(tmp_path / "centre.toml")
    assert again == centre
    assert again.given() == centre.given()
    assert tuple(map(type, again.given().values())) == tuple(map(type, centre.given().values()))


@given(scenarios())
def test_a_line_for_each_field_given(centre):
    lines = scenario_toml(centre).splitlines()
    assert [line.partition(" = ")[0] for line in lines] == list(centre.given())
    assert list(tomllib.loads(scenario_toml(centre))) == list(centre.given())


def test_the_most_rates_that_a_scenario_takes_can_be_read_again(tmp_path):
    rates = [20 + 1 / (3 + n) for n in range(100_000)]
    centre = Scenario(calls_per_hour=1200, mean_patience_seconds=120, observed_rates_per_hour=rates)
    centre.to_toml(tmp_path / "large.toml")
    assert read_scenario(tmp_path / "large.toml") == centre


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(StaffingError, match=r"none.centre\.toml: cannot be written"):
        Scenario(**ORDINARY).to_toml(tmp_path / "none" / "centre.toml")
