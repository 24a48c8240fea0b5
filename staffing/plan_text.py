"""A plan as text: one screen for a planner."""

import math
import textwrap

from staffing.check import Check, Neighbour
from staffing.classic import ClassicAnswer
from staffing.curve_text import curve_text, method_text
from staffing.level import Level
from staffing.plan import StaffingPlan
from staffing.scenario import Scenario
from staffing.wording import WIDTH, duration, heads, money, paragraph, percent

_SHOWN_EACH_SIDE = 3
_WORTH_SAYING = 0.2
_REGIMES = {"QD": "quality-driven (QD)", "QED": "balanced (QED)", "ED": "efficiency-driven (ED)"}


def plan_text(plan: StaffingPlan) -> str:
    """One screen: the answer, what callers get, the risk over rosters, why, and what the simulation says."""
    scenario, level = plan.scenario, plan.level
    lines = [*textwrap.wrap(_headline(plan), WIDTH), ""]
    lines += paragraph("scenario", _scenario(scenario))
    lines += [""]
    lines += _measures(level, scenario)
    lines += [""]
    lines += _cost(level, scenario)
    for name, kept in level.promises.items():
        lines += paragraph(*_promise(name, kept, level, scenario))
    if level.rosters.share_unstable > 0:
        lines += paragraph("never settling", _unstable(level, _over(scenario)))
    lines += paragraph("decided by", _binding(plan))
    lines += paragraph("regime", _regime(plan))
    for answer in (plan.classic.erlang_c, plan.classic.erlang_a):
        lines += paragraph(answer.model, _classic(answer, plan))
    lines += paragraph("method", method_text(level.performance))
    lines += paragraph("check", _check(plan.check, scenario))
    around = [level for level in plan.curve if abs(level.agents - plan.agents) <= _SHOWN_EACH_SIDE]
    lines += [
        "",
        *curve_text(
            around, definition=scenario.service_level_definition, recommended=plan.agents
        ).splitlines(),
    ]
    if plan.assumed:
        defaults = {name: getattr(scenario, name) for name in plan.assumed}
        values = (
            f"{name} = {v:g}" if isinstance(v, float) else f"{name} = {v}" for name, v in defaults.items()
        )
        lines += ["", *paragraph("assumed", f"{', '.join(values)} (not given)")]
    for warning in plan.warnings:
        lines += paragraph("warning", warning)
    return "\n".join(lines)


def _headline(plan: StaffingPlan) -> str:
    n, gross = plan.agents, plan.agents_gross
    if n == 0:
        answer = f"staff nobody: {_why_nobody(plan)}"
    else:
        answer = heads(n)
        if gross != n:
            answer += f" at work, {gross} to schedule with {percent(plan.scenario.shrinkage)} shrinkage"
    return f"{plan.scenario.name or 'Staffing plan'}: {answer}"


def _why_nobody(plan: StaffingPlan) -> str:
    if plan.scenario.calls_per_hour == 0:
        return "no calls are expected"
    if "max_agents" in plan.binding.requirements:
        return "max_agents = 0 allows nobody"
    return "an agent costs more than it saves in waiting and lost calls"


def _scenario(scenario: Scenario) -> str:
    patience = scenario.mean_patience_seconds
    callers = "callers never give up" if math.isinf(patience) else f"patience {patience:.6g} s"
    if scenario.patience_law != "exponential":
        callers += f" ({scenario.patience_law}"
        callers += f", SCV {scenario.patience_scv:g})" if scenario.patience_scv is not None else ")"
    lines = "" if scenario.max_calls is None else f"; at most {scenario.max_calls} calls at a time"
    bursts = "" if scenario.arrival_scv == 1 else f"; times between calls have SCV {scenario.arrival_scv:g}"
    return (
        f"{scenario.calls_per_hour:g} calls/h x {scenario.mean_handle_seconds:.6g} s = "
        f"{scenario.offered_load:.4g} erlangs; {callers}{lines}{bursts}; {_agents(scenario)}{_days(scenario)}"
    )


def _over(scenario: Scenario) -> str:
    """What means, quantiles and shares are over."""
    return "rosters and days" if scenario.uncertain else "rosters"


def _days(scenario: Scenario) -> str:
    parts = {
        "rate_day_cv": "all rates vary from day to day by CV {:g}",
        "arrival_cv": "calls vary from day to day by CV {:g}",
        "absence": "each agent is absent with chance {:g}",
    }
    return "".join(f"; {parts[name].format(getattr(scenario, name))}" for name in scenario.uncertain)


def _agents(scenario: Scenario) -> str:
    routing = "" if scenario.routing == "longest-idle" else f"; {scenario.routing}"
    if scenario.observed_rates_per_hour is not None:
        observed = len(scenario.observed_rates_per_hour)
        if scenario.roster == "fixed":
            return f"the agents are those given, {observed} at most{routing}"
        return (
            f"agents like the {observed} observed, whose rates differ by CV {scenario.rate_cv:.3g}{routing}"
        )
    if scenario.rate_cv == 0:
        return "agents alike"
    law = "" if scenario.rate_law == "gamma" else f" ({scenario.rate_law})"
    return f"agents' rates differ by CV {scenario.rate_cv:g}{law}{routing}"


def _measures(level: Level, scenario: Scenario) -> list[str]:
    p = level.performance
    seconds = f"{p.service_level.threshold:g} s"
    rows = [
        (f"service level, offered ({seconds})", "service_level_offered", percent),
        (f"service level, answered ({seconds})", "service_level_answered", percent),
        (f"service level, virtual ({seconds})", "service_level_virtual", percent),
        ("abandoned", "abandonment_probability", percent),
        *([("blocked", "blocking_probability", percent)] if scenario.max_calls is not None else []),
        ("had to wait", "wait_probability", percent),
        ("mean wait, all calls", "mean_wait", duration),
        ("mean wait, answered calls (ASA)", "mean_wait_answered", duration),
        ("occupancy", "occupancy", percent),
    ]
    spread = level.rosters.quantiles
    alone = "these agents" if scenario.roster == "fixed" else "every roster"
    over = _over(scenario)
    title = f"mean over {over}   5% .. 95% of {'them' if scenario.uncertain else over}" if spread else alone
    lines = [f"{'':36}{title}"]
    for label, measure, show in rows:
        line = f"{label:36}{show(p.value(measure)):>17}"
        if spread:
            line += f"   {show(spread[measure].low):>8} .. {show(spread[measure].high)}"
        lines.append(line)
    return lines


def _cost(level: Level, scenario: Scenario) -> list[str]:
    limited = scenario.max_calls is not None
    parts = " + ".join(
        f"{name} {money(cost)}" for name, cost in level.cost_parts.items() if limited or name != "blocking"
    )
    lines = paragraph("cost per hour", f"{money(level.cost_per_hour)} = {parts}")
    spread = level.rosters.cost_per_hour
    if spread.low < spread.high:
        risk = f"{money(spread.low)} .. {money(spread.high)} over {_over(scenario)} (5% .. 95%)"
        lines += paragraph("", risk)
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
        f"; {percent(level.rosters.share_missing[name])} of {_over(scenario)} miss it"
        if level.rosters.quantiles
        else ""
    )
    return "promise", f"{asked}: {verdict} ({got}){risk}"


def _binding(plan: StaffingPlan) -> str:
    binding = plan.binding
    if not binding.requirements:
        if plan.scenario.calls_per_hour == 0:
            return "there being no calls"
        return "the trade-off of costs" + ("; no promise binds" if plan.level.promises else "")
    if binding.requirements == ("max_calls",):
        return "max_calls; another agent would have no call to answer"
    if binding.requirements == ("max_agents",) and plan.scenario.agent_cost_per_hour == 0:
        return "max_agents; agents cost nothing, so more are always better"
    without = f"{heads(binding.agents_without)} would do"
    if binding.agents_without == 0:
        without = "nobody would be needed"
    elif binding.agents_without > plan.agents:
        without = f"{heads(binding.agents_without)} would be best"
    return (
        f"{' and '.join(binding.requirements)}; without {'it' if len(binding.requirements) == 1 else 'them'} "
        f"{without}, {money(binding.price_per_hour)} per hour cheaper"
    )


def _unstable(level: Level, over: str) -> str:
    return (
        f"{percent(level.rosters.share_unstable)} of {over} have no more capacity than there is load and their "
        f"queues grow without end, so the mean wait over {over} is endless"
    )


def _regime(plan: StaffingPlan) -> str:
    text = _REGIMES[plan.regime]
    if plan.level.rosters.quantiles:
        chances = ", ".join(f"{name} {percent(p)}" for name, p in plan.regime_probabilities.items())
        text += f"; over {_over(plan.scenario)} {chances}"
    # What a steady flow loses is worth a word where it is a good part of what is lost.
    lost = plan.fluid.over_rosters.abandonment_probability
    worth = lost >= _WORTH_SAYING * plan.performance.abandonment_probability > 0
    if worth and plan.scenario.max_calls is None:
        text += f"; {percent(lost)} abandon for want of capacity alone (fluid limit)"
    return text


def _classic(answer: ClassicAnswer, plan: StaffingPlan) -> str:
    if answer.agents is None:
        return f"no answer: {answer.reason}"
    assumes = "nobody gives up, agents alike" if answer.model == "Erlang C" else "agents alike"
    difference = answer.agents - plan.agents
    same = (
        "the same number" if difference == 0 else f"{abs(difference)} {'more' if difference > 0 else 'fewer'}"
    )
    text = f"{heads(answer.agents)}, {same} ({assumes})"
    for name, share in answer.share_missing.items():
        if plan.scenario.roster == "fixed":
            text += f"; it would miss {name} with these agents, unseen by it" if share else ""
        elif plan.scenario.rate_cv > 0 or plan.scenario.uncertain:
            text += f"; {percent(share)} of {_over(plan.scenario)} would miss {name}, unseen by it"
    extra = answer.cost_per_hour - plan.cost_per_hour
    if difference and math.isfinite(extra) and abs(extra) >= 0.005:
        text += f"; {money(abs(extra))} per hour {'dearer' if extra > 0 else 'cheaper'} in truth"
    return text


def _check(check: Check | None, scenario: Scenario) -> str:
    if check is None:
        return "nothing to simulate: calls_per_hour = 0" if scenario.calls_per_hour == 0 else "not run"
    text: str = check.verdict
    if check.reason:
        text += f": {check.reason}"
    if not check.rows:
        return text
    text += (
        f"; simulated {check.calls:,} calls at {len({row.agents for row in check.rows})} levels, up to "
        f"{check.replications:,} rosters each, in {check.seconds:.1f} s"
    )
    if check.neighbours:
        text += f"; {'; '.join(_neighbour(neighbour) for neighbour in check.neighbours)}"
    return f"{text}. It tests the mathematics, not the data; both assume {', '.join(check.assumes)}."


def _neighbour(neighbour: Neighbour) -> str:
    found, half_width = neighbour.simulated_difference, neighbour.half_width
    text = f"{neighbour.agents} agents: "
    if neighbour.too_close:
        text += f"within {money(neighbour.within)}, too close to matter"
    elif neighbour.resolved:
        text += f"{'dearer' if found > 0 else 'cheaper'} by {money(abs(found))} +- {money(half_width)}"
    elif half_width < math.inf:
        text += f"not resolvable, within {money(neighbour.within)}"
    else:
        text += "not resolvable"
    return f"{text} (model {neighbour.model_difference:+,.2f})"
