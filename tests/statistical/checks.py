"""Checks of a fixed length, and formulas that are wrong by a known amount."""

from staffing.checking import check_level
from staffing.levels import Levels

FIRST_LOOK = 32
"""Batches of the first look, which every check makes, whatever the machine and its `check_seconds`."""


class Misstated(Levels):
    """Levels whose formulas take every agent's rate to be `factor` times what the simulation is given."""

    def __init__(self, scenario, factor):
        super().__init__(scenario)
        self._wrong = Levels(scenario.replace(mean_handle_seconds=scenario.mean_handle_seconds / factor))

    def level(self, agents):
        return self._wrong.level(agents)


def check(levels, agents, seed, most_batches=FIRST_LOOK):
    return check_level(levels, agents, seed=seed, seconds=1e9, most_batches=most_batches)
