"""Rebuild this study's tables and figure: python case_studies/routing_rules/run.py [FOLDER]."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from staffing import Scenario, evaluate_staffing, optimize_staffing, read_scenario
from staffing.models.rate_laws import GammaRates
from staffing.models.roster import roster_performance

HERE = Path(__file__).parent
RULES = ("longest-idle", "random", "least-occupied", "fastest-first", "slowest-first")
SPREADS = (0.0, 0.2, 0.4)
FINER = (0.0, 0.1, 0.2, 0.3, 0.4)
SAME = 61
"""Agents on duty where rules are compared with the same agents."""
SURE = 0.9
"""The share of rosters that shall keep the promise, for a column of its own."""


def main(folder: Path = HERE) -> None:
    """Print the README's tables; write `rules.csv`, `same_agents.csv` and `routing_rules.png` to `folder`."""
    scenario = read_scenario(HERE / "scenario.toml")
    best = [row(scenario, rule, cv) for rule in RULES for cv in SPREADS]
    same = [row(scenario, rule, cv, SAME) for rule in RULES for cv in FINER]
    write(folder / "rules.csv", best)
    write(folder / "same_agents.csv", same)
    print("\n".join(table(best)))
    draw(same, folder)


def row(scenario: Scenario, rule: str, cv: float, agents: int | None = None) -> dict:
    """What a rule comes to at the cheapest level that keeps the promise on average, or at so many agents."""
    if agents is None:
        level = optimize_staffing(scenario, routing=rule, rate_cv=cv, check=False)
    else:
        level = evaluate_staffing(scenario, routing=rule, rate_cv=cv, agents=agents)
    found, rosters = level.performance, level.rosters
    result = {
        "routing": rule,
        "rate_cv": cv,
        "agents": level.agents,
        "cost_per_hour": level.cost_per_hour,
        "cost_per_hour_5pct_of_rosters": rosters.cost_per_hour.low,
        "cost_per_hour_95pct_of_rosters": rosters.cost_per_hour.high,
        "abandonment": found.abandonment_probability,
        "wait_probability": found.wait_probability,
        "service_level_offered_in_20s": found.service_level.offered,
        "share_of_rosters_missing_the_promise": rosters.share_missing_any,
        "occupancy": found.occupancy,
        "busier_if_one_deviation_faster": busier(scenario, rule, cv, level.agents),
        "method": found.method,
        "error_of_abandonment": found.method_error["abandonment_probability"],
        "error_of_wait_probability": found.method_error["wait_probability"],
    }
    if agents is None:
        result["agents_for_9_rosters_in_10"] = agents_to_be_sure(scenario, rule, cv, level.agents)
    return result


def busier(scenario: Scenario, rule: str, cv: float, agents: int) -> float:
    """By how much occupancy rises, in the line of best fit, with a rate one deviation higher: in one even roster.

    Its rates are the middles of equally likely ranges. Occupancy weighted by rate is `capacity_utilisation`; what it is
    above the plain one is the covariance of occupancy and rate.
    """
    if cv == 0:
        return 0.0
    rates = GammaRates(1 / scenario.mean_handle_seconds, cv).quantile((np.arange(agents) + 0.5) / agents)
    found = roster_performance(
        rates, scenario.calls_per_hour / 3600, 1 / scenario.mean_patience_seconds, routing=rule
    )
    return round((found.capacity_utilisation - found.occupancy) / float(rates.std() / rates.mean()), 6) + 0.0


def agents_to_be_sure(scenario: Scenario, rule: str, cv: float, agents: int) -> int:
    """The first level, from the recommended one on, at which at least `SURE` of the rosters keep the promise."""
    while True:
        level = evaluate_staffing(scenario, routing=rule, rate_cv=cv, agents=agents)
        if level.rosters.share_missing_any <= 1 - SURE:
            return agents
        agents += 1


def write(path: Path, rows: list[dict]) -> None:
    """Numbers to six digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(rows[0])
        for line in rows:
            lines.writerow(f"{v:.6g}" if isinstance(v, float) else v for v in line.values())


def table(rows: list[dict]) -> Iterator[str]:
    """The README's table, in markdown."""
    heads = (
        "rule",
        "CV",
        "agents",
        "cost per hour",
        "abandoned",
        "had to wait",
        "rosters missing",
        "9 in 10 keep it",
    )
    yield f"| {' | '.join((*heads, 'method'))} |"
    yield f"|---|{'---:|' * (len(heads) - 1)}---|"
    for r in rows:
        cells = (
            r["routing"],
            f"{r['rate_cv']:g}",
            str(r["agents"]),
            f"{r['cost_per_hour']:,.2f}",
            with_error(r["abandonment"], r["error_of_abandonment"]),
            with_error(r["wait_probability"], r["error_of_wait_probability"]),
            f"{r['share_of_rosters_missing_the_promise']:.0%}",
            str(r["agents_for_9_rosters_in_10"]),
            r["method"],
        )
        yield f"| {' | '.join(cells)} |"


def with_error(share: float, error: float | str) -> str:
    """A percentage, and what it may be wrong by in points."""
    return f"{share:.2%}" if error == "exact" else f"{share:.2%} ± {100 * error:.2g}"


def draw(rows: list[dict], folder: Path) -> None:
    """Cost and P(wait) of the same number of agents against how much they differ, a line per rule."""
    figure, (cost, busy) = plt.subplots(1, 2, figsize=(10.5, 4.6))
    known = [r for r in rows if r["routing"] == "longest-idle"]
    cost.fill_between(
        FINER,
        [r["cost_per_hour_5pct_of_rosters"] for r in known],
        [r["cost_per_hour_95pct_of_rosters"] for r in known],
        alpha=0.15,
        label="5% to 95% of rosters, longest-idle",
    )
    for rule, style in zip(RULES, ("C0-", "k:", "C2-", "C1-", "C3-"), strict=True):
        line = [r for r in rows if r["routing"] == rule]
        cost.plot(FINER, [r["cost_per_hour"] for r in line], style, marker="o", ms=4, label=rule)
        busy.plot(
            FINER[1:],
            [100 * r["busier_if_one_deviation_faster"] for r in line[1:]],
            style,
            marker="o",
            ms=4,
            label=rule,
        )
    cost.set_ylabel("cost per hour")
    cost.set_title(f"{SAME} agents: who is on duty, and who gets the call", fontsize=10)
    cost.legend(frameon=False, fontsize=8.5, loc="upper left")
    busy.axhline(0, color="k", lw=0.8)
    busy.set_ylabel("points of occupancy")
    busy.set_title("how much busier an agent is who is one deviation faster", fontsize=10)
    for axes in (cost, busy):
        axes.set_xlabel("CV of service rates between agents")
        axes.set_xticks(FINER)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(folder / "routing_rules.png", dpi=130, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
