"""Rebuild this study's tables and figures: python case_studies/random_drift/run.py [FOLDER]."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import figures
import numpy as np

from staffing import Scenario, read_scenario
from staffing.models.days import Days
from staffing.models.diffusion.annealed import DrawnDiffusion
from staffing.models.diffusion.given_capacity import given_capacity
from staffing.models.diffusion.sample_paths import sample_paths
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.fluid import fluid_over_days
from staffing.models.rate_laws import GammaRates
from staffing.models.regime import regime_probabilities
from staffing.models.shared_queue import Callers
from staffing.models.uncertain_days import UncertainDays
from staffing.models.variance_channels import variance_channels
from staffing.question import callers_of, costs_of, law_of

HERE = Path(__file__).parent
RULES = ("longest-idle", "least-occupied", "fastest-first", "slowest-first")
CVS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)
ROSTERS = 200
SIZES, LOADS = (20, 60, 100, 500, 2000), (0.8, 0.9, 0.95, 1.0, 1.1, 1.2)
GROWING, SAFETIES = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400), (-0.5, 0.5, 1.0)
DAY_CV = 0.1
POINT = 0.01
AGENTS = 100
"""On duty where nothing else is said: load 1."""
SPARE = 111
"""On duty at a load of .9."""


def main(folder: Path = HERE) -> None:
    """Print the README's tables; write the CSV files and figures to `folder`."""
    scenario = read_scenario(HERE / "scenario.toml")
    draw_paths(scenario, folder)
    head_counts = regimes(scenario)
    write(folder / "regimes.csv", head_counts)
    figures.regimes(head_counts, folder / "regimes.png")
    growing = [
        row
        for n in GROWING
        for name, load in [*((f"safety {b:g}", 1 - b / n**0.5) for b in SAFETIES), ("load 0.9", 0.9)]
        for row in errors(n, load, name)
    ]
    write(folder / "error.csv", growing)
    figures.error(growing, folder / "error.png")
    trusted = [row for n in SIZES for load in LOADS for row in errors(n, load, f"load {load:g}")]
    write(folder / "trust.csv", trusted)
    print("\n".join(trust_table(trusted)), end="\n\n")
    spread = [variance(scenario, rule, cv, n) for n in (SPARE, AGENTS) for rule in RULES for cv in CVS]
    write(folder / "variance.csv", spread)
    figures.variance([row for row in spread if row["agents"] == SPARE], folder / "variance.png")
    points = [
        one_point(scenario, rule, cv, n) for n in (SPARE, AGENTS) for rule in RULES for cv in (0.1, 0.3)
    ]
    write(folder / "one_point.csv", points)
    print("\n".join(point_table(points)))


def draw_paths(scenario: Scenario, folder: Path) -> None:
    """One afternoon of the same noise under three rosters, by where their capacity lies among rosters."""
    law, callers = law_of(scenario), callers_of(scenario)
    shares = {"5%": -1.645, "median": 0.0, "95%": 1.645}
    capacities = law.capacity_at_score(AGENTS, np.array(list(shares.values())))
    process = given_capacity(
        callers.arrival_rate,
        capacities,
        callers.abandonment_rate,
        AGENTS,
        capacities / AGENTS * (1 + law.cv**2),
    )
    times, paths = sample_paths(process, 0.0, 2 * 3600.0, steps=2400, common=True, seed=5)
    labels = [f"{share} roster: {3600 * s:,.0f} calls/h" for share, s in zip(shares, capacities, strict=True)]
    figures.paths(times / 3600, AGENTS**0.5 * paths, labels, folder / "paths.png")


def regimes(scenario: Scenario) -> list[dict]:
    """The chances of the regimes, and what is lost, by head count; on days alike, and on days that differ."""
    law, callers = law_of(scenario), callers_of(scenario)
    lam, found = callers.arrival_rate, []
    for day_cv in (0.0, DAY_CV):
        days = Days(rate_cv=day_cv)
        model = UncertainDays(callers, law, days) if day_cv else DrawnAgents(callers, law)
        for n in range(70, 131):
            chances = regime_probabilities(lam, law.mean, lambda s, n=n, m=model: m.capacity_cdf(n, s))
            fluid = fluid_over_days(lam, callers.abandonment_rate, law, days, n)
            found.append(
                {
                    "rate_day_cv": day_cv,
                    "agents": n,
                    **chances,
                    "fluid_abandonment": fluid.abandonment_probability,
                    "abandonment": model.values(n)["abandonment_probability"],
                }
            )
    return found


def errors(n: int, load: float, name: str) -> Iterator[dict]:
    """The diffusion over rosters against the closure, which is right to 1e-4: mean rate 1, CV .3, patience 2."""
    callers, law = Callers(load * n, 0.5), GammaRates(1.0, 0.3)
    found = DrawnDiffusion(callers, law).performance(n)
    exact = DrawnAgents(callers, law).values(n)
    for measure in ("wait_probability", "mean_queue", "abandonment_probability"):
        yield {
            "agents": n,
            "at": name,
            "measure": measure,
            "closure": exact[measure],
            "diffusion": found.value(measure),
            "error": found.value(measure) - exact[measure],
            "stated_error": found.method_error[measure],
        }


def variance(scenario: Scenario, rule: str, cv: float, agents: int) -> dict:
    """P(abandon) at a CV and its channels."""
    law = GammaRates(1 / scenario.mean_handle_seconds, cv)
    found = variance_channels(callers_of(scenario), law, agents, routing=rule, rosters=ROSTERS)
    return {
        "agents": agents,
        "routing": rule,
        "rate_cv": cv,
        "abandonment": found.value,
        "standard_error": found.standard_error,
        "alike": found.alike,
        "capacity_channel": found.capacity,
        "idleness_channel": found.idleness,
        "capacity_channel_second_order": found.capacity_second_order,
        "idleness_channel_second_order": found.idleness_second_order,
        "idle_rate_over_mean_rate": found.idle_rate / law.mean,
    }


def one_point(scenario: Scenario, rule: str, cv: float, agents: int) -> dict:
    """What .01 more of CV costs with the same agents, and how many agents keep abandonment where it was."""
    costs, callers = costs_of(scenario), callers_of(scenario)

    def at(cv: float, n: int) -> tuple[float, float]:
        law = GammaRates(1 / scenario.mean_handle_seconds, cv)
        lost = variance_channels(callers, law, n, routing=rule, rosters=ROSTERS).value
        queue = lost * callers.arrival_rate / callers.abandonment_rate
        measures = {"mean_queue": queue, "abandonment_probability": lost, "blocking_probability": 0.0}
        return costs.total(n, measures), lost

    (less, lost_less), (more, lost_more) = at(cv - POINT, agents), at(cv + POINT, agents)
    fewer, one_more = at(cv, agents - 1)[1], at(cv, agents + 1)[1]
    return {
        "agents": agents,
        "routing": rule,
        "rate_cv": cv,
        "cost_per_hour": at(cv, agents)[0],
        "cost_per_hour_of_one_point": (more - less) / 2,
        "abandonment_of_one_point": (lost_more - lost_less) / 2,
        "agents_of_one_point": (lost_more - lost_less) / (fewer - one_more),
    }


def write(path: Path, rows: list[dict]) -> None:
    """Numbers to six digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(rows[0])
        for line in rows:
            lines.writerow(f"{v:.6g}" if isinstance(v, float) else v for v in line.values())


def trust_table(rows: list[dict]) -> Iterator[str]:
    """Errors of P(wait) in points and of the mean queue in percent, and what they allow."""
    cells = {(r["agents"], r["at"], r["measure"]): r for r in rows}
    yield f"| agents | {' | '.join(f'load {load:g}' for load in LOADS)} |"
    yield f"|---:|{'---|' * len(LOADS)}"
    for n in SIZES:
        texts = []
        for load in LOADS:
            wait, queue, _ = (
                cells[n, f"load {load:g}", m]
                for m in ("wait_probability", "mean_queue", "abandonment_probability")
            )
            points, share = 100 * wait["error"], 100 * queue["error"] / queue["closure"]
            texts.append(f"{trust(points, share)}: {points:+.1f}, {share:+.1f}%")
        yield f"| {n} | {' | '.join(texts)} |"


def trust(points: float, share: float) -> str:
    """Good where P(wait) is within half a point and the queue within 2%; fair within 2 points and 10%."""
    if abs(points) <= 0.5 and abs(share) <= 2:
        return "**good**"
    return "fair" if abs(points) <= 2 and abs(share) <= 10 else "no"


def point_table(rows: list[dict]) -> Iterator[str]:
    """What a point of CV costs."""
    yield "| agents | rule | CV | cost per hour | one point of CV, per hour | in calls lost | in agents |"
    yield "|---:|---|---:|---:|---:|---:|---:|"
    for r in rows:
        yield (
            f"| {r['agents']} | {r['routing']} | {r['rate_cv']:g} | {r['cost_per_hour']:,.2f} |"
            f" {r['cost_per_hour_of_one_point']:+.2f} | {100 * r['abandonment_of_one_point']:+.4f}% |"
            f" {r['agents_of_one_point']:+.3f} |"
        )


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
