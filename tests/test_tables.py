"""Levels as a table, and the table as a file that a spreadsheet opens and does not run."""

import csv
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staffing import Scenario, StaffingError, evaluate_staffing, optimize_staffing
from staffing.tables import write_csv

SCENARIO = Scenario(
    name="Monday",
    calls_per_hour=1200,
    mean_handle_seconds=180,
    mean_patience_seconds=120,
    shrinkage=0.3,
    agent_cost_per_hour=30,
    waiting_cost_per_hour=20,
    abandonment_cost=2.5,
    min_service_level=0.8,
    max_abandonment=0.04,
)
FORMULAS = ["=cmd", "+1", "-1", "@x", "=1+1", "-2+3", "+cmd|' /C calc'!A0", '=HYPERLINK("x")', "@SUM(1)"]


@pytest.fixture(scope="module")
def plan():
    return optimize_staffing(SCENARIO, check=False)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_one_row_per_level_and_the_recommended_one_is_marked(plan):
    frame = plan.to_frame()
    assert list(frame["agents"]) == [level.agents for level in plan.curve]
    assert list(frame.loc[frame["recommended"], "agents"]) == [plan.agents]
    assert frame.columns.is_unique
    assert not frame.isna().any().any()
    assert (frame["name"] == "Monday").all()


def test_every_figure_is_that_of_its_level(plan):
    for level, row in zip(plan.curve, plan.to_frame().to_dict("records"), strict=True):
        p, rosters = level.performance, level.rosters
        expected = {
            "agents_gross": level.agents_gross,
            "cost_per_hour": level.cost_per_hour,
            "cost_of_agents_per_hour": level.cost_parts["agents"],
            "cost_of_waiting_per_hour": level.cost_parts["waiting"],
            "cost_of_abandonment_per_hour": level.cost_parts["abandonment"],
            "service_level_offered_in_20s_fraction": p.service_level.offered,
            "service_level_answered_in_20s_fraction": p.service_level.answered,
            "service_level_virtual_in_20s_fraction": p.service_level.virtual,
            "abandonment_fraction": p.abandonment_probability,
            "mean_wait_all_calls_seconds": p.mean_wait,
            "mean_wait_answered_calls_seconds": p.mean_wait_answered,
            "mean_queue_callers": p.mean_queue,
            "occupancy_fraction": p.occupancy,
            "calls_answered_per_hour": p.throughput * 3600,
            "abandonment_fraction_95pct_of_rosters": rosters.quantiles["abandonment_probability"].high,
            "mean_wait_all_calls_seconds_5pct_of_rosters": rosters.quantiles["mean_wait"].low,
            "keeps_min_service_level_on_average": level.promises["min_service_level"],
            "share_of_rosters_missing_max_abandonment_fraction": rosters.share_missing["max_abandonment"],
            "share_of_rosters_missing_any_promise_fraction": rosters.share_missing_any,
            "method": p.method,
        }
        assert {name: row[name] for name in expected} == expected


def test_names_of_columns_carry_units_and_the_seconds(plan):
    for name in plan.to_frame().select_dtypes("number").columns.difference(["agents", "agents_gross"]):
        assert any(unit in name for unit in ("per_hour", "fraction", "seconds", "callers")), name
    other = evaluate_staffing(SCENARIO, service_level_seconds=7.5, agents=[60]).to_frame()
    assert "service_level_offered_in_7.5s_fraction" in other.columns


def test_the_file_is_the_table(plan, tmp_path):
    plan.to_csv(tmp_path / "what_if.csv")
    content = (tmp_path / "what_if.csv").read_bytes()
    assert content.decode("utf-8").isascii()
    assert b"\r" not in content
    assert content.count(b"\n") == 1 + len(plan.curve)
    for written, row in zip(read(tmp_path / "what_if.csv"), plan.to_frame().to_dict("records"), strict=True):
        assert list(written) == list(row)
        for name, value in row.items():
            kind = type(value)
            assert written[name] == str(value) if kind in (str, bool) else kind(written[name]) == value, name
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "what_if.csv"), plan.to_frame(), rtol=1e-14)


def test_a_curve_has_the_same_columns_but_no_recommendation(plan, tmp_path):
    curve = evaluate_staffing(SCENARIO, agents=[60, 62])
    curve.to_csv(str(tmp_path / "curve.csv"))
    (first, second) = read(tmp_path / "curve.csv")
    assert (first["agents"], second["agents"]) == ("60", "62")
    assert list(first) == [name for name in plan.to_frame().columns if name != "recommended"]


def test_infinite_waits_are_numbers_too(tmp_path):
    curve = evaluate_staffing(SCENARIO, mean_patience_seconds=math.inf, rate_cv=0, agents=[50, 65])
    curve.to_csv(tmp_path / "curve.csv")
    again = pd.read_csv(tmp_path / "curve.csv")
    assert list(again["mean_wait_all_calls_seconds"] == math.inf) == [True, False]
    assert not curve.to_frame().isna().any().any()


@pytest.mark.parametrize("name", FORMULAS)
def test_a_name_that_a_spreadsheet_would_run_is_made_text(plan, name, tmp_path):
    evaluate_staffing(SCENARIO, name=name, agents=[60, 61]).to_csv(tmp_path / "f.csv")
    assert [row["name"] for row in read(tmp_path / "f.csv")] == 2 * ["'" + name]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\n"])
def test_no_cell_and_no_heading_starts_like_a_formula(start, tmp_path):
    write_csv(pd.DataFrame({start + "heading": [start + "cell", "plain"]}), tmp_path / "f.csv")
    with open(tmp_path / "f.csv", encoding="utf-8", newline="") as file:
        heading, *cells = [cell for (cell,) in csv.reader(file)]
    assert heading == "'" + start + "heading"
    assert cells == ["'" + start + "cell", "plain"]


def test_negative_numbers_stay_numbers(tmp_path):
    frame = pd.DataFrame({"a": [-3.5, 1.0], "b": [-3, 4], "c": ["-3.5", "x"], "d": [-math.inf, -1e-300]})
    write_csv(frame, tmp_path / "f.csv")
    rows = read(tmp_path / "f.csv")
    for column in "abd":
        assert [float(row[column]) for row in rows] == list(frame[column])
    assert [row["c"] for row in rows] == ["'-3.5", "x"]
    assert pd.api.types.is_float_dtype(pd.read_csv(tmp_path / "f.csv")["a"])


@pytest.mark.parametrize(
    "name",
    [
        "Montag, früh",
        'the "big" one',
        "a;b",
        "月曜日",
        "Zürich — 10:00",
        "o'clock",
        "'quoted",
        " =cmd",
        "🎧",
        "NA",
        "",
    ],
)
def test_names_come_back_as_they_were(name, tmp_path):
    evaluate_staffing(SCENARIO, name=name, agents=[60, 61]).to_csv(tmp_path / "f.csv")
    assert [row["name"] for row in read(tmp_path / "f.csv")] == [name, name]
    again = pd.read_csv(tmp_path / "f.csv", keep_default_na=False)
    assert list(again["name"]) == [name, name]
    assert list(again["agents"]) == [60, 61]


@given(name=st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20))
def test_any_name_comes_back_or_is_made_text(name, tmp_path_factory):
    path = tmp_path_factory.mktemp("names") / "f.csv"
    frame = pd.DataFrame({"name": [name], "agents": [60]})
    write_csv(frame, path)
    (row,) = read(path)
    assert row["agents"] == "60"
    assert row["name"] == ("'" + name if name.startswith(("=", "+", "-", "@")) else name)


def test_decimals_have_points_whatever_the_locale(plan, tmp_path):
    import locale

    before = locale.setlocale(locale.LC_ALL)
    try:
        for other in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"):
            try:
                locale.setlocale(locale.LC_ALL, other)
            except locale.Error:
                continue
            break
        plan.to_csv(tmp_path / "f.csv")
    finally:
        locale.setlocale(locale.LC_ALL, before)
    row = read(tmp_path / "f.csv")[0]
    assert float(row["cost_per_hour"]) == plan.curve[0].cost_per_hour


def test_the_table_is_not_changed_by_writing_it(tmp_path):
    frame = pd.DataFrame({"=name": ["=cmd"]})
    write_csv(frame, tmp_path / "f.csv")
    assert frame.equals(pd.DataFrame({"=name": ["=cmd"]}))


def test_a_file_that_cannot_be_written_is_one_clear_line(plan, tmp_path):
    for path in (tmp_path / "none" / "f.csv", tmp_path):
        with pytest.raises(StaffingError, match="cannot be written") as caught:
            plan.to_csv(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
