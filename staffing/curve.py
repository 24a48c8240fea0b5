"""Several staffing levels of one scenario, as a sequence and a table."""

import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from staffing.curve_text import curve_text, largest_error, method_note
from staffing.level import Level
from staffing.scenario import Scenario
from staffing.wording import WIDTH, heads

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, init=False, repr=False)
class Curve(Sequence[Level]):
    """Levels of one scenario, in the order asked for."""

    scenario: Scenario
    levels: tuple[Level, ...]

    def __init__(self, scenario: Scenario, levels: Iterable[Level]) -> None:
        object.__setattr__(self, "scenario", scenario)
        object.__setattr__(self, "levels", tuple(levels))

    @overload
    def __getitem__(self, index: int) -> Level: ...
    @overload
    def __getitem__(self, index: slice) -> "Curve": ...
    def __getitem__(self, index: int | slice) -> "Level | Curve":
        if isinstance(index, slice):
            return Curve(self.scenario, self.levels[index])
        return self.levels[index]

    def __len__(self) -> int:
        return len(self.levels)

    def __iter__(self) -> Iterator[Level]:
        return iter(self.levels)

    def at(self, agents: int) -> Level:
        """The level with this many agents; KeyError if it is not on the curve."""
        for level in self.levels:
            if level.agents == agents:
                return level
        raise KeyError(agents)

    def to_frame(self) -> "pd.DataFrame":
        """One tidy row per level; units are in the column names."""
        from staffing.tables import frame_of

        return frame_of(self.scenario.name, self.levels)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write `to_frame` as CSV: UTF-8, `.` decimals, cells a spreadsheet would run made harmless.

        Raises
        ------
        StaffingError
            If the file cannot be written; it appears whole or not at all.
        """
        from staffing.tables import write_csv

        write_csv(self.to_frame(), path)

    def __repr__(self) -> str:
        return f"Curve({[level.agents for level in self.levels]} agents)"

    def __str__(self) -> str:
        text = curve_text(self.levels, definition=self.scenario.service_level_definition)
        # Of the levels the one that is known least well.
        worst = max(self.levels, key=lambda level: largest_error(level.performance), default=None)
        lines = [text, *_endless(self.scenario, self.levels)]
        return "\n".join([*lines, method_note(worst.performance)] if worst else lines)


def _endless(scenario: Scenario, levels: Iterable[Level]) -> list[str]:
    """A line on the levels at which no roster's queue settles."""
    found = [level for level in levels if level.rosters.share_unstable == 1]
    if not found:
        return []
    most = max(found, key=lambda level: level.performance.throughput)
    answered = most.performance.throughput * 3600
    text = (
        f"callers never give up: {heads(most.agents)} answer {answered:.6g} calls per hour at most, "
        f"{scenario.calls_per_hour:.6g} come, and the queue grows without end"
    )
    return [textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ")]
