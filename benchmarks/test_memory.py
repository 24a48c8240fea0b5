"""How much memory 10,000 agents take, above what the imports and the compiled code do."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.table import OURS

# The kernel's own count: `getrusage` would start from the size of the process that started this one.
PROGRAM = """
from staffing import curve, levels, evaluate_staffing

def memory(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(name))

def evaluate(agents):
    return evaluate_staffing(
        calls_per_hour=20 * agents, mean_handle_seconds=180, mean_patience_seconds=120, rate_cv=0.2, agents=agents
    ).performance.wait_probability

imports = memory("VmRSS")
evaluate(10)
small = memory("VmRSS")
print(evaluate(10_000), memory("VmHWM") - imports, memory("VmHWM") - small)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux")
def test_ten_thousand_agents(write_row: Callable) -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    wait_probability, above_imports, above_small = map(float, run.stdout.split())
    assert 0.3 < wait_probability < 0.7
    write_row("memory: 10,000 agents, above the imports", OURS, above_imports, "MB")
    write_row("memory: 10,000 agents, above 10 agents", OURS, above_small, "MB")
