"""Rebuild this case study's table and figures: python case_studies/bank_1999/run.py [FOLDER]."""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

from staffing import Scenario, evaluate_staffing, optimize_staffing, read_scenario

HERE = Path(__file__).parent
AGENTS = range(5, 15)
SPREADS = {"closure": [0.01 * k for k in range(51)], "rosters": [0.05 * k for k in range(11)]}


def main(folder: Path = HERE) -> None:
    """Print the plan; write `levels.csv`, `cost_curve.png` and `risk_by_cv.png` to `folder`."""
    scenario = read_scenario(HERE / "scenario.toml")
    draw_costs(scenario, folder)
    draw_risk(scenario, folder)


def draw_costs(scenario: Scenario, folder: Path) -> None:
    """Cost and risk against the number of agents."""
    plan = optimize_staffing(scenario)
    print(plan)

    curve = evaluate_staffing(scenario, agents=AGENTS)
    alike = evaluate_staffing(scenario, agents=AGENTS, rate_cv=0)
    curve.to_csv(folder / "levels.csv")

    figure, (cost, risk) = plt.subplots(2, 1, figsize=(7, 7), sharex=True, height_ratios=(3, 2))
    band = [level.rosters.cost_per_hour for level in curve]
    cost.fill_between(
        AGENTS, [b.low for b in band], [b.high for b in band], alpha=0.25, label="5% to 95% of rosters"
    )
    cost.plot(AGENTS, [level.cost_per_hour for level in curve], "o-", label="mean over rosters")
    cost.plot(AGENTS, [level.cost_per_hour for level in alike], "k:", label="agents alike (Erlang A)")
    cost.plot(plan.agents, plan.cost_per_hour, "D", color="C3", ms=9, label=f"best: {plan.agents} agents")
    cost.set_ylabel("cost per hour")
    cost.set_title(f"{scenario.offered_load:.2f} erlangs; agents' rates differ by CV {scenario.rate_cv:g}")
    cost.legend(frameon=False)

    missing = [100 * level.rosters.share_missing_any for level in curve]
    risk.bar(AGENTS, missing, color=["C3" if n == plan.agents else "C0" for n in AGENTS])
    for n, share in zip(AGENTS, missing, strict=True):
        risk.annotate(f"{share:.0f}%", (n, share), ha="center", va="bottom")
    risk.set_ylim(0, 115)
    risk.set_ylabel("rosters that miss\n80% in 20 s (%)")
    risk.set_xlabel("agents")
    risk.set_xticks(AGENTS)
    for axes in (cost, risk):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(folder / "cost_curve.png", dpi=130, metadata={"Software": None})
    plt.close(figure)


def draw_risk(scenario: Scenario, folder: Path) -> None:
    """The share of rosters that miss the service level against how much agents differ, by both methods."""
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for colour, agents in enumerate((8, 9, 10, 11)):
        for method, spreads in SPREADS.items():
            levels = [
                evaluate_staffing(scenario, agents=agents, rate_cv=cv, method=method, rosters=5000)
                for cv in spreads
            ]
            shares = [100 * level.rosters.share_missing_any for level in levels]
            if method == "closure":
                axes.plot(spreads, shares, color=f"C{colour}", label=f"{agents} agents")
            else:
                axes.plot(spreads, shares, "o", ms=4, color=f"C{colour}")
    axes.axvline(scenario.rate_cv, color="k", lw=0.8, ls=":")
    axes.annotate("the bank", (scenario.rate_cv, 97), xytext=(4, 0), textcoords="offset points")
    axes.set_xlabel("CV of service rates between agents")
    axes.set_ylabel("rosters that miss 80% in 20 s (%)")
    axes.set_ylim(-2, 102)
    axes.legend(frameon=False, title="line: closure\ndots: exact rosters", loc=(0.02, 0.3))
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(folder / "risk_by_cv.png", dpi=130, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
