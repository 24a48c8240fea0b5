"""A large centre asks for little memory."""

import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="this system does not tell a process's peak memory")

CODE = """
import resource, sys

import staffing.curve, staffing.levels
from staffing import evaluate_staffing

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)

before = peak()
evaluate_staffing(
    calls_per_hour=200_000, mean_handle_seconds=180, mean_patience_seconds=120, min_service_level=0.8,
    agents=10_000, method=sys.argv[1],
)
print(peak() - before)
"""


@pytest.mark.parametrize("method", ["auto", "rosters"])
def test_ten_thousand_agents_are_answered_for_within_150_megabytes(method):
    done = subprocess.run([sys.executable, "-c", CODE, method], check=True, capture_output=True, text=True)
    assert float(done.stdout) < 150
