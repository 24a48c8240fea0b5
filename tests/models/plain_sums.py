"""Weights and sums of the shared queue's states the long way round: term by term, exactly or in 40 digits.

Nothing here imports the package.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import factorial

import mpmath
import numpy as np

DIGITS = 40

# --- sums over the queueing states, p_0 = 1 ------------------------------------------------------------------------


def queue_sums_by_terms(lam: float, s: float, theta: float) -> tuple[Decimal, Decimal, Decimal]:
    """(sum p_k, sum k p_k, sum p_k h_k) over k >= 1, in 40 digits."""
    with localcontext(Context(prec=DIGITS, Emax=10**9, Emin=-(10**9))):
        arrivals, rate, step = Decimal(lam), Decimal(s), Decimal(theta)
        p, h, k = Decimal(1), Decimal(0), 0
        waiting = length = waited = Decimal(0)
        small = Decimal(10) ** -DIGITS
        while True:
            k += 1
            rate += step
            p *= arrivals / rate
            h += 1 / rate
            waiting += p
            length += k * p
            waited += h * p
            if rate > arrivals and k * p < small * length * (1 - arrivals / rate):
                return waiting, length, waited


def queue_sums_by_integrals(
    lam: float, s: float, theta: float
) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    """(log scale, then the three sums over that scale) from integrals of exp(lam H(t) - s t), in 40 digits."""
    with mpmath.workdps(DIGITS):
        x, a = mpmath.mpf(lam) / theta, mpmath.mpf(s) / theta
        mode = mpmath.log(x / a) if x > a else mpmath.mpf(0)
        top = x * -mpmath.expm1(-mode) - a * mode
        width = min(1 / mpmath.sqrt(min(x, a)), 1 / (a - x) if a > x else mpmath.inf)
        ends = {mpmath.mpf(0), mode}
        for j in range(-12, 140):  # outward from the mode, ever wider, and away from zero where H bends
            ends.update((mode + width * mpmath.mpf(1.5) ** j, mode - width * mpmath.mpf(1.5) ** j))
        ends.update(mode + j for j in range(-60, 60))
        last = mode + 120 * max(width, 1 / a)
        panels = sorted(end for end in {*ends, last} if 0 <= end <= last)
        nodes = mpmath.calculus.quadrature.GaussLegendre(mpmath.mp).get_nodes(-1, 1, 4, mpmath.mp.prec)
        answered = lost = waited = mpmath.mpf(0)
        for low, high in pairwise(panels):
            if -x * mpmath.expm1(-high) - a * high - top < -110 and high < mode:
                continue
            if -x * mpmath.expm1(-low) - a * low - top < -110 and low > mode:
                break
            half, middle = (high - low) / 2, (high + low) / 2
            for node, weight in nodes:
                y = middle + half * node
                stay = mpmath.exp(-y)
                v = half * weight * mpmath.exp(x * -mpmath.expm1(-y) - a * y - top)
                answered += v * stay
                lost -= v * mpmath.expm1(-y)
                waited += v * y * stay
        return top, x * answered, x * a * lost, x * waited / theta


# --- weights of the idle states, all agents busy = 1 ---------------------------------------------------------------


def closure_weights(n: int, s: float, c2: float, lam: float) -> list[Decimal]:
    """a_0 ... a_n of the gamma closure, as its recursion says, in 40 digits."""
    with localcontext(Context(prec=DIGITS, Emax=10**9, Emin=-(10**9))):
        weights = [Decimal(1)]
        for i in range(n):
            weights.append(
                weights[-1] * Decimal(s) * (n - i) / ((n + i * Decimal(c2)) * Decimal(lam)),
            )
        return weights


@lru_cache(maxsize=32)
def symmetric_polynomials(rates: tuple[Fraction, ...]) -> list[Fraction]:
    """e_0 ... e_n of the rates, exactly; rates are multiples of 1/64."""
    e = [1] + [0] * len(rates)
    for n, rate in enumerate(rates, start=1):
        whole = int(rate * 64)
        assert whole == rate * 64
        for i in range(n, 0, -1):
            e[i] += whole * e[i - 1]
    return [Fraction(value, 64**i) for i, value in enumerate(e)]


def roster_weights(rates: tuple[Fraction, ...], lam: Fraction) -> list[Fraction]:
    """a_i = i! e_i / lam^i, exactly."""
    return [factorial(i) * e / lam**i for i, e in enumerate(symmetric_polynomials(rates))]


def roster_shares_by_integral(rates: np.ndarray, lam: float) -> tuple[float, float]:
    """(a_0 / sum a_i, sum i a_i / sum a_i), in floats at any n: i! = int u^i e^-u du.

    So sum a_i = int e^-u prod (1 + u mu_k / lam) du, and sum i a_i has u mu_k / (lam + u mu_k) summed over k besides.
    """
    r = rates / lam
    low, high = 0.0, 1.0
    while (r / (1 + high * r)).sum() > 1:
        high *= 2
    for _ in range(100):
        mode = (low + high) / 2
        low, high = (mode, high) if (r / (1 + mode * r)).sum() > 1 else (low, mode)
    bend = ((r / (1 + mode * r)) ** 2).sum()
    fall = 1 - min((r / (1 + mode * r)).sum(), 1.0)
    top = np.log1p(mode * r).sum() - mode
    width = min(bend**-0.5, 1 / fall if fall > 0 else np.inf)
    ends = mode + width * np.concatenate([np.arange(-40.0, 60.0), np.geomspace(60, 1e5, 40)])
    ends = np.unique(np.maximum(ends, 0.0))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    total = idle = 0.0
    for start, end in pairwise(ends):
        for node, weight in zip(nodes, weights, strict=True):
            u = (start + end) / 2 + (end - start) / 2 * node
            f = (end - start) / 2 * weight * np.exp(np.log1p(u * r).sum() - u - top)
            total += f
            idle += f * (u * r / (1 + u * r)).sum()
    return float(np.exp(-top) / total), float(idle / total)
