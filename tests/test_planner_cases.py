"""Cases from planners' public reports that other tools get wrong."""

import csv
import math

import pytest

from staffing import Scenario, ScenarioError, evaluate_staffing, optimize_staffing
from staffing.models.erlang import erlang_b, erlang_c
from staffing.tables import write_csv

PATIENT = {"mean_patience_seconds": math.inf, "rate_cv": 0}


def evaluate(**fields):
    return evaluate_staffing(**(PATIENT | fields)).performance


def best(**fields):
    return optimize_staffing(**(PATIENT | fields), check=False)


def test_case_1_factorials_do_not_overflow():
    assert evaluate(
        calls_per_hour=143, mean_handle_seconds=3600, agents=144
    ).wait_probability == pytest.approx(0.9012833, abs=5e-8)
    assert erlang_c(143, 1, 144).wait_probability == pytest.approx(0.9012833, abs=5e-8)


def test_case_2_an_overload_says_so_and_with_patience_is_ordinary():
    overloaded = {"calls_per_hour": 200, "mean_handle_seconds": 180, "agents": 8}
    level = evaluate_staffing(**PATIENT, **overloaded)
    p = level.performance
    assert (p.wait_probability, p.occupancy, p.service_level.offered) == (1, 1, 0)
    assert p.mean_wait == p.mean_wait_answered == math.inf
    assert p.throughput == pytest.approx(8 / 180)
    assert level.rosters.share_unstable == 1
    assert "endless" in str(evaluate_staffing(**PATIENT, **(overloaded | {"agents": [8]})))
    p = evaluate(**overloaded, mean_patience_seconds=120)
    assert 0.3 < p.service_level.offered < 0.5
    assert 0.9 < p.occupancy < 1
    assert 0.2 < p.abandonment_probability < 0.3


@pytest.mark.parametrize("agents", [0, 5])
@pytest.mark.parametrize("patience", [0, 120, math.inf])
def test_case_3_no_calls_need_nobody(agents, patience):
    nothing = {"calls_per_hour": 0, "mean_handle_seconds": 180, "mean_patience_seconds": patience}
    p = evaluate(**nothing, agents=agents)
    assert p.service_level.offered == p.service_level.answered == p.service_level.virtual == 1
    assert p.mean_wait == p.mean_wait_answered == p.occupancy == p.abandonment_probability == 0
    plan = best(**nothing, min_service_level=0.8)
    assert plan.agents == 0
    assert any("nobody is needed" in warning for warning in plan.warnings)


def test_case_4_half_an_agent_is_refused_not_rounded():
    with pytest.raises(ScenarioError, match="13 and 14"):
        evaluate(calls_per_hour=200, mean_handle_seconds=180, agents=13.5)
    around = {"calls_per_hour": 200, "mean_handle_seconds": 180, "service_level_seconds": 19.8}
    levels = [evaluate(**around, agents=n).service_level.offered for n in (13, 14)]
    assert levels == pytest.approx([0.7949, 0.8879], abs=5e-5)


def test_case_5_one_agent_can_be_enough():
    quiet = {"calls_per_hour": 2, "min_service_level": 0.8}
    plan = best(**quiet, mean_handle_seconds=180)
    assert plan.agents == 1
    assert plan.performance.service_level.offered == pytest.approx(0.910, abs=5e-4)
    assert [best(**quiet, mean_handle_seconds=handle).agents for handle in (370, 374, 377, 380)] == [
        1,
        1,
        2,
        2,
    ]


def test_case_6_patience_makes_an_overload_smooth():
    busy = {"calls_per_hour": 435, "agents": 12, "service_level_seconds": 180}
    patient = [evaluate(**busy, mean_handle_seconds=handle) for handle in (90, 100)]
    assert patient[0].service_level.offered == pytest.approx(0.93, abs=5e-3)
    assert patient[1].service_level.offered == 0
    ordinary = [evaluate(**busy, mean_handle_seconds=h, mean_patience_seconds=300) for h in (90, 100)]
    assert [p.abandonment_probability for p in ordinary] == pytest.approx([0.048, 0.087], abs=5e-4)


def test_case_7_shrinkage_divides():
    plan = best(
        calls_per_hour=1200, mean_handle_seconds=180, min_service_level=0.8, min_agents=100, shrinkage=0.3
    )
    assert (plan.agents, plan.agents_gross) == (100, 143)


@pytest.mark.parametrize(("shrinkage", "hint"), [(30, "for 30% write 0.3"), (1.0, "leaves nobody")])
def test_case_8_absurd_shrinkage_is_refused_with_a_hint(shrinkage, hint):
    with pytest.raises(ScenarioError, match=hint):
        best(calls_per_hour=1200, mean_handle_seconds=180, min_service_level=0.8, shrinkage=shrinkage)


def test_case_10_minutes_are_asked_about():
    plan = best(calls_per_hour=200, mean_handle_seconds=180 * 60, min_service_level=0.8)
    assert plan.agents > 600
    assert any("600 erlangs" in warning and "in seconds?" in warning for warning in plan.warnings)
    assert "600 erlangs" in str(plan)


def test_case_11_calls_longer_than_the_interval_are_answered_with_a_warning():
    plan = best(calls_per_hour=10, mean_handle_seconds=45 * 60, min_service_level=0.8)
    assert plan.agents == 11
    assert any("longer than a half-hour interval" in warning for warning in plan.warnings)


@pytest.mark.parametrize("target", [1, 1.0])
def test_case_12_a_service_level_of_1_is_refused(target):
    with pytest.raises(ScenarioError, match="unattainable with finitely many agents"):
        best(calls_per_hour=1200, mean_handle_seconds=180, min_service_level=target)


def test_case_13_fewer_agents_than_erlangs_are_allowed():
    fields = {"calls_per_hour": 1200, "mean_handle_seconds": 180, "mean_patience_seconds": 120}
    assert best(**fields, max_abandonment=0.1).agents == 56


@pytest.mark.parametrize(
    "calls", [2000, 2000.0000000000002, math.nextafter(2000, 0), math.nextafter(2000, 3000)]
)
def test_case_14_the_last_digit_does_not_decide(calls):
    fields = {"mean_handle_seconds": 180, "mean_patience_seconds": 120, "min_service_level": 0.8}
    assert best(calls_per_hour=calls, **fields).agents == 96


def test_case_16_four_thousand_erlangs():
    plan = best(calls_per_hour=40_000, mean_handle_seconds=360, min_service_level=0.8)
    assert plan.agents == 4022


def test_case_19_patience_has_two_ends():
    impatient = evaluate(calls_per_hour=10, mean_handle_seconds=3600, mean_patience_seconds=0, agents=10)
    assert impatient.abandonment_probability == pytest.approx(0.21458234, abs=5e-9)
    assert impatient.mean_wait == 0
    assert erlang_b(10, 1, 10).blocking_probability == pytest.approx(impatient.abandonment_probability)
    patient = evaluate(calls_per_hour=10, mean_handle_seconds=3600, agents=12)
    assert patient.values() == pytest.approx(
        erlang_c(10 / 3600, 1 / 3600, 12, threshold=20).values(), rel=1e-12
    )


def test_case_20_a_name_is_no_formula_and_a_number_is_a_number(tmp_path):
    curve = evaluate_staffing(
        Scenario(name="=cmd", calls_per_hour=100, mean_handle_seconds=180, **PATIENT), agents=[6]
    )
    frame = curve.to_frame().assign(saving=-3.5)
    write_csv(frame, tmp_path / "what_if.csv")
    with open(tmp_path / "what_if.csv", encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["name"] == "'=cmd"
    assert row["saving"] == "-3.5"
