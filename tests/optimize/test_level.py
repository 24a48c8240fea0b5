"""The best level against looking at every level."""

import dataclasses
import math

import numpy as np
import pytest

from staffing.models.errors import Infeasible
from staffing.optimize.costs import Costs
from staffing.optimize.level import LevelSearch
from staffing.optimize.promises import Promise
from staffing.question import agents_of, search_of
from staffing.scenario import Scenario

ORDINARY = {"calls_per_hour": 1200, "mean_handle_seconds": 180, "mean_patience_seconds": 120, "rate_cv": 0}
PARTS, PER_PART = 8, 40


def search_for(scenario):
    return search_of(scenario, agents_of(scenario))


def log_uniform(generator, low, high):
    return float(math.exp(generator.uniform(math.log(low), math.log(high))))


def random_scenario(generator):
    """Small centres of every temper; agents cost 1, so costs of calls are in agents."""
    load = log_uniform(generator, 0.05, 30)
    fields = {"calls_per_hour": 20 * load, "mean_handle_seconds": 180, "rate_cv": 0.0}
    patience = generator.uniform()
    if patience < 0.1:
        fields["mean_patience_seconds"] = math.inf
    else:
        fields["mean_patience_seconds"] = 0 if patience < 0.15 else log_uniform(generator, 0.4, 18_000)
        fields["rate_cv"] = float(generator.uniform() if generator.uniform() < 0.8 else 0)
    costs = generator.choice(["none", "losing", "waiting", "both"], p=[0.1, 0.35, 0.35, 0.2])
    if costs in ("losing", "both"):
        fields["abandonment_cost"] = log_uniform(generator, 1e-3, 1e3)
    if costs in ("waiting", "both"):
        fields["waiting_cost_per_hour"] = log_uniform(generator, 1e-3, 1e3)
    if generator.uniform() < 0.4:
        fields["min_service_level"] = float(generator.uniform(0.05, 0.99))
        fields["service_level_definition"] = str(generator.choice(["offered", "answered", "virtual"]))
        fields["service_level_seconds"] = float(generator.choice([0, 5, 20, 120]))
        if generator.uniform() < 0.3:  # alone, nobody keeps it
            fields["max_occupancy"] = float(generator.uniform(0.3, 0.97))
    if generator.uniform() < 0.2:
        fields["max_abandonment"] = float(generator.uniform(0.001, 0.6))
    if generator.uniform() < 0.2:
        fields["max_mean_wait_seconds"] = float(generator.uniform(0.5, 100))
    if generator.uniform() < 0.25:
        fields["min_agents"] = int(generator.integers(0, load + 8))
    if generator.uniform() < 0.25:
        fields["max_agents"] = fields.get("min_agents", 0) + int(generator.integers(0, 2 * load + 8))
    return Scenario(**fields)


def looking_everywhere(scenario, search):
    most = int(2 * scenario.offered_load) + 60 if scenario.max_agents is None else scenario.max_agents
    levels = [
        n
        for n in range(scenario.min_agents, most + 1)
        if all(promise.kept(search.at(n)) for promise in search.promises.values())
        and math.isfinite(search.cost(n))
    ]
    least = min(map(search.cost, levels), default=0)
    return next((n for n in levels if search.cost(n) <= least * (1 + 1e-12)), None)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_search_finds_what_looking_at_every_level_finds(part):
    generator = np.random.default_rng([19, part])
    answers = []
    for _ in range(PER_PART):
        scenario = random_scenario(generator)
        expected = looking_everywhere(scenario, search_for(scenario))
        try:
            found = search_for(scenario).best()
        except Infeasible:
            found = None
        assert found == expected, scenario
        answers.append(found)
    assert {None, 0} & set(answers)
    assert len(set(answers)) >= 10


def test_few_levels_are_looked_at():
    for load in (10, 1000, 30_000):
        search = search_for(
            Scenario(
                **(
                    ORDINARY
                    | {"calls_per_hour": 20 * load, "abandonment_cost": 1, "waiting_cost_per_hour": 1}
                )
            )
        )
        search.best()
        assert len(search._seen) <= 30


def table(values, **options):
    """A search over measures written down level by level; beyond the table its last row holds."""
    rows = {"promises": {}, "costs": Costs(agent=1), "offered_load": 1} | options
    return LevelSearch(values=lambda n: values[min(n, len(values) - 1)], **rows)


def queues(*lengths):
    nobody = {"abandonment_probability": 0.0, "blocking_probability": 0.0}
    return [{"mean_queue": length, **nobody} for length in lengths]


def test_ties_go_to_the_fewest_agents():
    # 4, 3, 3, 3, 4, ... an hour.
    assert table(queues(4, 2, 1, 0), costs=Costs(agent=1, waiting=1)).best() == 1
    # Equal to rounding far from the few that are looked at one by one: 20 - n callers up to n = 8, then 12.
    flat = queues(*(20 - n for n in range(9)), 12)
    assert table(flat, costs=Costs(agent=1, waiting=1), offered_load=6).best() == 0


def test_below_the_fourth_agent_a_hump_is_no_obstacle():
    # The first agent costs more than it saves, the second saves it all.
    hump = queues(5, 4.5, 0, 0)
    assert [n + row["mean_queue"] for n, row in enumerate(hump)] == [5, 5.5, 2, 3]
    assert table(hump, costs=Costs(agent=1, waiting=1)).best() == 2


def test_costs_equal_but_for_rounding_are_ties_and_no_others_are():
    costs = Costs(agent=1, waiting=1)
    assert table(queues(4, 3 - 1e-13, 5), costs=costs).best() == 0
    assert table(queues(4, 3 - 1e-11, 5), costs=costs).best() == 1


def test_limits_are_kept():
    search = {"costs": Costs(agent=1, waiting=10), "offered_load": 3}
    falling = queues(*(8 / (1 + n) for n in range(40)))
    best = table(falling, **search).best()
    assert 3 < best < 30
    assert table(falling, **search, lowest=best + 2).best() == best + 2
    assert table(falling, **search, highest=best - 2).best() == best - 2
    assert table(falling, **search, lowest=best - 2, highest=best + 2).best() == best


def test_without_a_trade_off_the_least_that_keeps_the_promises_is_best():
    rows = [{"service": 1 - 1 / (1 + n)} for n in range(100)]
    promise = {"min_service_level": Promise("service", 0.8, at_least=True)}
    assert table(rows, promises=promise).best() == 4
    assert table(rows).best() == 0


def test_free_agents_are_added_up_to_the_limit_that_helps():
    costs = Costs(agent=0, waiting=1)
    assert table(queues(3, 2, 1, 0.5, 0.25, 0.125, 0.0625), costs=costs, highest=5).best() == 5
    assert table(queues(3, 2, 1, 0), costs=costs, highest=9).best() == 3


@pytest.mark.parametrize(
    ("promise", "reached"),
    [
        ({"min_service_level": 0.8}, "0.42"),
        ({"max_abandonment": 0.05}, "0.17"),
        ({"max_mean_wait_seconds": 5}, "21."),
        ({"max_occupancy": 0.5}, "0.98"),
    ],
)
def test_a_promise_that_cannot_be_kept_is_named_with_the_best_there_is(promise, reached):
    search = search_for(Scenario(**(ORDINARY | promise | {"max_agents": 50})))
    with pytest.raises(Infeasible) as caught:
        search.best()
    first, last = str(caught.value).splitlines()
    ((name, limit),) = promise.items()
    assert f"{name} = {limit}" in first
    assert "50 agents" in first
    assert f" {search.at(50)[search.promises[name].measure]:.12g}" in first
    assert f" {reached}" in first
    assert "max_agents = 50" in last


def test_only_the_promises_broken_are_named_and_each_is():
    fields = {
        "min_service_level": 0.8,
        "max_abandonment": 0.05,
        "max_mean_wait_seconds": 100,
        "max_agents": 50,
    }
    with pytest.raises(Infeasible) as caught:
        search_for(Scenario(**(ORDINARY | fields))).best()
    text = str(caught.value)
    assert "min_service_level" in text
    assert "max_abandonment" in text
    assert "max_mean_wait_seconds" not in text


def test_an_endless_wait_is_told_in_words():
    fields = {"mean_patience_seconds": math.inf, "max_mean_wait_seconds": 15, "max_agents": 1}
    with pytest.raises(Infeasible, match="at most that is promised, 1 agent reaches infinity\n"):
        search_for(Scenario(**(ORDINARY | fields))).best()


def test_where_values_scatter_no_level_near_the_best_is_cheaper():
    """Bisection alone stops at 12 agents; the dip at 17 is near, that at 22 near 17, that at 40 near neither."""
    lost = [100 - 5 * min(n, 12) - 0.5 * max(n - 12, 0) for n in range(61)]
    for n, cheaper in ((17, 4), (22, 8), (40, 30)):
        lost[n] -= cheaper
    costs = Costs(agent=1, waiting=1)
    assert table(queues(*lost), costs=costs).best() == 12
    assert table(queues(*lost), costs=costs, uneven=6).best() == 22
    assert table(queues(*lost), costs=costs, uneven=6, highest=21).best() == 17


def test_where_values_scatter_a_promise_may_be_kept_below_where_it_is_broken():
    rows = [
        {"mean_wait": 0.0 if n in (9, 12) or n > 14 else 2.0} | row for n, row in enumerate(queues(*20 * [1]))
    ]
    search = {"promises": {"max_mean_wait_seconds": Promise("mean_wait", 1.0, at_least=False)}, "lowest": 10}
    assert table(rows, **search).best() == 15
    assert table(rows, **search, uneven=6).best() == 12


def test_an_endless_queue_at_the_most_agents_allowed_is_infeasible_and_says_why():
    fields = {"mean_patience_seconds": math.inf, "waiting_cost_per_hour": 20, "max_agents": 59}
    with pytest.raises(Infeasible, match=r"max_agents = 59.*60 erlangs.*never give up"):
        search_for(Scenario(**(ORDINARY | fields))).best()
    assert search_for(Scenario(**(ORDINARY | fields | {"max_agents": 61}))).best() == 61


@pytest.mark.parametrize(("agents", "handle"), [(60, 180), (5, 90), (9, 300)])
def test_agents_who_just_equal_the_load_cannot_serve_callers_who_never_give_up(agents, handle):
    fields = {"calls_per_hour": agents * 3600 / handle, "mean_handle_seconds": handle, "max_agents": agents}
    fields |= {"mean_patience_seconds": math.inf, "waiting_cost_per_hour": 20}
    with pytest.raises(Infeasible, match="without end"):
        search_for(Scenario(**(ORDINARY | fields))).best()


def test_patient_callers_need_more_agents_than_the_load():
    best = search_for(
        Scenario(**(ORDINARY | {"mean_patience_seconds": math.inf, "waiting_cost_per_hour": 1}))
    ).best()
    assert best > 60


def test_levels_are_computed_once():
    asked = []
    search = LevelSearch(
        values=lambda n: (
            asked.append(n)
            or {"mean_queue": 100 / (1 + n), "abandonment_probability": 0, "blocking_probability": 0}
        ),
        costs=Costs(agent=1, waiting=1),
        promises={"max_mean_wait_seconds": Promise("mean_queue", 10, at_least=False)},
        offered_load=9,
    )
    assert search.best() == search.best() == 9
    assert len(asked) == len(set(asked))


def test_a_search_within_other_limits_leaves_the_search_alone():
    search = search_for(Scenario(**(ORDINARY | {"min_service_level": 0.8, "min_agents": 70})))
    assert dataclasses.replace(search, lowest=0).best() == 60
    assert search.best() == 70


@pytest.mark.parametrize(
    ("load", "agents"), [(25, {"offered": 27}), (60, {"offered": 60, "virtual": 59, "answered": 58})]
)
def test_least_keeping_is_the_first_level_that_keeps(load, agents):
    for definition in agents:
        fields = {
            "calls_per_hour": 20 * load,
            "min_service_level": 0.8,
            "service_level_definition": definition,
        }
        search = search_for(Scenario(**(ORDINARY | fields)))
        least = search.least_keeping()
        promise = search.promises["min_service_level"]
        assert least == agents[definition]
        assert promise.kept(search.at(least))
        assert not promise.kept(search.at(least - 1))


@pytest.mark.parametrize("load", [0.05, 0.5, 5, 60])
def test_a_promise_of_occupancy_alone_asks_for_the_fewest_who_keep_it(load):
    search = search_for(Scenario(**(ORDINARY | {"calls_per_hour": 20 * load, "max_occupancy": 0.85})))
    best = search.best()
    assert best > 0
    assert search.at(best)["occupancy"] <= 0.85 < search.at(best - 1)["occupancy"]
    occupancies = [search.at(n)["occupancy"] for n in range(2 * best)]
    assert occupancies == sorted(occupancies, reverse=True)


def test_agents_who_cost_next_to_nothing_are_no_error():
    prices = {"agent_cost_per_hour": 1e-300, "abandonment_cost": 1e9}
    assert 60 < search_for(Scenario(**(ORDINARY | prices))).best() < 1000


def test_what_is_promised_and_what_is_reached_are_told_apart():
    search = search_for(Scenario(**(ORDINARY | {"min_service_level": 0.9999999, "max_agents": 98})))
    with pytest.raises(Infeasible) as caught:
        search.best()
    first = str(caught.value).splitlines()[0]
    assert first.startswith("min_service_level = 0.9999999: ")
    reached = float(first.rpartition(" ")[2])
    assert 0.999999 < reached < 0.9999999
    assert reached == pytest.approx(search.at(98)["service_level_offered"], rel=1e-11)
