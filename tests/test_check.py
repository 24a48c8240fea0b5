"""The check's arithmetic on results made by hand, when it stops, and what it says where nothing can be simulated."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from staffing import Scenario, checking, looks, simulating
from staffing.check import CheckRow, Neighbour, overall
from staffing.checking import check_level
from staffing.levels import Levels
from staffing.models.simulation.shared_queue import CONTROLS
from staffing.simulating import simulation_of

MEASURES = ("wait_probability", "mean_wait", "abandonment_probability", "service_level_offered", "occupancy")
AGENTS = 10


def scenario(**changes):
    fields = {
        "calls_per_hour": 160,
        "mean_handle_seconds": 180,
        "mean_patience_seconds": 120,
        "rate_cv": 0,
        "agent_cost_per_hour": 30,
        "waiting_cost_per_hour": 20,
        "abandonment_cost": 2.5,
    }
    return Scenario(**{**fields, **changes})


def freedom(batches):
    """What the correction for luck leaves; batches too few for it are not corrected."""
    return batches - 1 - (CONTROLS if batches > 24 else 0)


class ByHand:
    """A simulation whose results are given: each measure's distance from the model and its standard error."""

    def __init__(self, level, distances, errors, log):
        self.level, self.agents, self.batches = level, level.agents, 0
        self.distances, self.errors, self.log = distances, errors, log
        self.settled = True

    @property
    def rosters(self):
        return 64 * self.batches

    @property
    def calls(self):
        return 1000 * self.rosters

    @property
    def degrees_of_freedom(self):
        return freedom(self.batches)

    def run(self, batches, workers=1, report=None):
        assert batches >= 0
        self.batches += batches

    def controls(self):
        return np.zeros((self.batches, CONTROLS))

    def performance(self):
        self.log.append((self.agents, self.batches))
        return SimpleNamespace(
            value=lambda m: self.level.performance.value(m) + self.distances.get(m, 0.0),
            standard_errors={m: error / math.sqrt(self.batches) for m, error in self.errors.items()},
        )

    def batch_values(self):
        values = self.level.performance.values()
        return [values | {"mean_queue": values["mean_queue"] + (-1) ** b} for b in range(self.batches)]


@pytest.fixture
def checked(monkeypatch):
    """Check a scenario by results made by hand, which are the same at every level unless given by level."""

    def run(distances, errors, fields=None, most_batches=32, seconds=1e9):
        levels, log = Levels(scenario(**(fields or {}))), []

        def simulation(model, agents, *, around, seed):
            assert model is levels.model
            assert (around, seed) == (AGENTS, 7)
            own = errors.get(agents, errors)
            return ByHand(levels.level(agents), distances, dict.fromkeys(MEASURES, 0.0) | own, log)

        monkeypatch.setattr(checking, "simulation_of", simulation)
        return check_level(levels, AGENTS, seed=7, seconds=seconds, most_batches=most_batches), levels, log

    return run


def student(comparisons, degrees):
    """Standard errors for two sides and four looks at this many comparisons."""
    return stats.t(degrees).isf(1e-4 / 2 / comparisons / 4)


def margin_of(levels, agents, measure):
    performance = levels.level(agents).performance
    error = performance.method_error[measure]
    floor = 0.25 if measure == "mean_wait" else 0.002
    return max(floor, performance.value(measure) / 100) + (0.0 if error == "exact" else error)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("rate_cv", [0, 0.3])
def test_verdicts_turn_where_they_should(checked, measure, side, share, rate_cv):
    """`share` of the margin is the half width; the distance is a hair on either side of a boundary."""
    fields = {"rate_cv": rate_cv}
    levels = Levels(scenario(**fields))
    margin = min(margin_of(levels, n, measure) for n in (9, 10, 11))
    tightest = min((9, 10, 11), key=lambda n: margin_of(levels, n, measure))
    error = share * margin / student(17, 26)
    for distance, verdict in [
        (margin * (1 - share) * (1 - 1e-6), "agrees"),
        (margin * (1 - share) * (1 + 1e-6), "inconclusive" if share else "disagrees"),
        (margin * (1 + share) * (1 - 1e-6), "inconclusive" if share else "agrees"),
        (margin * (1 + share) * (1 + 1e-6), "disagrees"),
    ]:
        check, _, _ = checked({measure: side * distance}, {measure: error * math.sqrt(32)}, fields)
        [row] = [r for r in check.rows if (r.agents, r.measure) == (tightest, measure)]
        assert row.verdict == verdict
        assert row.margin == pytest.approx(margin, rel=1e-12)
        assert row.half_width == pytest.approx(share * margin, rel=1e-9)
        assert row.simulated - row.model == pytest.approx(side * distance)
        assert all(r.verdict == "agrees" for r in check.rows if r.measure != measure)
        assert check.verdict == verdict


def test_margins(checked):
    few, levels, _ = checked({}, {}, {"calls_per_hour": 400})
    for row in few.rows:
        assert row.margin == pytest.approx(margin_of(levels, row.agents, row.measure))
        assert row.model == levels.level(row.agents).performance.value(row.measure)
    values = {row.measure: row for row in few.rows if row.agents == AGENTS}
    assert values["mean_wait"].model > 40
    assert values["mean_wait"].margin == 0.01 * values["mean_wait"].model
    assert values["service_level_offered"].model < 0.2
    assert values["service_level_offered"].margin == 0.002
    assert values["abandonment_probability"].margin == 0.01 * values["abandonment_probability"].model


def test_what_the_method_may_err_by_widens_the_margin(checked):
    check, levels, _ = checked({}, {}, {"rate_cv": 0.5})
    for row in check.rows:
        error = levels.level(row.agents).performance.method_error[row.measure]
        assert error > 0
        floor = 0.25 if row.measure == "mean_wait" else 0.002
        assert row.margin == pytest.approx(error + max(floor, row.model / 100))


@pytest.mark.parametrize("batches", [32, 64, 256])
def test_half_widths_share_the_false_alarm_rate(checked, batches):
    check, _, _ = checked({}, dict.fromkeys(MEASURES, 50.0), most_batches=batches)
    assert len(check.rows) == 15
    assert check.false_alarm_rate == 1e-4
    for row in check.rows:
        assert row.half_width == pytest.approx(row.standard_error * student(17, freedom(batches)), rel=1e-9)
        assert 17 * 4 * 2 * stats.t(batches - 6).sf(row.half_width / row.standard_error) == pytest.approx(
            1e-4
        )


def test_rows_and_counts(checked):
    check, _, _ = checked({}, {}, most_batches=64)
    assert [(r.agents, r.measure) for r in check.rows] == [(n, m) for n in (9, 10, 11) for m in MEASURES]
    assert (check.verdict, check.reason, check.seed) == ("agrees", "", 7)
    assert check.replications == 32 * 64
    assert check.calls == 3 * 32 * 64 * 1000
    assert check.seconds >= 0


def test_one_disagreeing_row_is_enough_and_the_reason_names_one(checked):
    check, _, _ = checked(
        {"mean_wait": 3.0, "occupancy": 0.05}, {"abandonment_probability": 50.0, "mean_wait": 1.0}
    )
    verdicts = {row.measure: row.verdict for row in check.rows}
    assert verdicts == {
        "wait_probability": "agrees",
        "mean_wait": "disagrees",
        "abandonment_probability": "inconclusive",
        "service_level_offered": "agrees",
        "occupancy": "disagrees",
    }
    assert check.verdict == "disagrees"
    assert check.reason.startswith(("mean_wait at ", "occupancy at "))
    assert "apart" in check.reason


def test_reasons(checked):
    apart, _, _ = checked({"mean_wait": 3.0}, {"mean_wait": 0.1})
    assert apart.reason.startswith("mean_wait at ")
    assert "apart" in apart.reason
    vague, _, _ = checked({}, {"occupancy": 5.0})
    assert vague.verdict == "inconclusive"
    assert vague.reason.startswith("occupancy at ")
    assert "check_seconds" in vague.reason


def test_an_undecided_level_gets_more_batches_and_a_decided_one_no_more(checked):
    # At 11 agents everything is certain, at 10 it takes some more batches, at 9 more than there may be.
    errors = {11: {}, 10: {"occupancy": 0.0085 / student(17, 26) * math.sqrt(32)}, 9: {"occupancy": 5.0}}
    check, _, log = checked({}, errors, most_batches=256)
    assert log[:4] == [(9, 32), (10, 32), (11, 32), (9, 256)]
    ((agents, batches),) = log[4:]
    # It aims at an interval of four fifths of the margin, with a tenth more for luck.
    margin = margin_of(Levels(scenario()), 10, "occupancy")
    assert agents == 10
    assert batches == pytest.approx(32 * 1.1 * (0.0085 / (0.8 * margin)) ** 2, abs=1)
    assert {row.agents: row.verdict for row in check.rows if row.measure == "occupancy"} == {
        9: "inconclusive",
        10: "agrees",
        11: "agrees",
    }
    assert check.replications == 256 * 64
    assert check.calls == (256 + batches + 32) * 64 * 1000


def test_it_never_looks_more_often_than_the_false_alarm_rate_is_shared_by(checked, monkeypatch):
    """A standard error that will not shrink keeps every look from deciding."""
    margin = margin_of(Levels(scenario()), 11, "occupancy")

    def performance(self):
        self.log.append((self.agents, self.batches))
        errors = dict.fromkeys(MEASURES, 0.0) | {"occupancy": margin / 4}
        return SimpleNamespace(value=self.level.performance.value, standard_errors=errors)

    monkeypatch.setattr(ByHand, "performance", performance)
    check, _, log = checked({}, {}, most_batches=None)
    looks = [batches for agents, batches in log if agents == AGENTS]
    assert len(looks) == 4
    assert looks == sorted(set(looks))
    assert check.verdict == "inconclusive"


@pytest.mark.parametrize("error", [0.0, 1e3])
def test_without_time_it_looks_once_and_decides_nothing(checked, error):
    """Two batches may agree to the last digit by chance: a standard error of zero is then no certainty."""
    check, _, log = checked(
        {"occupancy": 0.5}, dict.fromkeys(MEASURES, error), most_batches=None, seconds=1e-9
    )
    assert log == [(9, 2), (10, 2), (11, 2)]
    assert all(row.half_width == math.inf for row in check.rows)
    assert check.verdict == "inconclusive"
    assert "too roughly" in check.reason
    assert not any(neighbour.resolved for neighbour in check.neighbours)


def test_two_batches_alike_by_chance_condemn_nothing():
    """In each of these seeds some standard error of two batches is zero."""
    levels = Levels(scenario(calls_per_hour=1200, rate_cv=0.2))
    for seed in (18, 21, 268, 276):
        assert check_level(levels, 55, seed=seed, seconds=1e-9).verdict == "inconclusive"


@pytest.mark.parametrize("most", [1, 32, 33, 40, 100])
def test_the_most_batches(checked, most):
    _, _, log = checked({}, dict.fromkeys(MEASURES, 1e3), most_batches=most)
    assert max(batches for _, batches in log) <= max(most, 32)


def test_neighbours_by_hand(checked):
    check, levels, _ = checked({}, {})
    costs = {n: levels.level(n).cost_per_hour for n in (9, 10, 11)}
    assert [n.agents for n in check.neighbours] == [9, 11]
    for neighbour in check.neighbours:
        expected = costs[neighbour.agents] - costs[10]
        assert neighbour.model_difference == pytest.approx(expected)
        # The swings of the queue are the same at every level, so their difference is certain.
        assert neighbour.simulated_difference == pytest.approx(expected)
        assert neighbour.half_width == pytest.approx(0, abs=1e-9)
        assert neighbour.resolved


def test_neighbours_costs_and_their_intervals():
    """A small check by real simulations: pairs of batches, Student's t for every comparison at every look."""
    levels = Levels(scenario())
    check = check_level(levels, AGENTS, seed=3, seconds=1e9, most_batches=32)
    runs = {n: simulation_of(levels.model, n, around=AGENTS, seed=3) for n in (9, 10, 11)}
    costs = {}
    for n, run in runs.items():
        run.run(32)
        costs[n] = np.array(
            [
                30 * n + 20 * values["mean_queue"] + 2.5 * 160 * values["abandonment_probability"]
                for values in run.batch_values()
            ]
        )
    for neighbour in check.neighbours:
        difference = costs[neighbour.agents] - costs[10]
        assert neighbour.simulated_difference == pytest.approx(difference.mean())
        error = difference.std(ddof=1) / math.sqrt(32)
        assert neighbour.standard_error == pytest.approx(error)
        assert neighbour.half_width == pytest.approx(error * student(17, 31))
        assert neighbour.resolved == (abs(difference.mean()) > neighbour.half_width)
        assert abs(neighbour.model_difference - neighbour.simulated_difference) < neighbour.half_width
        apart = math.hypot(costs[neighbour.agents].std(ddof=1), costs[10].std(ddof=1)) / math.sqrt(32)
        assert error < 0.6 * apart  # what the same callers at both levels are good for


def test_a_wrong_cost_reaches_the_verdict_though_every_measure_agrees(checked, monkeypatch):
    """The formulas' cost of nine agents is put 30 too low: their measures are right, the price of one agent is not."""
    right = Levels.level

    def misstated(levels, agents):
        level = right(levels, agents)
        wrong = level.cost_per_hour - 30 * (agents == 9)
        return dataclasses.replace(level, cost_per_hour=wrong)

    monkeypatch.setattr(Levels, "level", misstated)
    check, _, _ = checked({}, {})
    assert all(row.verdict == "agrees" for row in check.rows)
    assert [n.verdict for n in check.neighbours] == ["disagrees", "agrees"]
    assert check.verdict == "disagrees"
    assert check.reason.startswith("cost per hour of 9 agents less that of the plan: model ")
    assert "apart" in check.reason


def test_measures_are_blamed_before_costs():
    row = CheckRow(
        agents=9,
        measure="mean_wait",
        model=1.0,
        simulated=9.0,
        standard_error=0.1,
        half_width=1.0,
        margin=0.25,
        verdict="disagrees",
    )
    neighbour = Neighbour(
        agents=9,
        model_difference=1.0,
        simulated_difference=9.0,
        standard_error=0.1,
        half_width=1.0,
        margin=0.25,
        verdict="disagrees",
        resolved=True,
        too_close=False,
    )
    vague = dataclasses.replace(row, verdict="inconclusive")
    assert "mean_wait" in overall([row], [neighbour])[1]
    assert overall([vague], [neighbour])[0] == "disagrees"
    assert overall([vague], [dataclasses.replace(neighbour, verdict="agrees")])[0] == "inconclusive"
    # What is not known of a cost spoils nothing: two levels may be as good as each other.
    assert overall([], [dataclasses.replace(neighbour, verdict="inconclusive")]) == ("agrees", "")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"rate_cv": 0}, "agents alike"),
        ({"rate_cv": 0.2}, "rates drawn afresh (gamma)"),
        ({"mean_patience_seconds": 0}, "exponential service"),
    ],
)
def test_a_check_says_what_it_takes_for_granted(checked, fields, said):
    check, _, _ = checked({}, {}, fields)
    assert said in check.assumes
    assert {"Poisson calls", "longest idle agent first", "steady state"} < set(check.assumes)


def test_the_same_seed_and_batches_give_the_same_check(monkeypatch):
    monkeypatch.setattr(simulating, "_CALLS_PER_BATCH", 5000)
    levels = Levels(scenario(rate_cv=0.3))

    def of(seed, cores):
        monkeypatch.setattr(looks, "cores", lambda: cores)
        check = check_level(levels, AGENTS, seed=seed, seconds=1e9, most_batches=32)
        return check.verdict, check.reason, check.rows, check.neighbours, check.replications, check.calls

    assert of(1, 1) == of(1, 2) == of(1, 3)
    assert of(1, 1)[2] != of(2, 1)[2]


def test_callers_who_never_give_up_and_agents_who_differ_cannot_be_checked():
    levels = Levels(scenario(mean_patience_seconds=math.inf, waiting_cost_per_hour=0, rate_cv=0.2))
    check = check_level(levels, 12, seed=4, seconds=1.0)
    assert check.verdict == "inconclusive"
    assert check.reason.startswith(
        "mean_patience_seconds = inf: callers never give up, and rate_cv = 0.2 leaves"
    )
    assert (check.rows, check.neighbours, check.replications, check.calls) == ((), (), 0, 0)
    assert check.seed == 4


def test_given_agents_are_said_to_be_given_and_have_no_neighbour_beyond_the_last():
    given = scenario(
        mean_handle_seconds=None,
        rate_cv=None,
        observed_rates_per_hour=[14, 18, 20, 22, 26, 19, 21, 20],
        rate_law="observed",
        roster="fixed",
    )
    check = check_level(Levels(given), 8, seed=0, seconds=1e9, most_batches=32)
    assert "the agents given" in check.assumes
    assert [n.agents for n in check.neighbours] == [7]
    assert check.verdict != "disagrees"


def test_a_level_below_the_load_of_callers_who_never_give_up_cannot_be_checked():
    levels = Levels(scenario(mean_patience_seconds=math.inf, waiting_cost_per_hour=0))
    check = check_level(levels, 7, seed=4, seconds=1.0)
    assert (check.verdict, check.rows) == ("inconclusive", ())
    assert "7 agents are below the load of 8 erlangs" in check.reason


def test_callers_who_never_give_up_and_agents_alike():
    levels = Levels(scenario(mean_patience_seconds=math.inf))
    check = check_level(levels, 11, seed=0, seconds=1e9, most_batches=32)
    assert {row.agents for row in check.rows} == {10, 11, 12}
    assert check.verdict != "disagrees"


def test_a_neighbour_that_never_settles_is_left_out():
    levels = Levels(scenario(mean_patience_seconds=math.inf, calls_per_hour=175))  # 8.75 erlangs
    check = check_level(levels, 9, seed=0, seconds=1e9, most_batches=32)
    assert {row.agents for row in check.rows} == {9, 10}
    assert [n.agents for n in check.neighbours] == [10]
    assert check.verdict != "disagrees"


@pytest.mark.parametrize("rate_cv", [0, 0.3])
@pytest.mark.parametrize("agents", [0, 1])
def test_nobody_at_work(agents, rate_cv):
    levels = Levels(scenario(calls_per_hour=20, rate_cv=rate_cv))
    check = check_level(levels, agents, seed=0, seconds=1e9, most_batches=32)
    assert {row.agents for row in check.rows} == {n for n in (agents - 1, agents, agents + 1) if n >= 0}
    nobody = {row.measure: row for row in check.rows if row.agents == 0}
    assert nobody["occupancy"].simulated == 1  # by convention: a call finds none of them free
    for measure in ("wait_probability", "abandonment_probability"):
        assert (nobody[measure].simulated, nobody[measure].standard_error) == (1, 0)
    assert nobody["mean_wait"].simulated == pytest.approx(120, rel=0.005)
    assert nobody["service_level_offered"].simulated == 0
    assert check.verdict != "disagrees"
    assert all(math.isfinite(n.half_width) for n in check.neighbours)


def test_rosters_that_settle_too_slowly_to_simulate_condemn_nothing(checked, monkeypatch):
    far = {"wait_probability": 0.5}
    assert checked(far, {})[0].verdict == "disagrees"
    run = ByHand.run

    def slow(self, *arguments):
        run(self, *arguments)
        self.settled = False

    monkeypatch.setattr(ByHand, "run", slow)
    check, _, _ = checked(far, {})
    assert check.verdict == "inconclusive"
    assert "settles too slowly" in check.reason
