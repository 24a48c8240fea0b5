"""The idleness coefficient g of a routing rule: how fast each idle agent, on average, would be at work."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from staffing.models.rate_laws import ObservedRates, RateLaw
from staffing.models.routing import EXACT_ROUTINGS, Priority, Rule, WeightedRandom
from staffing.models.score_nodes import score_nodes

Vector = NDArray[np.float64]

ROUGH = "rough: {} leaves only the {} idle in the limit alone"
"""What the method says of strict priorities."""


def roster_idleness(rates: Vector, rule: Rule) -> float:
    """g of a roster under a rule.

    Agents turn idle at their rates mu_k and, picked in proportion to p(mu_k) while idle, stay so for a time in
    proportion to 1 / p(mu_k): g = sum mu_k^2 / p(mu_k) over sum mu_k / p(mu_k).

    ===================  ======================================================
    longest-idle, random   S2 / S, S and S2 the sums of the rates and of their squares
    least-occupied         S / n
    WeightedRandom(a)      sum mu^(2 - a) / sum mu^(1 - a)
    fastest-first          the least rate
    slowest-first          the greatest rate
    a list                 the rate of who stands last
    ===================  ======================================================

    The first two are right up to O(1 / sqrt(n)) of the death rates; weighted random comes to its value slowly. The
    last three are the limit for n to infinity alone, where all who are idle are those whom nobody wants: at n = 100 and
    CV .3 fastest-first has g = .8 of the mean rate where the least rate is .4. See `rough_rule`.

    Parameters
    ----------
    rates : array, shape (n,)
        Agents' rates, > 0; n >= 1.
    rule : Rule
        As `rule_of` gives it.
    """
    if rule == "fastest-first":
        return float(rates.min())
    if rule == "slowest-first":
        return float(rates.max())
    if isinstance(rule, Priority):
        return float(rates[[agent for agent in rule.order if agent < rates.size][-1]])
    power = _power(rule)
    return float((rates ** (2 - power)).sum() / (rates ** (1 - power)).sum())


def law_idleness(law: RateLaw, rule: Rule, agents: int | None = None) -> float:
    """g in the limit of many agents drawn from a law of rates: E mu^2 / p(mu) over E mu / p(mu).

    For fastest-first and slowest-first the ends of the law's support, which may be 0 or infinite, and where a number of
    agents is given the median of the least, or the greatest, of so many: see `roster_idleness` for how far that is from
    what any roster does.
    """
    if law.alike:
        return law.mean
    if rule in ("fastest-first", "slowest-first"):
        fastest = rule == "fastest-first"
        if agents is None:
            return law.lowest if fastest else law.highest
        median = -math.expm1(-math.log(2) / max(agents, 1))
        return float(law.quantile(np.array([median if fastest else 1 - median]))[0])
    if rule in EXACT_ROUTINGS:
        return law.mean * (1 + law.cv**2)
    if rule == "least-occupied":
        return law.mean
    power = _power(rule)
    if isinstance(law, ObservedRates):
        rates, weights = np.array(law.rates, np.float64), np.ones(len(law.rates))
    else:
        scores, weights = score_nodes([0.0], 0.5)
        rates = law.quantile(ndtr(scores))
    return float(weights @ rates ** (2 - power) / (weights @ rates ** (1 - power)))


def rough_rule(rule: Rule) -> str:
    """What is to be said of a rule whose g is far from its limit at any size met in practice; empty otherwise."""
    if rule == "slowest-first":
        return ROUGH.format(rule, "fastest")
    if rule == "fastest-first":
        return ROUGH.format(rule, "slowest")
    return ROUGH.format("a list", "last") if isinstance(rule, Priority) else ""


def _power(rule: Rule) -> float:
    """The power of the rate to which the chance of being picked is proportional; 1 makes all as idle as each other."""
    if isinstance(rule, WeightedRandom):
        return rule.power
    return 1.0 if rule == "least-occupied" else 0.0
