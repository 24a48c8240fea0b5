"""Several levels of one scenario."""

import dataclasses

import pytest

from staffing import Scenario, evaluate_staffing
from staffing.curve import Curve
from staffing.curve_text import curve_text

SCENARIO = Scenario(
    calls_per_hour=1200,
    mean_handle_seconds=180,
    mean_patience_seconds=120,
    agent_cost_per_hour=30,
    min_service_level=0.8,
)


@pytest.fixture(scope="module")
def curve():
    return evaluate_staffing(SCENARIO, agents=range(55, 66))


def test_a_curve_is_a_sequence_of_levels(curve):
    assert isinstance(curve, Curve)
    assert len(curve) == 11
    assert [level.agents for level in curve] == list(range(55, 66))
    assert curve[0].agents == 55
    assert curve[-1].agents == 65
    assert curve[3] in curve
    assert next(reversed(curve)) is curve[-1]
    with pytest.raises(IndexError):
        curve[11]


def test_a_slice_of_a_curve_is_a_curve(curve):
    part = curve[2:5]
    assert isinstance(part, Curve)
    assert [level.agents for level in part] == [57, 58, 59]
    assert part.scenario is curve.scenario


def test_a_level_is_found_by_its_agents(curve):
    assert curve.at(60).agents == 60
    with pytest.raises(KeyError):
        curve.at(99)


def test_the_order_is_that_asked_for_and_levels_may_come_again():
    assert [level.agents for level in evaluate_staffing(SCENARIO, agents=[61, 59, 61])] == [61, 59, 61]


def test_curves_are_equal_if_scenario_and_levels_are(curve):
    assert curve == evaluate_staffing(SCENARIO, agents=range(55, 66))
    assert curve[2:5] == evaluate_staffing(SCENARIO, agents=[57, 58, 59])
    assert curve != curve[1:]
    assert curve != Curve(SCENARIO.replace(name="other"), curve.levels)
    assert curve != list(curve)


def test_a_curve_cannot_be_changed(curve):
    assert isinstance(curve.levels, tuple)
    assert Curve(SCENARIO, list(curve)) == curve
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.levels = ()


def test_as_text_it_is_a_table_and_as_code_a_line(curve):
    *table, method = str(curve).splitlines()
    assert "\n".join(table) == curve_text(curve.levels)
    assert method.startswith("  gamma closure; percentages within 0.0069 points")
    assert repr(curve[2:5]) == "Curve([57, 58, 59] agents)"
    assert str(curve[:0]) == "no levels"


def test_it_is_a_table_of_its_levels(curve, tmp_path):
    assert list(curve.to_frame()["agents"]) == list(range(55, 66))
    curve.to_csv(tmp_path / "f.csv")
    assert (tmp_path / "f.csv").read_text().count("\n") == 1 + len(curve)
