"""The command `staffing`: init, optimize, evaluate. Results go to stdout alone, messages to stderr."""

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from staffing.models.errors import Infeasible, ScenarioError, StaffingError

AGREES, DISAGREES, BAD_INPUT, NO_LEVEL = 0, 1, 2, 3
"""Exit codes; an inconclusive check exits like one that agrees and says so on stderr."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    0 if the check agrees or is inconclusive or was not asked for, 1 if it disagrees, 2 for bad input, 3 if no level
    does what was asked, 130 if interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What a terminal cannot show is shown as an escape, rather than not at all.
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except ScenarioError as error:
        return _say(error, BAD_INPUT)
    except Infeasible as error:
        return _say(error, NO_LEVEL)
    except StaffingError as error:
        return _say(error, BAD_INPUT)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except BrokenPipeError:
        # Whoever read the output has had enough of it, as `head` has.
        _abandon_output()
        return AGREES
    except OSError as error:
        _abandon_output()
        return _say(f"the output cannot be written: {error.strerror or error}", BAD_INPUT)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"staffing {version('staffing')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="staffing", description="How many agents a call centre needs when agents are not alike."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    init = commands.add_parser("init", help="write a commented scenario to start from")
    init.add_argument(
        "file", nargs="?", default="scenario.toml", metavar="FILE", help="default scenario.toml"
    )
    init.set_defaults(run=_init)

    optimize = commands.add_parser("optimize", help="the cheapest number of agents that keeps every promise")
    _scenario_arguments(optimize)
    optimize.add_argument("--csv", metavar="FILE", help="write the levels around the answer")
    optimize.add_argument(
        "--seed", type=int, default=0, help="seed of the check and of the rosters (default 0)"
    )
    optimize.add_argument("--no-check", action="store_true", help="do not simulate")
    optimize.add_argument(
        "--check-seconds", type=float, default=1.0, metavar="S", help="time for the check (default 1)"
    )
    _averaging_arguments(optimize)
    optimize.set_defaults(run=_optimize)

    evaluate = commands.add_parser("evaluate", help="what comes of given numbers of agents")
    _scenario_arguments(evaluate)
    evaluate.add_argument("--agents", nargs="+", required=True, metavar="N", help="numbers of agents")
    evaluate.add_argument("--csv", metavar="FILE", help="write the levels")
    evaluate.add_argument("--seed", type=int, default=0, help="seed of the rosters (default 0)")
    _averaging_arguments(evaluate)
    evaluate.set_defaults(run=_evaluate)
    return parser


def _scenario_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", metavar="SCENARIO.toml", help="a file that `staffing init` begins")
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="FIELD=VALUE",
        help="replace fields of the file",
    )


def _averaging_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method",
        default="auto",
        metavar="NAME",
        help="average over rosters by auto, closure, rosters or diffusion (default auto)",
    )
    parser.add_argument(
        "--rosters",
        default="1000",
        metavar="N",
        help="rosters to average over, if it is by them (default 1000)",
    )
    parser.add_argument("--progress", action="store_true", help="show how far long work is (needs tqdm)")


def _init(options: argparse.Namespace) -> int:
    from staffing.scenario_template import scenario_template
    from staffing.whole_file import write_whole

    if Path(options.file).exists():
        raise StaffingError(f"{options.file}: is there already; name another file or remove it")
    write_whole(options.file, scenario_template())
    _tell(f"{options.file} written; edit it, then: staffing optimize {options.file}")
    return AGREES


def _optimize(options: argparse.Namespace) -> int:
    from staffing.compiling import announce
    from staffing.planning import optimize_staffing
    from staffing.scenario_file import read_scenario

    scenario = read_scenario(options.scenario, options.set)
    announce()
    plan = optimize_staffing(
        scenario,
        seed=options.seed,
        check=not options.no_check,
        check_seconds=options.check_seconds,
        method=options.method,
        rosters=_whole(options.rosters, "rosters"),
        progress=options.progress,
    )
    if options.csv is not None:
        plan.to_csv(options.csv)
    print(plan)
    for warning in plan.warnings:
        _tell(f"warning: {warning}")
    if plan.check and plan.check.verdict != "agrees":
        _tell(f"check {plan.check.verdict}: {plan.check.reason}")
    return DISAGREES if plan.check and plan.check.verdict == "disagrees" else AGREES


def _evaluate(options: argparse.Namespace) -> int:
    from staffing.compiling import announce
    from staffing.planning import evaluate_staffing
    from staffing.scenario_file import read_scenario

    scenario = read_scenario(options.scenario, options.set)
    agents = [_whole(text) for text in options.agents]
    announce()
    curve = evaluate_staffing(
        scenario,
        agents=agents,
        seed=options.seed,
        method=options.method,
        rosters=_whole(options.rosters, "rosters"),
        progress=options.progress,
    )
    if options.csv is not None:
        curve.to_csv(options.csv)
    print(curve)
    for warning in scenario.warnings():
        _tell(f"warning: {warning}")
    return AGREES


def _whole(text: str, name: str = "--agents") -> int:
    from staffing.models.arguments import count

    try:
        return count(name, float(text))
    except ValueError as error:
        if isinstance(error, ScenarioError):
            raise
        raise ScenarioError(f"{name}: {text!r} must be a whole number") from None


def _abandon_output() -> None:
    """Keep Python from trying to write the rest of the output when it exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(line: str) -> None:
    # Without a standard error, print() would turn to standard output, which is for the result alone.
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def _say(message: object, code: int) -> int:
    for line in str(message).splitlines():
        _tell(f"staffing: {line}")
    return code
