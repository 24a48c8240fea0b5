"""Levels as a table for the screen."""

import math

import pytest

from staffing import Scenario, evaluate_staffing
from staffing.curve_text import curve_text
from staffing.wording import percent

SCENARIO = Scenario(
    calls_per_hour=1200,
    mean_handle_seconds=180,
    mean_patience_seconds=120,
    agent_cost_per_hour=30,
)


def text_of(agents, **fields):
    """The table; how it was found stands below it."""
    return str(evaluate_staffing(SCENARIO, agents=agents, **fields)).rpartition("\n")[0]


def test_there_is_a_line_per_level_and_a_heading_that_names_the_seconds():
    lines = text_of(range(55, 66), min_service_level=0.8).splitlines()
    assert [line.split()[0] for line in lines] == ["agents", *map(str, range(55, 66))]
    assert "SL offered 20s" in lines[0]
    assert max(map(len, lines)) <= 100
    assert "SL offered 7.5s" in text_of([60], service_level_seconds=7.5)


def test_broken_promises_show():
    text = text_of([0, 40, 60, 70], min_service_level=0.8)
    lines = text.splitlines()
    assert "rosters missing" in lines[0]
    assert lines[1].split()[-1] == lines[2].split()[-1] == "100.0%"
    assert lines[4].split()[-1] in ("<0.05%", "0.0%")
    assert max(map(len, lines)) <= 100
    assert "nan" not in text
    assert "rosters missing" not in text_of([60])


@pytest.mark.parametrize("cost", [0.01, 30, 1e7, 1e9])
@pytest.mark.parametrize("promise", [{}, {"min_service_level": 0.8}])
def test_columns_are_as_wide_as_their_figures(cost, promise):
    heading, *lines = text_of([0, 9, 60, 1000], agent_cost_per_hour=cost, **promise).splitlines()
    assert {len(line) for line in lines} == {len(heading)}
    for line, agents in zip(lines, (0, 9, 60, 1000), strict=True):
        assert line.split()[:2] == [str(agents), f"{agents * cost:,.2f}"]


def test_endless_waits_are_words():
    text = text_of([59, 61], mean_patience_seconds=math.inf, rate_cv=0)
    assert text.count("endless") == 2
    assert "inf" not in text


def test_the_recommended_level_is_marked():
    levels = evaluate_staffing(SCENARIO, agents=[59, 60, 61]).levels
    plain, marked = curve_text(levels).splitlines(), curve_text(levels, recommended=60).splitlines()
    assert marked == [*plain[:2], plain[2] + "  <", plain[3]]
    assert curve_text(levels, recommended=99).splitlines() == plain


@pytest.mark.parametrize("definition", ["offered", "answered", "virtual"])
def test_the_service_level_shown_is_the_one_defined(definition):
    curve = evaluate_staffing(SCENARIO, agents=[60], service_level_definition=definition)
    value = getattr(curve[0].performance.service_level, definition)
    header, row, method = str(curve).splitlines()
    assert method.strip().startswith("gamma closure")
    assert f"SL {definition} " in header
    assert percent(value) in row


def test_no_levels_are_said_to_be_none():
    assert curve_text([]) == "no levels"
