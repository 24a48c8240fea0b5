"""The law of simulated waits, from counts in bins."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 2048


@dataclass(frozen=True, eq=False)
class HistogramWaits:
    """P(W > t) from counts of w / (w + scale) in equal bins of [0, 1), linear inside each."""

    scale: float
    beyond: NDArray[np.float64]
    """Share of all calls that wait longer than each edge of the bins."""

    @classmethod
    def of_counts(cls, counts: NDArray[np.float64], scale: float, calls: float) -> "HistogramWaits":
        """From the bins' (weighted) counts among `calls` calls, those with no wait being in none of them."""
        return cls(scale, np.append(np.cumsum(counts[::-1])[::-1], 0) / calls)

    def survival(self, t: float) -> float:
        """P(W > t), t >= 0."""
        bins = self.beyond.size - 1
        place = bins * (t / (t + self.scale)) if t < math.inf else float(bins)
        bin_ = min(int(place), bins - 1)
        return float(self.beyond[bin_] + (place - bin_) * (self.beyond[bin_ + 1] - self.beyond[bin_]))

    def log_survival(self, t: float) -> float:
        """log P(W > t), t >= 0; -inf beyond all that was seen."""
        survival = self.survival(t)
        return math.log(survival) if survival > 0 else -math.inf


def wait_scale(capacity: float, lam: float, theta: float, places: int | None = None) -> float:
    """A wait in the middle of those to expect, if so many may wait; it only places the bins of the histogram."""
    patience = 1 / theta if theta > 0 else math.inf
    scale = math.sqrt(patience / lam)
    if capacity > lam:
        scale = min(scale, 1 / (capacity - lam))
    elif theta > 0:
        scale = max(scale, (min(1.0, math.log(lam / capacity)) if capacity > 0 else 1.0) * patience)
    if places is not None and capacity > 0:
        scale = min(scale, (places + 1) / capacity)
    return scale if 0 < scale < math.inf else 1.0
