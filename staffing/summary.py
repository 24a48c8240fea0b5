"""A plan, a curve or a simulation as text: one screen for a planner."""

import math
import textwrap
from collections.abc import Iterable, Sequence

from staffing.binding import Binding
from staffing.check import Check
from staffing.classic import ClassicAnswer
from staffing.levels import Curve, Level
from staffing.plan import StaffingPlan
from staffing.scenario import Scenario

_WIDTH = 100
_INDENT = 16
_SHOWN_EACH_SIDE = 3
_REGIMES = {"QD": "quality-driven (QD)", "QED": "balanced (QED)", "ED": "efficiency-driven (ED)"}


def plan_text(plan: StaffingPlan) -> str:
    """One screen: the answer, what callers get, the risk over rosters, why, and what the simulation says."""
    scenario, level = plan.scenario, plan.level
    lines = [_headline(plan), ""]
    lines += _paragraph("scenario", _scenario(scenario))
    lines += [""]
    lines += _measures(level)
    lines += [""]
    lines += _cost(level)
    for name, kept in level.promises.items():
        lines += _paragraph(*_promise(name, kept, level, scenario))
    lines += _paragraph("decided by", _binding(plan.binding, level.agents))
    chances = ", ".join(f"{name} {percent(p)}" for name, p in plan.regime_probabilities.items())
    lines += _paragraph("regime", f"{_REGIMES[plan.regime]}; over rosters {chances}")
    for answer in (plan.classic.erlang_c, plan.classic.erlang_a):
        lines += _paragraph(answer.model, _classic(answer, plan))
    lines += _paragraph("check", _check(plan.check))
    around = [level for level in plan.curve if abs(level.agents - plan.agents) <= _SHOWN_EACH_SIDE]
    lines += ["", *curve_text(around, plan.agents).splitlines()]
    if plan.assumed:
        values = (f"{name} = {_plain(getattr(scenario, name))}" for name in plan.assumed)
        lines += ["", *_paragraph("assumed", f"{', '.join(values)} (not given)")]
    for warning in plan.warnings:
        lines += _paragraph("warning", warning)
    return "\n".join(lines)


def _headline(plan: StaffingPlan) -> str:
    n, gross = plan.agents, plan.agents_gross
    if n == 0:
        answer = "staff nobody: " + (
            "no calls are expected"
            if plan.scenario.calls_per_hour == 0
            else "an agent costs more than it saves in waiting and lost calls"
        )
    else:
        answer = f"{n} agent{'s' if n > 1 else ''}"
        if gross != n:
            answer += f" present, {gross} scheduled ({percent(plan.scenario.shrinkage)} shrinkage)"
    return f"{plan.scenario.name or 'Staffing plan'}: {answer}"


def _scenario(scenario: Scenario) -> str:
    patience = scenario.mean_patience_seconds
    callers = "callers never give up" if math.isinf(patience) else f"patience {patience:g} s"
    alike = "agents alike" if scenario.rate_cv == 0 else f"agents' rates differ by CV {scenario.rate_cv:g}"
    return (
        f"{scenario.calls_per_hour:g} calls/h x {scenario.mean_handle_seconds:g} s = "
        f"{scenario.offered_load:.4g} erlangs; {callers}; {alike}"
    )


def _measures(level: Level) -> list[str]:
    p = level.performance
    seconds = f"{p.service_level.threshold:g} s"
    rows = [
        (f"service level, offered ({seconds})", "service_level_offered", percent),
        (f"service level, answered ({seconds})", "service_level_answered", percent),
        (f"service level, virtual ({seconds})", "service_level_virtual", percent),
        ("abandoned", "abandonment_probability", percent),
        ("had to wait", "wait_probability", percent),
        ("mean wait, all calls", "mean_wait", duration),
        ("mean wait, answered calls (ASA)", "mean_wait_answered", duration),
        ("occupancy", "occupancy", percent),
    ]
    spread = level.rosters.quantiles
    title = "mean over rosters   5% .. 95% of rosters" if spread else "every roster"
    lines = [f"{'':36}{title}"]
    for label, measure, show in rows:
        line = f"{label:36}{show(p.value(measure)):>17}"
        if spread:
            line += f"   {show(spread[measure].low):>8} .. {show(spread[measure].high)}"
        lines.append(line)
    return lines


def _cost(level: Level) -> list[str]:
    parts = " + ".join(f"{name} {money(cost)}" for name, cost in level.cost_parts.items())
    lines = _paragraph("cost per hour", f"{money(level.cost_per_hour)} = {parts}")
    if level.rosters.quantiles:
        spread = level.rosters.cost_per_hour
        lines += _paragraph("", f"{money(spread.low)} .. {money(spread.high)} over rosters (5% .. 95%)")
    return lines


def _promise(name: str, kept: bool, level: Level, scenario: Scenario) -> tuple[str, str]:
    p = level.performance
    words = {
        "min_service_level": (
            f"{percent(scenario.min_service_level or 0)} within {scenario.service_level_seconds:g} s "
            f"({scenario.service_level_definition})",
            percent(p.value(f"service_level_{scenario.service_level_definition}")),
        ),
        "max_abandonment": (
            f"at most {percent(scenario.max_abandonment or 0)} abandon",
            percent(p.abandonment_probability),
        ),
        "max_mean_wait_seconds": (
            f"mean wait at most {duration(scenario.max_mean_wait_seconds or 0)}",
            duration(p.mean_wait),
        ),
        "max_occupancy": (f"occupancy at most {percent(scenario.max_occupancy or 0)}", percent(p.occupancy)),
    }
    asked, got = words[name]
    verdict = "kept on average" if kept else "broken on average"
    risk = (
        f"; {percent(level.rosters.share_missing[name])} of rosters miss it"
        if level.rosters.quantiles
        else ""
    )
    return "promise", f"{asked}: {verdict} ({got}){risk}"


def _binding(binding: Binding, agents: int) -> str:
    if not binding.requirement:
        return "the trade-off of costs; no promise binds" if agents else "the trade-off of costs"
    return (
        f"{binding.requirement}; without it {binding.agents_without} agents would do, "
        f"{money(binding.price_per_hour)} per hour cheaper"
    )


def _classic(answer: ClassicAnswer, plan: StaffingPlan) -> str:
    if answer.agents is None:
        return f"no answer: {answer.reason}"
    assumes = "nobody gives up, agents alike" if answer.model == "Erlang C" else "agents alike"
    difference = answer.agents - plan.agents
    same = (
        "the same number" if difference == 0 else f"{abs(difference)} {'more' if difference > 0 else 'fewer'}"
    )
    text = f"{answer.agents} agents, {same} ({assumes})"
    if plan.scenario.rate_cv > 0:
        for name, share in answer.share_missing.items():
            text += f"; {percent(share)} of rosters would miss {name}, unseen by it"
    extra = answer.cost_per_hour - plan.cost_per_hour
    if difference and math.isfinite(extra) and abs(extra) >= 0.005:
        text += f"; {money(abs(extra))} per hour {'dearer' if extra > 0 else 'cheaper'} in truth"
    return text


def _check(check: Check | None) -> str:
    if check is None:
        return "not run"
    text: str = check.verdict
    if check.reason:
        text += f": {check.reason}"
    if check.rows:
        text += (
            f"; simulated {check.calls:,} calls at {len({row.agents for row in check.rows})} levels, up to "
            f"{check.replications:,} rosters each, in {check.seconds:.1f} s"
        )
    unresolved = [n for n in check.neighbours if not n.resolved]
    if unresolved:
        sizes = " and ".join(f"{n.agents} agents (within {money(n.half_width)})" for n in unresolved)
        text += f"; the cost of {sizes} is too close to tell apart"
    return text + (". It tests the mathematics, not the data." if check.rows else "")


def curve_text(curve: Curve | Sequence[Level], recommended: int | None = None) -> str:
    """A line per level."""
    levels = list(curve)
    if not levels:
        return "no levels"
    seconds = f"{levels[0].performance.service_level.threshold:g}s"
    header = (
        f"{'agents':>8}{'cost/h':>12}{'SL offered ' + seconds:>20}{'abandoned':>11}"
        f"{'wait all':>10}{'ASA':>10}{'occupancy':>11}"
    )
    missing = any(level.promises for level in levels)
    lines = [header + (f"{'rosters missing':>17}" if missing else "")]
    for level in levels:
        p = level.performance
        line = (
            f"{level.agents:>8}{money(level.cost_per_hour):>12}{percent(p.service_level.offered):>20}"
            f"{percent(p.abandonment_probability):>11}{duration(p.mean_wait):>10}"
            f"{duration(p.mean_wait_answered):>10}{percent(p.occupancy):>11}"
        )
        if missing:
            line += f"{percent(level.rosters.share_missing_any):>17}"
        lines.append(line + ("  <" if level.agents == recommended else ""))
    return "\n".join(lines)


def percent(share: float) -> str:
    """A fraction as a percentage."""
    return f"{100 * share:.1f}%" if share == 0 or share >= 0.0005 else "<0.05%"


def duration(seconds: float) -> str:
    """Seconds, or "endless"."""
    return "endless" if math.isinf(seconds) else f"{seconds:.1f} s"


def money(amount: float) -> str:
    """An amount without currency."""
    return "endless" if math.isinf(amount) else f"{amount:,.2f}"


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _paragraph(label: str, text: str) -> list[str]:
    """Text behind a label, wrapped."""
    body: Iterable[str] = textwrap.wrap(text, _WIDTH - _INDENT, break_long_words=False) or [""]
    return [f"{label if i == 0 else '':{_INDENT}}{line}" for i, line in enumerate(body)]
