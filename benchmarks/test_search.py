"""The fewest agents who answer 80% of 20,000 calls an hour within 20 seconds, beside one evaluation by LINE.

A call takes 180 seconds and patience lasts 120: 1000 erlangs, for which 892 agents do. LINE evaluates 1000 agents, who
have a shorter queue, which takes LINE less time than that of 892.
"""

from collections.abc import Callable

import pytest

from benchmarks import line_erlang_a
from benchmarks.table import OURS
from staffing import Scenario, evaluate_staffing, optimize_staffing
from staffing.question import agents_of, search_of


def plan(scenario: Scenario) -> int:
    return optimize_staffing(scenario, check=False).agents


def search(scenario: Scenario) -> int:
    return search_of(scenario, agents_of(scenario)).best()


def line(scenario: Scenario) -> float:
    patiences_per_service = scenario.mean_handle_seconds / scenario.mean_patience_seconds
    return line_erlang_a.evaluate(1000.0, 1.0, patiences_per_service, 1000)["wait_probability"]


# Ours is over in a moment, which may be a bad one.
ORDER = [OURS, "LINE, one evaluation", OURS]


@pytest.mark.parametrize("who", ORDER)
@pytest.mark.parametrize(
    ("what", "job", "rate_cv"),
    [
        ("plan of 892 agents alike", plan, 0.0),
        ("plan of 892 agents who differ", plan, 0.2),
        ("search for 892 agents alike", search, 0.0),
        ("search for 892 agents who differ", search, 0.2),
    ],
)
def test_search(timed: Callable, what: str, job: Callable, rate_cv: float, who: str) -> None:
    scenario = Scenario(
        calls_per_hour=20_000,
        mean_handle_seconds=180,
        mean_patience_seconds=120,
        rate_cv=rate_cv,
        min_service_level=0.8,
    )
    found = timed(what, who, job if who == OURS else line, [(scenario,)] * 30)[0]
    alike = evaluate_staffing(scenario, agents=1000, rate_cv=0).performance
    assert found == (892 if who == OURS else pytest.approx(alike.wait_probability, rel=1e-9))
