"""The first run says that it compiles; later ones are silent."""

import os
import subprocess
import sys
import time

import pytest

SCENARIO = """\
calls_per_hour = 1200
mean_handle_seconds = 180
mean_patience_seconds = 120
min_service_level = 0.8
"""


def run(code_or_arguments, cache):
    return subprocess.run(
        [sys.executable, *code_or_arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def seconds_of_children():
    """Processor seconds of the processes waited for, or the clock's where nobody counts them.

    Compiling runs on one core, so on an idle machine this is the time it takes; on a busy one that is longer.
    """
    counted = os.times()
    return counted.children_user + counted.children_system if os.name == "posix" else time.perf_counter()


ANNOUNCE = ["-c", "from staffing.compiling import announce; announce()"]


def test_an_empty_cache_is_announced_on_stderr(tmp_path):
    done = run(ANNOUNCE, tmp_path / "cache")
    assert (done.returncode, done.stdout) == (0, "")
    assert "compiling" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_first_run_compiles_says_so_and_takes_half_a_minute_at_most(tmp_path):
    (tmp_path / "s.toml").write_text(SCENARIO)
    command = ["-m", "staffing", "optimize", str(tmp_path / "s.toml"), "--check-seconds", "0.2"]
    begun = seconds_of_children()
    first = run(command, tmp_path / "cache")
    assert seconds_of_children() - begun < 30
    assert first.returncode == 0
    assert first.stderr.splitlines()[0].startswith("staffing: first run")
    assert "compiling" not in first.stdout

    begun = seconds_of_children()
    later = run(command, tmp_path / "cache")
    assert later.returncode == 0
    assert "compiling" not in later.stderr
    assert seconds_of_children() - begun < 10
    assert run(ANNOUNCE, tmp_path / "cache").stderr == ""
