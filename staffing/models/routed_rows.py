"""The shared queue's rows of sums under any routing rule: the one seam between rules and measures."""

import numpy as np

from staffing.models import _kernels
from staffing.models.routing import EXACT_ROUTINGS, Rule, WeightedRandom, priority_order
from staffing.models.shared_queue import (
    COLUMNS,
    Callers,
    Vector,
    chain_rows,
    closure_rows,
    roster_levels,
    roster_row,
)

_ROUNDS = 4
"""Rounds of the search for the idle agents one meets; the last changes P(wait) by less than 1e-4 of it."""


def routed_levels(callers: Callers, rates: Vector, levels: range, rule: Rule) -> Vector:
    """Rows of sums of the first n agents of each roster; shape (levels, rosters, COLUMNS).

    `rates` has a row per agent and a column per roster. Under longest-idle and random routing all levels cost what
    the last one does; under the other rules, and if calls are not Poisson, each is computed from scratch, O(n^2) a
    roster (least-occupied: O(n)).
    """
    if rule in EXACT_ROUTINGS and not callers.bursty:
        return roster_levels(callers, rates, levels)
    rows = np.empty((len(levels), rates.shape[1], COLUMNS))
    for level, n in zip(rows, levels, strict=True):
        level[:] = _rows(callers, rates[:n], rule)
    return rows


def routed_row(callers: Callers, rates: Vector, rule: Rule) -> Vector:
    """The row of sums of these agents; shape (1, COLUMNS)."""
    if rule in EXACT_ROUTINGS and not callers.bursty:
        return roster_row(callers, rates)
    return _rows(callers, rates[:, np.newaxis], rule)


def _rows(callers: Callers, rates: Vector, rule: Rule) -> Vector:
    n, lam = rates.shape[0], callers.arrival_rate
    if rule == "least-occupied" or n == 0 or lam == 0:
        # All agents are idle for equal shares of the time: i idle ones are any i, as if all had the mean rate.
        return closure_rows(callers, n, rates.sum(axis=0), 0.0)
    rosters = np.ascontiguousarray(rates.T)
    if rule in EXACT_ROUTINGS:
        deaths = np.empty_like(rosters)
        for roster, out in zip(rosters, deaths, strict=True):
            _kernels.weighted_death_rates(roster, roster, out)
    elif isinstance(rule, WeightedRandom):
        deaths = np.array([_weighted_death_rates(roster, lam, rule.power) for roster in rosters])
    else:
        deaths = np.empty_like(rosters)
        for roster, out in zip(rosters, deaths, strict=True):
            _kernels.priority_death_rates(roster[priority_order(rule, roster)], lam, out)
    return chain_rows(callers, deaths)


def _weighted_death_rates(rates: Vector, lam: float, power: float) -> Vector:
    """d_i when an idle agent is taken with a chance proportional to w = rate^power.

    Among i idle agents, the others of weight w' in the mean, that chance is w / (w + (i - 1) w'), against 1 / i under
    random routing, where the odds of being idle are the rates. So the odds are rate (1 + (i - 1) w' / w) / i, at the
    i one finds when somebody is idle.
    """
    weights, odds = rates**power, rates
    deaths = np.empty_like(rates)
    _kernels.weighted_death_rates(rates, odds, deaths)
    for _ in range(_ROUNDS):
        _, total, idle = _kernels.chain_idle_sums(deaths, lam)
        others = idle / total - 1
        odds = rates * (1 + others * (weights @ odds / odds.sum()) / weights) / (1 + others)
        _kernels.weighted_death_rates(rates, odds, deaths)
    return deaths
