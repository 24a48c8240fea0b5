"""How often a check looks at its simulations, how sure it must be to speak, and what it may spend."""

import math
import sys
import time

from scipy.special import stdtrit

from staffing.models.simulation.shared_queue import SharedQueueSimulation
from staffing.progress import Advance
from staffing.simulating import cores

FALSE_ALARM = 1e-4
"""The chance that a check of right formulas says "disagrees" anywhere, at any of its looks."""

FIRST_LOOK = 32
"""Batches at the first look, fewer if they would take far longer than there is."""
SLACK = (1.1, 1.3, 3.0)
"""By how much the looks that follow exceed the batches that should decide."""
LOOKS = 1 + len(SLACK)
FEWEST_BATCHES = 16
"""Batches below which their scatter is no measure of anything: two may agree by chance to the last digit."""
FEWEST_WAITS = 30
"""Calls that wait in a batch, below which batches are too unlike the normal law to condemn a model."""


def student(comparisons: int, batches: int, freedom: int) -> float:
    """Standard errors that none of these comparisons exceeds at any look, but for the false-alarm rate."""
    if batches < FEWEST_BATCHES:
        return math.inf
    return -float(stdtrit(freedom, FALSE_ALARM / (2 * comparisons * LOOKS)))


class Budget:
    """The time a check may take, and a limit to its batches that does not depend on the machine's speed.

    Parameters
    ----------
    seconds : float
        Time from now on.
    most_batches : int or None
        Of each simulation.
    advance : callable
        Told of every bit of the time that passes.
    """

    def __init__(self, seconds: float, most_batches: int | None, advance: Advance) -> None:
        self.seconds = seconds
        self.most_batches = sys.maxsize if most_batches is None else most_batches
        self.workers = cores()
        self._batches = 0
        self._begun = self._told = time.perf_counter()
        self._advance = advance

    def run(self, simulation: SharedQueueSimulation, batches: int) -> None:
        """Run more batches of a simulation."""
        simulation.run(batches, self.workers, self._tell)
        self._batches += batches

    def _tell(self, rosters: int) -> None:
        now = time.perf_counter()
        self._advance(now - self._told)
        self._told = now

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._begun

    def affordable(self) -> int:
        """How many more batches, of all simulations together, the time left is good for."""
        spent = self.spent
        return max(int((self.seconds - spent) / spent * self._batches), 0)
