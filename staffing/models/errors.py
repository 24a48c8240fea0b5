"""What can go wrong, by kind, so that a caller can tell bad input from a promise nobody can keep."""

from collections.abc import Iterable


class StaffingError(Exception):
    """Base of every error this package raises on purpose."""


class ScenarioError(StaffingError, ValueError):
    """The input cannot be used.

    Parameters
    ----------
    problems : str or iterable of str
        One clear line each: what was given, what is needed, what to do.
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class Infeasible(StaffingError):
    """No staffing level does what was asked; the text says which requirement fails and by how much."""
