"""What holds for every scenario's answer, or refusal, whatever was asked."""

import csv
import io
import json
import math
import re
from itertools import pairwise

import pandas as pd

from staffing.models.performance import MEASURES
from staffing.optimize.level import MOST

SHARES = tuple(m for m in MEASURES if not m.startswith("mean_") and m != "throughput")
DEFINITIONS = ("offered", "answered", "virtual")
WIDEST = 120
SHARE_ERROR = 0.003
"""What a share of rosters may be off by, as `staffing.level` states it."""
ROUNDING = 1e-9
"""Of a share, or of a figure's size; answers are right to about 1e-12."""


def close(one, other, tolerance=ROUNDING):
    return one == other or math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance * 1e-3)


def at_most(small, large, tolerance=ROUNDING):
    return small <= large + tolerance * max(1.0, abs(large) if math.isfinite(large) else 1.0)


def assert_readable(error):
    """A refusal is a few lines for people."""
    text = str(error)
    assert 10 < len(text) < 1500, text
    assert all(0 < len(line) <= 400 for line in text.splitlines()), text
    assert_no_leftovers(text)


def assert_no_leftovers(text):
    """Nothing in a text that only a programmer would understand."""
    # What planners write themselves may come back to them.
    text = text.replace("(None takes it back)", "").replace("mean_patience_seconds = inf", "")
    assert not re.search(r"\b(nan|NaN|None|inf|Traceback|object at 0x|np\.|float64)\b", text), text


def assert_sound_plan(plan):
    """All that a plan says, and how it is shown and written."""
    scenario, curve, n = plan.scenario, plan.curve, plan.agents
    for level in curve:
        assert_sound_level(level, scenario)
    assert curve.at(n) is plan.level
    most = MOST if scenario.most_agents is None else scenario.most_agents
    assert scenario.min_agents <= n <= most
    assert plan.level.keeps_promises
    for level in curve:
        allowed = scenario.min_agents <= level.agents <= most
        if allowed and level.keeps_promises:
            assert plan.cost_per_hour <= level.cost_per_hour * (1 + ROUNDING), f"{level.agents} is cheaper"
    assert math.isfinite(plan.cost_per_hour)
    assert_sound_binding(plan)
    chances = plan.regime_probabilities
    assert list(chances) == ["QD", "QED", "ED"]
    assert plan.regime in chances
    assert all(0 <= chance <= 1 for chance in chances.values())
    assert close(sum(chances.values()), 1)
    for answer in (plan.classic.erlang_c, plan.classic.erlang_a):
        assert (answer.agents is None) == bool(answer.reason)
        assert answer.agents is None or 0 <= answer.agents <= MOST
        assert answer.cost_per_hour >= 0
        assert all(0 <= share <= 1 for share in answer.share_missing.values())
    assert_shown(plan)


def assert_sound_binding(plan):
    """What is said to bind would be broken by one agent fewer, or stands in the way of one more."""
    binding, scenario, n = plan.binding, plan.scenario, plan.agents
    assert 0 <= binding.price_per_hour < math.inf
    if not binding.requirements:
        assert (binding.agents_without, binding.price_per_hour) == (n, 0)
    elif binding.requirements == ("max_calls",):
        assert n == scenario.max_calls
    elif binding.requirements == ("max_agents",):
        assert n == scenario.max_agents < binding.agents_without
    else:
        assert binding.agents_without < n
        for name in binding.requirements:
            if name == "min_agents":
                assert n == scenario.min_agents
            else:
                assert not plan.curve.at(n - 1).promises[name], f"{name} does not bind"


def assert_sound_level(level, scenario):
    """Figures of one level: their ranges, and the balances between them."""
    p, n, rosters = level.performance, level.agents, level.rosters
    values = p.values()
    lam, theta = scenario.arrival_rate, scenario.abandonment_rate
    assert set(values) == set(MEASURES)
    for measure, value in values.items():
        assert value >= 0, f"{measure} = {value}"  # so it is a number
        assert value < math.inf or measure.startswith("mean_"), f"{measure} = {value}"
        stated = p.method_error[measure]
        assert stated == "exact" or 0 <= stated < math.inf, f"error of {measure}: {stated}"
    for measure in SHARES:
        assert values[measure] <= 1, measure
    # Callers: Little's law, the balance of those who give up, and of all.
    assert close(values["mean_queue"], lam * values["mean_wait"])
    if 0 < theta < math.inf and lam > 0:
        assert math.isfinite(values["mean_wait"])
        if scenario.patience_law == "exponential":
            assert close(values["abandonment_probability"], theta * values["mean_wait"])
    blocked = values["blocking_probability"]
    assert blocked == 0 or scenario.max_calls is not None
    answered = 1 - values["abandonment_probability"] - blocked
    assert at_most(values["throughput"], lam * answered)
    if theta > 0 or level.rosters.share_unstable == 0:
        assert close(values["throughput"] / lam, answered) if lam > 0 else values["throughput"] == 0
    if theta == 0:
        assert values["abandonment_probability"] == 0
    level_of = p.service_level
    assert level_of.threshold == scenario.service_level_seconds
    assert at_most(level_of.offered, level_of.answered)
    assert at_most(level_of.offered, level_of.virtual)
    assert at_most(1 - level_of.virtual, values["wait_probability"] + blocked)
    assert at_most(values["abandonment_probability"], values["wait_probability"])
    # Money.
    parts = level.cost_parts
    assert all(part >= 0 for part in parts.values())
    assert level.cost_per_hour == sum(parts.values())
    assert close(parts["agents"], scenario.agent_cost_per_hour * n)
    if_all_are_lost = scenario.abandonment_cost * scenario.calls_per_hour
    assert close(parts["abandonment"], if_all_are_lost * values["abandonment_probability"])
    assert close(parts["blocking"], if_all_are_lost * blocked)
    if scenario.waiting_cost_per_hour:
        assert close(parts["waiting"], scenario.waiting_cost_per_hour * values["mean_queue"])
    else:
        assert parts["waiting"] == 0
    gross = level.agents_gross
    assert n <= gross
    assert (gross - 1) * (1 - scenario.shrinkage) < n * (1 + ROUNDING) or gross == 0
    # Rosters.
    for spread in (rosters.cost_per_hour, *rosters.quantiles.values()):
        assert 0 <= spread.low <= spread.median <= spread.high
    missing = rosters.share_missing
    assert set(missing) == set(level.promises)
    assert all(0 <= share <= 1 for share in (*missing.values(), rosters.share_missing_any))
    assert max(missing.values(), default=0) <= rosters.share_missing_any <= sum(missing.values()) + ROUNDING
    assert 0 <= rosters.share_unstable <= 1
    if theta > 0 or scenario.max_calls is not None:
        assert rosters.share_unstable == 0


def assert_waits(performance):
    """The distribution of the wait: from 0 to 1, quantiles where they should be."""
    below, last = 0.0, 0.0
    for seconds in (0.0, 1e-3, performance.service_level.threshold, 1e6):
        share = performance.wait_cdf(seconds)
        assert 0 <= share <= 1
        if seconds >= last:
            assert at_most(below, share)
            below, last = share, seconds
    if performance.mean_wait > 0:  # without patience nobody waits, and P(wait) is the chance of no free agent
        assert abs(1 - performance.wait_cdf(0.0) - performance.wait_probability) < ROUNDING
    quantiles = [performance.wait_quantile(share) for share in (0.0, 0.5, 0.9, 0.999)]
    assert all(at_most(low, high) for low, high in pairwise(quantiles))
    for share, seconds in zip((0.5, 0.9, 0.999), quantiles[1:], strict=True):
        assert seconds == math.inf or at_most(share, performance.wait_cdf(seconds * (1 + ROUNDING)))


def assert_shown(plan):
    """The screen, the dictionary, the table and the file."""
    assert_shown_text(str(plan))
    assert "NaN" not in json.dumps(plan.to_dict())
    frame = plan.to_frame()
    assert not frame.isna().any().any()
    assert list(frame["agents"]) == [level.agents for level in plan.curve]
    assert frame["recommended"].sum() == 1


def assert_shown_curve(curve):
    """The screen and the table of levels without a plan."""
    assert_shown_text(str(curve))
    frame = curve.to_frame()
    assert not frame.isna().any().any()
    assert list(frame["agents"]) == [level.agents for level in curve]


def assert_shown_text(text):
    """A text fits the screen and means something to planners."""
    wide = [line for line in text.splitlines() if len(line) > WIDEST]
    assert not wide, wide
    assert_no_leftovers(text)


def assert_another_agent_never_hurts(fewer, more):
    """A theorem where agents are alike, and true of averages over all rosters; not of given agents or few rosters."""
    method = fewer.performance.method
    if "roster" in method or "equal idle shares" in method or method != more.performance.method:
        return
    for measures in (
        ("wait_probability", "blocking_probability"),
        ("abandonment_probability", "blocking_probability"),
        ("mean_wait",),
        ("occupancy",),
    ):
        little, much = (
            sum(level.performance.value(measure) for measure in measures) for level in (more, fewer)
        )
        assert at_most(little, much), measures
    # A caller may leave a place to wait sooner than an agent, and then fewer are blocked with fewer agents.
    blocked = fewer.performance.blocking_probability + more.performance.blocking_probability > 0
    for definition in ("offered",) if blocked else DEFINITIONS:
        fewer_in_time, more_in_time = (
            getattr(level.performance.service_level, definition) for level in (fewer, more)
        )
        assert at_most(fewer_in_time, more_in_time), definition
    assert at_most(more.rosters.share_unstable, fewer.rosters.share_unstable)
    for promise, share in more.rosters.share_missing.items():
        assert share <= fewer.rosters.share_missing[promise] + SHARE_ERROR, promise


def assert_sound_check(plan):
    """Figures, not their truth; and the screen that tells them."""
    check = plan.check
    if check is None:
        assert plan.scenario.calls_per_hour == 0
        return
    assert check.verdict in ("agrees", "disagrees", "inconclusive")
    assert (check.verdict == "agrees") == (not check.reason)
    assert check.seconds >= 0
    for row in check.rows:
        # A simulated value is corrected for the luck in what is known, and may pass 0 by that.
        assert row.simulated >= -max(row.half_width, ROUNDING), row
        assert min(row.model, row.standard_error, row.half_width, row.margin) >= 0, row
        assert max(row.model, row.simulated, row.standard_error, row.margin) < math.inf, row
    for neighbour in check.neighbours:
        assert math.isfinite(neighbour.simulated_difference)
        assert math.isfinite(neighbour.model_difference)
        assert neighbour.half_width >= 0
    assert_shown(plan)


def assert_same_table(path, frame):
    """A CSV file holds the table, read by pandas or cell by cell."""
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    again = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values={})
    assert list(again.columns) == list(frame.columns)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    for column in frame.columns:
        for cell, seen, value in zip(
            (row[column] for row in rows), again[column], frame[column], strict=True
        ):
            if isinstance(value, str):
                assert cell == (f"'{value}" if value.startswith(("=", "+", "-", "@")) else value)
            elif isinstance(value, float):
                assert float(cell) == float(seen) == value
            else:
                assert cell == str(value) == str(seen)
