"""Times what it is given and, at the end, prints all of it as one table."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.table import Row, lines

ROW = "row"


@pytest.fixture
def write_row(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Writes a figure into the table: `write_row(what, who, value, unit)`."""

    def write(*row: Any) -> None:
        record_property(ROW, Row(*row))

    return write


@pytest.fixture
def timed(benchmark: BenchmarkFixture, write_row: Callable[..., None]) -> Callable[..., list[Any]]:
    """Times rounds of `function(*round)`, after a warm-up, into a row of the table; gives what they returned."""

    def time(
        what: str,
        who: str,
        function: Callable[..., Any],
        rounds: list[tuple[Any, ...]],
        *,
        per: int = 1,
        statistic: str = "min",
    ) -> list[Any]:
        results: list[Any] = []
        ahead = iter([rounds[0], *rounds])
        benchmark.pedantic(
            lambda *arguments: results.append(function(*arguments)),
            setup=lambda: (next(ahead), {}),
            rounds=len(rounds),
            warmup_rounds=1,
        )
        if benchmark.enabled:
            write_row(what, who, benchmark.stats[statistic] / per, "s")
        return results[-len(rounds) :]

    return time


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.getreports("passed")
    rows = [row for report in reports for name, row in report.user_properties if name == ROW]
    if rows:
        terminalreporter.section("staffing and its peers")
        for line in lines(rows):
            terminalreporter.write_line(line)
