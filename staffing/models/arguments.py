"""Refusing a bad argument where it enters, by name, value and limit."""

import math
from numbers import Integral, Real

from staffing.models.errors import ScenarioError


def number(name: str, value: object) -> float:
    """`value` as a float, refused if it is not a real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ScenarioError(f"{name}: {value!r} is not a number")
    result = float(value)
    if math.isnan(result):
        raise ScenarioError(f"{name}: nan is not a number that can be worked with")
    return result


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    result = number(name, value)
    if not 0 < result < math.inf:
        raise ScenarioError(f"{name}: {value!r} must be above 0 and finite")
    return result


def non_negative(name: str, value: object, *, infinite: bool = False) -> float:
    """A number of at least zero; finite unless `infinite`."""
    result = number(name, value)
    if result < 0 or (not infinite and result == math.inf):
        raise ScenarioError(f"{name}: {value!r} must be at least 0" + ("" if infinite else " and finite"))
    return result


def count(name: str, value: object) -> int:
    """A whole number of at least zero."""
    if isinstance(value, Real) and not isinstance(value, (bool, Integral)) and float(value).is_integer():
        value = int(float(value))
    if isinstance(value, bool) or not isinstance(value, Integral):
        hint = ""
        if isinstance(value, float) and math.isfinite(value):
            hint = f"; the whole numbers next to it are {math.floor(value)} and {math.ceil(value)}"
        raise ScenarioError(f"{name}: {value!r} must be a whole number{hint}")
    if value < 0:
        raise ScenarioError(f"{name}: {value!r} must be at least 0")
    return int(value)
