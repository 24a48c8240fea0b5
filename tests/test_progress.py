"""Bars on standard error and nowhere else, and only for whoever asks."""

import sys

import pytest

from staffing import Scenario, StaffingError, optimize_staffing, simulate_staffing
from staffing.command_line import main
from staffing.progress import progress_bar

SCENARIO = Scenario(
    calls_per_hour=1200, mean_handle_seconds=180, mean_patience_seconds=120, abandonment_cost=2.5
)


def test_a_bar_is_drawn_on_standard_error_and_wiped_off(capsys):
    with progress_bar(True, "check", 10, "s") as advance:
        for _ in range(3):
            advance(4)  # more than there is
        drawn = capsys.readouterr()
    assert drawn.out == ""
    assert "check:   0%" in drawn.err
    after = capsys.readouterr()
    assert after.out == ""
    assert after.err.endswith("\r")


def test_no_bar_says_nothing(capsys):
    with progress_bar(False, "check", 10, "s") as advance:
        advance(10)
    assert capsys.readouterr() == ("", "")


def test_a_bar_does_not_hide_a_failure():
    with pytest.raises(KeyboardInterrupt), progress_bar(True, "check", 10, "s"):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "job",
    [
        lambda **options: simulate_staffing(SCENARIO, agents=60, rosters=128, **options),
        lambda **options: optimize_staffing(SCENARIO, check_seconds=0.01, **options),
    ],
)
def test_work_shows_its_progress_on_demand(capsys, job):
    job()
    assert capsys.readouterr() == ("", "")
    job(progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "0%" in err


def test_progress_changes_no_result():
    with_bar, without = (
        simulate_staffing(SCENARIO, agents=60, rosters=128, progress=shown) for shown in (True, False)
    )
    assert with_bar == without


def test_without_tqdm_one_is_told_how_to_get_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    simulate_staffing(SCENARIO, agents=60, rosters=128)
    with pytest.raises(StaffingError, match=r"pip install 'staffing\[progress\]'"):
        simulate_staffing(SCENARIO, agents=60, rosters=128, progress=True)
    (tmp_path / "s.toml").write_text(
        "calls_per_hour = 1200\nmean_handle_seconds = 180\nmean_patience_seconds = 120\nmin_service_level = 0.8\n"
    )
    assert main(["optimize", str(tmp_path / "s.toml"), "--progress"]) == 2
    assert "staffing[progress]" in capsys.readouterr().err
