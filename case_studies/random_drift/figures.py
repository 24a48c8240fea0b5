"""The study's four figures."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

STYLES = {"longest-idle": "C0", "least-occupied": "C2", "fastest-first": "C1", "slowest-first": "C3"}


def paths(hours: np.ndarray, queue: np.ndarray, labels: Sequence[str], path: Path) -> None:
    """Callers waiting above 0, idle agents below it, a path per roster."""
    figure, axes = plt.subplots(figsize=(9.5, 4.4))
    for k, (line, label) in enumerate(zip(queue, labels, strict=True)):
        axes.plot(hours, line, lw=1.1, color=("C3", "0.45", "C0")[k], label=label)
    axes.axhline(0, color="k", lw=0.8)
    axes.set_xlabel("hours")
    axes.set_ylabel("callers waiting (above 0), idle agents (below)")
    axes.set_title("100 agents, 2,000 calls an hour: the same luck, three rosters", fontsize=10)
    axes.legend(frameon=False, fontsize=8.5, ncols=3, loc="lower right")
    _save(figure, [axes], path)


def regimes(rows: list[dict], path: Path) -> None:
    """Chances of the three regimes and what is lost, against the head count."""
    figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.2), sharey=True)
    for axes, day_cv in zip(panels, sorted({r["rate_day_cv"] for r in rows}), strict=True):
        line = [r for r in rows if r["rate_day_cv"] == day_cv]
        n = [r["agents"] for r in line]
        axes.stackplot(
            n,
            *([r[name] for r in line] for name in ("ED", "QED", "QD")),
            labels=("efficiency-driven (ED)", "balanced (QED)", "quality-driven (QD)"),
            colors=("#d98c8c", "#e8dfc2", "#9cc5a1"),
        )
        axes.plot(n, [r["abandonment"] for r in line], "k-", lw=1.6, label="calls lost")
        axes.plot(n, [r["fluid_abandonment"] for r in line], "k--", lw=1.2, label="fluid limit of it")
        axes.set_title(
            "agents differ, CV 0.3" if day_cv == 0 else f"and all rates vary by day, CV {day_cv:g}",
            fontsize=10,
        )
        axes.set_xlabel("agents, at 100 erlangs")
        axes.set_xlim(n[0], n[-1])
        axes.set_ylim(0, 1)
    panels[0].set_ylabel("areas: share of rosters, and days")
    beside = panels[1].secondary_yaxis("right")
    beside.set_ylabel("lines: share of calls lost")
    panels[0].legend(fontsize=8, loc="center right")
    _save(figure, panels, path)


def error(rows: list[dict], path: Path) -> None:
    """Errors of P(wait) and of abandonment against n, doubly logarithmic."""
    figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.2))
    for axes, measure in zip(panels, ("wait_probability", "abandonment_probability"), strict=True):
        for k, at in enumerate(dict.fromkeys(r["at"] for r in rows)):
            line = [r for r in rows if r["at"] == at and r["measure"] == measure]
            # What is far below the figure is no error one could see.
            seen = [r for r in line if abs(r["error"]) > 1e-7]
            axes.loglog(
                [r["agents"] for r in seen],
                [abs(r["error"]) for r in seen],
                f"C{k}{'s--' if at == 'safety 1' else 'o-'}",
                ms=4,
                label=f"{at}: 10% spare at every size" if at.startswith("load") else at,
            )
        n = np.array([25.0, 6400.0])
        slope, start = (0.5, 0.06) if measure == "wait_probability" else (1.0, 0.02)
        axes.loglog(
            n, start * (n / 25) ** -slope, "k:", lw=1, label="1 / sqrt(n)" if slope == 0.5 else "1 / n"
        )
        axes.set_xlabel("agents n")
        axes.legend(frameon=False, fontsize=8.5)
    panels[0].set_ylabel("diffusion less closure, absolute value")
    panels[0].set_title("error of the diffusion in P(wait)", fontsize=10)
    panels[1].set_title("error of the diffusion in P(abandon)", fontsize=10)
    _save(figure, panels, path)


def variance(rows: list[dict], path: Path) -> None:
    """P(abandon) by rule with the formula beside it, and the channels of two rules."""
    figure, (whole, parts) = plt.subplots(1, 2, figsize=(10.5, 4.4))
    for rule, color in STYLES.items():
        line = [r for r in rows if r["routing"] == rule]
        cv = [r["rate_cv"] for r in line]
        formula = [
            r["alike"] + r["capacity_channel_second_order"] + r["idleness_channel_second_order"] for r in line
        ]
        whole.plot(cv, [100 * r["abandonment"] for r in line], color=color, marker="o", ms=3.5, label=rule)
        whole.plot(cv, [100 * f for f in formula], color=color, ls="--", lw=1)
        parts.plot(cv, [100 * r["idleness_channel"] for r in line], color=color, label=f"idleness, {rule}")
    parts.plot(
        cv, [100 * r["capacity_channel"] for r in line], "k-", lw=2, label="capacity, the same for all rules"
    )
    fastest = [r for r in rows if r["routing"] == "fastest-first"]
    parts.plot(
        cv,
        [100 * (r["capacity_channel"] + r["idleness_channel"]) for r in fastest],
        "C1:",
        lw=2,
        label="sum, fastest-first",
    )
    parts.axhline(0, color="k", lw=0.6)
    whole.set_title("calls lost, 111 agents at 100 erlangs; dashed: second-order formula", fontsize=10)
    parts.set_title("what variance adds, by channel", fontsize=10)
    for axes, unit in ((whole, "% of calls"), (parts, "points")):
        axes.set_xlabel("CV of service rates between agents")
        axes.set_ylabel(unit)
        axes.legend(frameon=False, fontsize=8)
    _save(figure, [whole, parts], path)


def _save(figure: Figure, panels: Sequence[Axes], path: Path) -> None:
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
