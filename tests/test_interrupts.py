"""Ctrl-C ends long work within a second, whatever it is at."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from staffing import optimize_staffing, simulate_staffing

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")

CENTRE = """\
mean_handle_seconds = 180
mean_patience_seconds = 120
agent_cost_per_hour = 30
abandonment_cost = 2.5
"""
IN_PYTHON = f"from staffing import *; centre = dict({', '.join(CENTRE.splitlines())}, progress=True); "
SIMULATE = "simulate_staffing(**centre, calls_per_hour={calls}, agents={agents}, rosters=10**9)"
AVERAGE = "evaluate_staffing(**centre, calls_per_hour=40_000, agents=2000, method='rosters', rosters=10_000)"
OPTIMIZE = "optimize_staffing(**centre, calls_per_hour={calls}, check_seconds=600)"


def seconds_and_code(command, folder):
    """Seconds from the interrupt of a process that has drawn its progress bar to its last words, and its exit code.

    It says them when its threads are gone. What then passes until it is gone itself is not ours: Python takes a third
    of a second to put away a compiler, and more beside other tests.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stderr=pipe, stdout=pipe, text=True) as process:
        assert "%" in until("%", process.stderr)
        time.sleep(0.5)
        assert process.poll() is None
        begun = time.perf_counter()
        process.send_signal(signal.SIGINT)
        said = until("interrupt", process.stderr)
        seconds = time.perf_counter() - begun
        process.communicate(timeout=30)
        assert "interrupt" in said.lower()
        return seconds, process.returncode


def until(word, stream):
    said = ""
    while word not in said.lower() and (letter := stream.read(1)):
        said += letter
    return said


@pytest.mark.slow
@pytest.mark.parametrize(
    "job",
    [
        SIMULATE.format(calls=1200, agents=60),
        SIMULATE.format(calls=2e7, agents=1_000_000),
        SIMULATE.format(calls=1, agents=1_000_000),
        AVERAGE,
        OPTIMIZE.format(calls=2e5),
        OPTIMIZE.format(calls=2e6),
    ],
)
def test_python_is_interrupted_within_a_second(tmp_path, job):
    seconds, code = seconds_and_code([sys.executable, "-c", IN_PYTHON + job], tmp_path)
    assert code in (1, -signal.SIGINT, 128 + signal.SIGINT)
    assert seconds < 1


@pytest.mark.slow
def test_the_command_line_is_interrupted_within_a_second_with_code_130(tmp_path):
    (tmp_path / "s.toml").write_text(CENTRE + "calls_per_hour = 200_000\n")
    command = [sys.executable, "-m", "staffing", "optimize", "s.toml", "--check-seconds=600", "--progress"]
    seconds, code = seconds_and_code(command, tmp_path)
    assert code == 130
    assert seconds < 1


@pytest.mark.parametrize("after", [1, 5])
@pytest.mark.parametrize(
    "job",
    [
        lambda fields: simulate_staffing(**fields, agents=60, rosters=10**9),
        lambda fields: optimize_staffing(**fields, abandonment_cost=2.5, check_seconds=600),
    ],
)
def test_no_thread_is_left_behind(monkeypatch, job, after):
    calls = []

    class Interrupting:
        n = 0

        def __init__(self, **options):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *failure):
            calls.append("closed")

        def update(self, done):
            calls.append(done)
            if len(calls) == after:
                raise KeyboardInterrupt

    monkeypatch.setattr("tqdm.tqdm", Interrupting)
    before = threading.enumerate()
    fields = {"calls_per_hour": 1200, "mean_handle_seconds": 180, "mean_patience_seconds": 120}
    with pytest.raises(KeyboardInterrupt):
        job(fields | {"progress": True})
    assert threading.enumerate() == before
    assert len(calls) == after + 1
    assert calls[-1] == "closed"
