"""Rebuild this study's tables and figure: python case_studies/accuracy/run.py [FOLDER]."""

import csv
import math
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from methods import MEASURES, METHODS, Vector, answers

from staffing.models.rate_laws import GammaRates
from staffing.models.shared_queue import Callers

HERE = Path(__file__).parent
LAW = GammaRates(1.0, 0.3)
THETA = 0.5
AGENTS, LOADS = (20, 100, 500), (0.9, 1.0, 1.1)
SIZES, BETAS = (25, 50, 100, 200, 400, 800, 1600), (0.0, 0.5)
NAMES = {"wait_probability": "P(wait)", "mean_queue": "E[queue]", "abandonment_probability": "P(abandon)"}
GROUPS, GROUP = 20, 50
"""Independent groups of rosters, whose scatter tells the standard error; capacities are stratified within each."""

STYLES = ("k:", "C7--", "C0-", "C9-", "C4-", "C1-", "C3-", "C2-")


def main(folder: Path = HERE) -> None:
    """Print the README's tables; write `accuracy.csv`, `convergence.csv` and `accuracy.png` to `folder`."""
    accuracy = list(by_load())
    write(folder / "accuracy.csv", accuracy)
    tabulate(accuracy)
    convergence = list(by_size())
    write(folder / "convergence.csv", convergence)
    tabulate_exponents(convergence)
    draw(convergence, folder)


def errors(agents: int, arrival_rate: float) -> tuple[dict[str, Vector], dict[str, dict[str, Vector]]]:
    """What the exact law says of each roster, and by how much each method misses it."""
    generator = np.random.default_rng(agents)
    rosters = np.vstack([LAW.rosters(agents, GROUP, generator, strata=True) for _ in range(GROUPS)])
    exact, found = answers(LAW, rosters, Callers(arrival_rate, THETA))
    missed = {
        method: {measure: np.abs(values[measure] - exact[measure]) for measure in MEASURES}
        for method, values in found.items()
    }
    return exact, missed


def mean(values: Vector) -> tuple[float, float]:
    """Mean over rosters, and its standard error from the groups."""
    groups = values.reshape(GROUPS, GROUP).mean(axis=1)
    return float(groups.mean()), float(groups.std(ddof=1)) / math.sqrt(GROUPS)


def by_load() -> Iterator[dict]:
    """A row per method, agents, load and measure; first the exact mean and its deviation over rosters."""
    for agents in AGENTS:
        for load in LOADS:
            exact, missed = errors(agents, load * agents)
            for measure in MEASURES:
                for method in METHODS:
                    error, se = mean(missed[method][measure])
                    yield {
                        "method": method,
                        "agents": agents,
                        "load": load,
                        "measure": measure,
                        "mean_absolute_error": error,
                        "standard_error": se,
                        "exact_mean_over_rosters": float(exact[measure].mean()),
                        "exact_deviation_over_rosters": float(exact[measure].std()),
                    }


def by_size() -> Iterator[dict]:
    """A row per method, agents and beta: the error in P(wait) at arrival rate n - beta sqrt(n)."""
    for beta in BETAS:
        for agents in SIZES:
            _, missed = errors(agents, agents - beta * math.sqrt(agents))
            for method in METHODS:
                error, se = mean(missed[method]["wait_probability"])
                yield {
                    "method": method,
                    "agents": agents,
                    "beta": beta,
                    "mean_absolute_error": error,
                    "standard_error": se,
                }


def write(path: Path, rows: list[dict]) -> None:
    """Numbers to four digits, more than the rosters tell."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(rows[0])
        for row in rows:
            table.writerow(f"{v:.4g}" if isinstance(v, float) else v for v in row.values())


def tabulate(rows: list[dict]) -> None:
    """The accuracy tables, a measure each, in markdown."""
    cells = [(n, load) for n in AGENTS for load in LOADS]
    for measure in MEASURES:
        found = {(r["method"], r["agents"], r["load"]): r for r in rows if r["measure"] == measure}
        print(f"\n| {NAMES[measure]} | {' | '.join(f'{n}, {load:g}' for n, load in cells)} |")
        print(f"|---|{'---|' * len(cells)}")
        shown = [found[METHODS[0], *cell] for cell in cells]
        print(f"| *exact, mean* | {' | '.join(short(r['exact_mean_over_rosters'], 3) for r in shown)} |")
        print(f"| *deviation* | {' | '.join(short(r['exact_deviation_over_rosters']) for r in shown)} |")
        for method in METHODS:
            shown = [found[method, *cell] for cell in cells]
            print(f"| {method} | {' | '.join(short(r['mean_absolute_error']) for r in shown)} |")


def tabulate_exponents(rows: list[dict]) -> None:
    """Local exponents of the error in P(wait), from each size to four times as many agents, in markdown."""
    steps = list(pairwise(SIZES[::2]))
    found = {(r["method"], r["agents"], r["beta"]): r["mean_absolute_error"] for r in rows}
    heads = [f"beta {beta:g}: {few} to {many}" for beta in BETAS for few, many in steps]
    print(f"\n| exponent | {' | '.join(heads)} |")
    print(f"|---|{'---|' * len(heads)}")
    for method in METHODS:
        exponents = [
            math.log(found[method, few, beta] / found[method, many, beta]) / math.log(many / few)
            for beta in BETAS
            for few, many in steps
        ]
        print(f"| {method} | {' | '.join(f'{e:.2f}' for e in exponents)} |")


def short(value: float, digits: int = 2) -> str:
    """So many digits, without a nought before the point."""
    text = (
        f"{value:.{digits}g}" if value < 1e-4 or value >= 10**digits else f"{value:#.{digits}g}".rstrip(".")
    )
    return text.replace("e-0", "e-").removeprefix("0")


def draw(rows: list[dict], folder: Path) -> None:
    """The error in P(wait) against the number of agents, one line per method."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 5.4), sharey=True)
    for axes, beta in zip(panels, BETAS, strict=True):
        for method, style in zip(METHODS, STYLES, strict=True):
            line = [r for r in rows if r["method"] == method and r["beta"] == beta]
            axes.errorbar(
                SIZES,
                [r["mean_absolute_error"] for r in line],
                [2 * r["standard_error"] for r in line],
                fmt=style,
                marker="o",
                ms=3.5,
                lw=1.4,
                label=method,
            )
        slope = [0.0045 * (SIZES[0] / n) ** 0.5 for n in SIZES]
        axes.plot(SIZES, slope, color="0.6", lw=4, alpha=0.5, zorder=0)
        axes.annotate(
            "slope $-1/2$", (SIZES[2], slope[2]), xytext=(4, 6), textcoords="offset points", color="0.4"
        )
        axes.set(xscale="log", yscale="log", xlabel="agents n")
        axes.set_xticks(SIZES, [str(n) for n in SIZES])
        axes.minorticks_off()
        title = (
            "as many calls as capacity ($\\rho = 1$)"
            if beta == 0
            else f"$\\lambda = n - {beta:g}\\sqrt{{n}}$"
        )
        axes.set_title(title, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("mean absolute error in P(wait)")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="lower center", ncols=3, frameon=False, fontsize=9
    )
    figure.tight_layout(rect=(0, 0.13, 1, 1))
    figure.savefig(folder / "accuracy.png", dpi=130, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
