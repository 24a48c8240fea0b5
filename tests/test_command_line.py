"""The command line: results on stdout, messages on stderr, exit codes, and never a traceback."""

import csv
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

import staffing.solving
from staffing import evaluate_staffing, optimize_staffing, read_scenario
from staffing.check import Check
from staffing.command_line import main

ORDINARY = """\
calls_per_hour = 1200
mean_handle_seconds = 180
mean_patience_seconds = 120
agent_cost_per_hour = 30
min_service_level = 0.8
"""
posix = pytest.mark.skipif(os.name != "posix", reason="needs the pipes and signals of POSIX")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(ORDINARY)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run the command line in this process: exit code, stdout, stderr."""

    def command(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as leave:
            code = leave.code
        out, err = capsys.readouterr()
        return code, out, err

    return command


def process(*arguments, **options):
    """Run it in a process of its own."""
    options = {"capture_output": True, "encoding": "utf-8", "timeout": 60} | options
    return subprocess.run([sys.executable, "-m", "staffing", *arguments], **options)


def optimize(*arguments):
    return ("optimize", "s.toml", "--no-check", *arguments)


class TestInit:
    def test_it_writes_a_scenario_that_can_be_optimised(self, run, here):
        code, out, err = run("init")
        assert (code, out) == (0, "")
        assert "scenario.toml" in err
        read_scenario("scenario.toml").require_goal()
        assert run("optimize", "scenario.toml", "--no-check")[0] == 0

    def test_it_takes_a_name(self, run, here):
        assert run("init", "monday.toml")[0] == 0
        assert (here / "monday.toml").read_text().startswith("#")

    def test_it_overwrites_nothing(self, run, here):
        code, out, err = run("init", "s.toml")
        assert (code, out) == (2, "")
        assert "s.toml: is there already" in err
        assert (here / "s.toml").read_text() == ORDINARY

    @pytest.mark.parametrize("where", ["none/s.toml", "s.toml/t.toml", "."])
    def test_what_cannot_be_written_is_said(self, run, where):
        code, out, err = run("init", where)
        assert (code, out) == (2, "")
        assert where in err
        assert len(err.splitlines()) == 1


class TestOptimize:
    def test_stdout_is_the_plan_and_nothing_else(self, run):
        code, out, err = run(*optimize())
        assert (code, err) == (0, "")
        assert out == f"{optimize_staffing(read_scenario('s.toml'), check=False)}\n"

    def test_settings_replace_fields(self, run):
        assert (
            "Friday: 66 agents"
            in run(*optimize("--set", "mean_patience_seconds=inf", "rate_cv=0", "--set", "name=Friday"))[1]
        )
        assert "92.0% within 20 s" in run(*optimize("--set", "min_service_level=0.92"))[1]

    def test_settings_can_take_a_promise_away(self, run):
        code, out, _ = run(*optimize("--set", "min_service_level=none", "max_abandonment=0.1", "rate_cv=0"))
        assert code == 0
        assert "56 agents" in out

    def test_csv_is_the_table_of_the_plan(self, run, here):
        code, out, _ = run(*optimize("--csv", "what_if.csv"))
        assert code == 0
        assert "agents" in out
        with open("what_if.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        plan = optimize_staffing(read_scenario("s.toml"), check=False)
        assert [int(row["agents"]) for row in rows if row["recommended"] == "True"] == [plan.agents]
        assert len(rows) == len(plan.curve)
        assert sorted(path.name for path in here.iterdir()) == ["s.toml", "what_if.csv"]

    @pytest.mark.parametrize("where", ["none/f.csv", "s.toml/f.csv", ".", ""])
    def test_a_csv_that_cannot_be_written_leaves_nothing_half_said(self, run, where, here):
        code, out, err = run(*optimize("--csv", where))
        assert (code, out) == (2, "")
        assert f"{where}: cannot be written" in err
        assert len(err.splitlines()) == 1
        assert [path.name for path in here.iterdir()] == ["s.toml"]

    def test_warnings_go_to_stderr_and_into_the_plan(self, run):
        code, out, err = run(*optimize("--set", "calls_per_hour=0"))
        assert code == 0
        assert err.startswith("warning: calls_per_hour = 0")
        assert "staff nobody" in out

    @pytest.mark.parametrize(("verdict", "code"), [("agrees", 0), ("inconclusive", 0), ("disagrees", 1)])
    def test_the_verdict_is_the_exit_code(self, run, monkeypatch, verdict, code):
        check = Check(
            verdict=verdict,
            reason="" if verdict == "agrees" else "mean_wait at 60 agents",
            rows=(),
            neighbours=(),
            assumes=(),
            replications=0,
            calls=0,
            seed=0,
            false_alarm_rate=1e-4,
            seconds=0.1,
        )
        asked = {}
        monkeypatch.setattr(
            staffing.solving, "check_level", lambda *given, **options: asked.update(options) or check
        )
        got, out, err = run("optimize", "s.toml", "--seed", "7", "--check-seconds", "0.25")
        assert got == code
        assert asked == {"seed": 7, "seconds": 0.25, "progress": False}
        assert verdict in out
        assert err == ("" if verdict == "agrees" else f"check {verdict}: mean_wait at 60 agents\n")

    def test_no_check_is_no_check(self, run, monkeypatch):
        monkeypatch.setattr(staffing.solving, "check_level", None)
        assert run(*optimize())[0] == 0

    def test_no_level_exits_with_3(self, run):
        code, out, err = run(*optimize("--set", "max_agents=50"))
        assert (code, out) == (3, "")
        assert err.startswith("staffing: min_service_level = 0.8")
        assert "50 agents reach 0." in err
        assert all(line.startswith("staffing: ") for line in err.splitlines())

    def test_no_goal_exits_with_2(self, run):
        code, out, err = run(*optimize("--set", "min_service_level=none"))
        assert (code, out) == (2, "")
        assert "no promise and no cost" in err


class TestEvaluate:
    def test_stdout_is_the_curve_and_nothing_else(self, run):
        code, out, err = run("evaluate", "s.toml", "--agents", "60", "61", "59")
        assert (code, err) == (0, "")
        assert out == f"{evaluate_staffing(read_scenario('s.toml'), agents=[60, 61, 59])}\n"

    def test_method_rosters_and_seed(self, run):
        options = {"method": "rosters", "rosters": 200, "seed": 3}
        flags = [text for name, value in options.items() for text in (f"--{name}", str(value))]
        code, out, _ = run("evaluate", "s.toml", "--agents", "60", "61", *flags, "--csv", "f.csv")
        assert (code, out) == (
            0,
            f"{evaluate_staffing(read_scenario('s.toml'), agents=[60, 61], **options)}\n",
        )
        with open("f.csv", encoding="utf-8", newline="") as file:
            assert {row["method"] for row in csv.DictReader(file)} == {"exact law of 200 rosters"}
        plan = run("optimize", "s.toml", "--no-check", *flags)[1]
        assert "exact law of 200 rosters" in plan

    def test_broken_promises_and_no_goal_are_no_error(self, run):
        assert run("evaluate", "s.toml", "--agents", "0", "30")[0] == 0
        assert run("evaluate", "s.toml", "--agents", "60", "--set", "min_service_level=none")[0] == 0

    def test_csv(self, run):
        assert run("evaluate", "s.toml", "--agents", "60", "62", "--csv", "f.csv")[0] == 0
        with open("f.csv", encoding="utf-8", newline="") as file:
            assert [row["agents"] for row in csv.DictReader(file)] == ["60", "62"]
        for where in ("none/f.csv", ""):
            code, out, err = run("evaluate", "s.toml", "--agents", "60", "--csv", where)
            assert (code, out) == (2, "")
            assert f"{where}: cannot be written" in err

    @pytest.mark.parametrize(
        ("agents", "words"),
        [
            ("-1", "-1 must be at least 0"),
            ("13.5", "13.5 must be a whole number; the whole numbers next to it are 13 and 14"),
            ("x", "'x' must be a whole number"),
            ("", "'' must be a whole number"),
            ("nan", "nan must be a whole number"),
            ("inf", "inf must be a whole number"),
            ("60,61", "'60,61' must be a whole number"),
            ("2000001", "2000001 is more than 2000000"),
            ("99999999999999999999", "is more than 2000000"),
        ],
    )
    def test_bad_numbers_of_agents_are_one_clear_line(self, run, agents, words):
        code, out, err = run("evaluate", "s.toml", "--agents", "60", agents)
        assert (code, out) == (2, "")
        assert len(err.splitlines()) == 1
        assert "agents" in err
        assert words in err

    def test_whole_numbers_of_agents_may_be_written_as_spreadsheets_do(self, run):
        assert run("evaluate", "s.toml", "--agents", "13.0", "6e1") == run(
            "evaluate", "s.toml", "--agents", "13", "60"
        )

    def test_warnings_go_to_stderr(self, run):
        code, _, err = run("evaluate", "s.toml", "--agents", "60", "--set", "mean_handle_seconds=5000")
        assert code == 0
        assert err.startswith("warning: ")


@pytest.mark.parametrize("command", [("optimize",), ("evaluate", "--agents", "60")])
class TestBadScenarios:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"\x89PNG\r\n\x1a\n\x00\xff", "bad.toml:1: is not UTF-8"),
            (b"a\x00b", "bad.toml:1: "),
            (b"calls_per_hour = 5\nmean_handle_seconds 7\n", "bad.toml:2: is not TOML"),
            (b"", "calls_per_hour is missing"),
            (ORDINARY.encode() + b"min_service_lvl = 0.9\n", "bad.toml:6: .*did you mean min_service_level"),
            (ORDINARY.replace("0.8", "80").encode(), "bad.toml:5: min_service_level = 80.*write 0.8"),
            (ORDINARY.replace("1200", "nan").encode(), "bad.toml:1: calls_per_hour = nan"),
            (ORDINARY.replace("180", '"180"').encode(), "bad.toml:2: mean_handle_seconds = '180'"),
        ],
    )
    def test_they_are_refused_with_their_line(self, run, here, command, content, words):
        (here / "bad.toml").write_bytes(content)
        code, out, err = run(command[0], "bad.toml", *command[1:])
        assert (code, out) == (2, "")
        assert err.startswith("staffing: ")
        assert "Traceback" not in err
        import re

        assert re.search(words, err)

    @pytest.mark.parametrize("path", ["none.toml", "none/none.toml", ".", "s.toml/x", ""])
    def test_what_cannot_be_read_is_one_clear_line(self, run, command, path):
        code, out, err = run(command[0], path, *command[1:])
        assert (code, out) == (2, "")
        assert len(err.splitlines()) == 1

    @pytest.mark.parametrize(
        ("setting", "words"),
        [
            ("min_service_level", "must read field=value"),
            ("min_service_level=80%", "write 0.8"),
            ("min_servicelevel=0.9", "did you mean min_service_level"),
            ("calls_per_hour=", "--set: calls_per_hour"),
            ("=5", "--set"),
        ],
    )
    def test_bad_settings_say_that_they_are_settings(self, run, command, setting, words):
        code, out, err = run(command[0], "s.toml", *command[1:], "--set", setting)
        assert (code, out) == (2, "")
        assert "--set" in err
        assert words in err

    def test_every_problem_is_listed_each_on_a_line(self, run, here, command):
        (here / "bad.toml").write_text("calls_per_hour = -1\nmean_handle_seconds = 0\nshrinkage = 30\n")
        code, _, err = run(command[0], "bad.toml", *command[1:], "--set", "rate_cv=20")
        assert code == 2
        starts = ["bad.toml:1: ", "bad.toml:2: ", "bad.toml:3: ", "--set: ", "bad.toml: "]
        assert all(any(line.startswith(f"staffing: {s}") for line in err.splitlines()) for s in starts)
        assert len(err.splitlines()) == 5


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("optimise", "s.toml"),
        ("optimize",),
        ("optimize", "s.toml", "--agents", "5"),
        ("optimize", "s.toml", "--seed", "x"),
        ("optimize", "s.toml", "--seed", "1.5"),
        ("optimize", "s.toml", "--seed"),
        ("optimize", "s.toml", "--check-seconds", "soon"),
        ("optimize", "s.toml", "t.toml"),
        ("evaluate", "s.toml"),
        ("evaluate", "s.toml", "--agents"),
        ("init", "a", "b"),
        ("--nonsense",),
    ],
)
def test_arguments_that_make_no_sense_exit_with_2(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "usage: staffing" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--seed", "-1"), "seed: -1 must be at least 0"),
        (("--check-seconds", "-1"), "check_seconds: -1.0 must be above 0"),
        (("--check-seconds", "0"), "check_seconds: 0.0 must be above 0"),
        (("--check-seconds", "nan"), "check_seconds: nan"),
        (("--check-seconds", "inf"), "check_seconds: inf"),
        (("--method", "magic"), "method: 'magic' is not known; known are auto, closure, rosters, diffusion"),
        (("--rosters", "99"), "rosters: 99 must be from 100 to 100000"),
    ],
)
def test_options_out_of_range_are_one_clear_line(run, arguments, words):
    code, out, err = run("optimize", "s.toml", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"staffing: {words}")
    assert len(err.splitlines()) == 1


def test_help_is_no_error(run):
    for arguments in (("--help",), ("init", "-h"), ("optimize", "--help"), ("evaluate", "--help")):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        assert "usage: staffing" in out


def test_interrupted_is_130_and_no_traceback(run, monkeypatch):
    def interrupt(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(staffing.solving, "check_level", interrupt)
    assert run("optimize", "s.toml") == (130, "", "staffing: interrupted\n")


class TestProcess:
    def test_python_m_staffing_is_the_command(self):
        done = process(*optimize())
        assert (done.returncode, done.stderr) == (0, "")
        assert "agents" in done.stdout.splitlines()[0]
        assert process("evaluate", "s.toml", "--agents", "x").returncode == 2
        assert process(*optimize("--set", "max_agents=5")).returncode == 3

    def test_a_checked_plan_agrees_or_says_why_not(self):
        done = process("optimize", "s.toml", "--check-seconds", "2")
        assert done.returncode == 0
        verdict = "agrees" if not done.stderr else "inconclusive"
        assert f"check           {verdict}" in done.stdout
        assert done.stderr == "" or done.stderr.startswith("check inconclusive: ")

    @posix
    def test_a_reader_that_has_had_enough_is_no_error(self):
        read, write = os.pipe()
        os.close(read)
        try:
            done = process(
                "evaluate", "s.toml", "--agents", *map(str, range(200)),
                stdout=write, stderr=subprocess.PIPE, capture_output=False,
            )  # fmt: skip
        finally:
            os.close(write)
        assert done.stderr == ""
        assert done.returncode == 0

    @posix
    def test_head_gets_its_line(self):
        command = f"{shlex.quote(sys.executable)} -m staffing optimize s.toml --no-check | head -1"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
        assert done.stdout.count("\n") == 1
        assert done.stderr == ""

    @posix
    def test_csv_goes_into_a_pipe(self):
        done = process(*optimize("--csv", "/dev/stdout"))
        assert done.returncode == 0
        assert done.stdout.startswith("name,agents,recommended,")
        assert "\nStaffing plan: " in done.stdout

    @posix
    def test_control_c_while_reading_is_130(self, here):
        os.mkfifo(here / "slow.toml")
        started = subprocess.Popen(
            [sys.executable, "-m", "staffing", "optimize", "slow.toml"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with open(here / "slow.toml", "w"):  # returns when the other end is opened
            time.sleep(0.2)
            started.send_signal(signal.SIGINT)
            out, err = started.communicate(timeout=30)
        assert (started.returncode, out, err) == (130, "", "staffing: interrupted\n")

    @posix
    def test_control_c_while_checking_is_130_and_soon(self):
        code = """
import os, signal, sys, threading
from staffing.command_line import main
main(["evaluate", "s.toml", "--agents", "60"])
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
sys.exit(main(["optimize", "s.toml", "--check-seconds", "40", "--set", "rate_cv=1", "calls_per_hour=40000"]))
"""
        begun = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert done.returncode == 130
        assert done.stderr == "staffing: interrupted\n"
        assert time.perf_counter() - begun < 25

    def test_a_terminal_without_unicode_gets_the_plan(self):
        ascii_only = {"env": os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}}
        done = process(*optimize("--set", "name=früh"), **ascii_only)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("fr\\xfch: 60 agents")
        done = process("optimize", "früh.toml", **ascii_only)
        assert (done.returncode, done.stdout) == (2, "")
        assert "fr\\xfch.toml" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
    def test_a_full_disk_is_one_clear_line(self):
        with open("/dev/full", "w") as full:
            done = process(*optimize(), stdout=full, stderr=subprocess.PIPE, capture_output=False)
        assert done.returncode == 2
        assert "No space left" in done.stderr
        assert len(done.stderr.splitlines()) == 1

    @posix
    @pytest.mark.parametrize("csv", ["", " --csv f.csv"])
    def test_a_closed_stdout_is_no_traceback(self, csv, here):
        command = f"{shlex.quote(sys.executable)} -m staffing optimize s.toml --no-check{csv} >&-"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        assert (here / "f.csv").exists() == bool(csv)

    @posix
    @pytest.mark.parametrize("csv", ["/dev/stdout", "out.txt"])
    def test_csv_and_plan_in_one_file(self, here, csv):
        with open(here / "out.txt", "w") as out:
            done = process(*optimize("--csv", csv), stdout=out, stderr=subprocess.PIPE, capture_output=False)
        assert (done.returncode, done.stderr) == (0, "")
        content = (here / "out.txt").read_text()
        assert content.startswith("name,agents,recommended,")
        assert "\nStaffing plan: " in content
