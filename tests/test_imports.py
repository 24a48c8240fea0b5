"""`import staffing` is quick: what is heavy is loaded by the name that needs it."""

import subprocess
import sys
from pathlib import Path

import pytest

import staffing

ROOT = Path(__file__).resolve().parents[1]
FOR_LATER = {"cvxpy", "matplotlib", "numba", "pandas"}


def loaded_by(code: str) -> set[str]:
    """Top-level modules in memory after `code` has run in a Python of its own."""
    code += "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_the_package_alone_loads_nothing_heavy():
    assert not loaded_by("import staffing") & (FOR_LATER | {"numpy", "scipy"})


def test_a_scenario_loads_no_compiler_and_no_tables():
    code = """
from staffing import Scenario, optimize_staffing
Scenario(calls_per_hour=1200, mean_handle_seconds=180, mean_patience_seconds=120, min_service_level=0.8)
"""
    assert not loaded_by(code) & FOR_LATER


def test_loaded_by_sees_what_is_loaded():
    assert {"numpy", "sys"} <= loaded_by("import numpy.linalg")


def test_every_public_name_resolves_and_is_listed():
    assert {"Scenario", "optimize_staffing", "__version__"} <= set(dir(staffing))
    assert len(set(staffing.__all__)) == len(staffing.__all__)
    for name in staffing.__all__:
        assert getattr(staffing, name) is not None
        assert name in dir(staffing)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="optimise_staffing"):
        staffing.optimise_staffing  # noqa: B018
    with pytest.raises(ImportError, match="optimise_staffing"):
        from staffing import optimise_staffing  # noqa: F401
