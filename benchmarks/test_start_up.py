"""Whole processes, from nothing to an answer, with warm caches: the median, as a user waits for all of it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.table import OURS

BANK = str(Path(__file__).parents[1] / "case_studies" / "bank_1999" / "scenario.toml")
LINE = "from line_solver.api.qsys import qsys_erlanga"
IMPORT, ANSWER, PLAN = "process: import", "process: one level", "process: checked plan"


def run(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("what", "who", "arguments", "says"),
    [
        (IMPORT, OURS, ("-c", "import staffing"), ""),
        (IMPORT, "Python alone", ("-c", ""), ""),
        (IMPORT, "SimPy", ("-c", "import simpy"), ""),
        (IMPORT, "Ciw", ("-c", "import ciw"), ""),
        (IMPORT, "LINE", ("-c", LINE), ""),
        (ANSWER, OURS, ("-m", "staffing", "evaluate", BANK, "--agents", "9"), "83.4%"),
        (ANSWER, "LINE", ("-c", f"{LINE}; print(qsys_erlanga(6.466, 1, 0.5432, 9)['probAbandon'])"), "0.0"),
        (PLAN, OURS, ("-m", "staffing", "optimize", BANK), "9 agents"),
    ],
)
def test_process(timed: Callable, what: str, who: str, arguments: tuple[str, ...], says: str) -> None:
    assert says in timed(what, who, run, [arguments] * 5, statistic="median")[0]
