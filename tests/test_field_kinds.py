"""Lists of numbers, as planners and tables hold them."""

import array
from collections import deque
from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staffing.field_kinds import MOST_NUMBERS, Numbers
from staffing.models.errors import ScenarioError

RATES = Numbers("rates", example=(18.5, 21), low=1, high=100)


def refusal(value):
    with pytest.raises(ScenarioError) as caught:
        RATES.read(value)
    (line,) = caught.value.problems
    return line


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        deque,
        np.array,
        pd.Series,
        pd.Index,
        lambda items: pd.DataFrame({"rate": items}, index=[5, 3, 9])["rate"],
        lambda items: array.array("d", items),
        lambda items: np.array(items, dtype=object),
        lambda items: np.array([items, items]).T[:, 0],
        lambda items: [Fraction(item) for item in items],
        lambda items: [np.float32(item) for item in items],
    ],
)
def test_what_holds_numbers_in_order_becomes_plain_floats_in_that_order(make):
    numbers = RATES.read(make([21.5, 18.25, 100.0]))
    assert numbers == (21.5, 18.25, 100.0)
    assert [type(number) for number in numbers] == [float] * 3
    assert type(numbers) is tuple


@pytest.mark.parametrize("whole", [[1, 2], range(1, 3), np.array([1, 2], dtype="uint8"), pd.Series([1, 2])])
def test_whole_numbers_become_floats(whole):
    assert [repr(number) for number in RATES.read(whole)] == ["1.0", "2.0"]


class _Hostile:
    @property
    def ndim(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value",
    [
        18.5,
        True,
        "18.5",
        "[18.5, 21]",
        b"\x12",
        bytearray(b"\x12"),
        memoryview(b"\x12"),
        {18.5: 21},
        {18.5, 21},
        (rate for rate in [18.5]),
        map(float, [18]),
        np.float64(18.5),
        np.array(18.5),
        np.array([[18.5, 21]]),
        pd.DataFrame({"rate": [18.5]}),
        date(2024, 1, 1),
        list,
        object(),
        _Hostile(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_list_is_refused_with_an_example(value):
    assert refusal(value) == "must be a list of numbers between 1 and 100, such as [18.5, 21]"


@pytest.mark.parametrize("empty", [[], (), np.array([]), pd.Series(dtype=float), range(0)])
def test_an_empty_list_is_refused(empty):
    assert refusal(empty) == "must hold from 1 to 100000 numbers"


def test_no_list_is_too_long_to_be_refused_at_once():
    assert len(RATES.read([5] * MOST_NUMBERS)) == MOST_NUMBERS
    for long in ([5] * (MOST_NUMBERS + 1), range(10**15), range(10**40), np.broadcast_to(5.0, 10**9)):
        assert refusal(long) == "must hold from 1 to 100000 numbers"


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (0, "0"),
        (-0.0, "-0.0"),
        (0.999, "0.999"),
        (101, "101"),
        (np.nan, "nan"),
        (np.inf, "inf"),
        (None, "None"),
        (True, "True"),
        ("21", "'21'"),
        ([21], "[21]"),
        (10**400, "1000"),
        (21j, "21j"),
        (np.timedelta64(21, "ns"), "np.timedelta64(21"),
        ("x" * 99, "'xxx"),
    ],
)
def test_a_wrong_number_is_named_with_its_place(wrong, word):
    line = refusal([20, wrong, 30])
    assert line.startswith(f"must be a list of numbers between 1 and 100; number 2 is {word}")
    assert len(line) < 100
    assert "more" not in line


@pytest.mark.parametrize(
    "column",
    [
        np.array([21, 22], "m8[ns]"),
        np.array([21, 22], "M8[ns]"),
        np.array([True, True]),
        pd.array([21, pd.NA]),
    ],
)
def test_columns_of_something_else_are_refused(column):
    assert "number 1 is" in refusal(column) or "number 2 is <NA>" in refusal(column)


def test_masked_numbers_are_not_numbers():
    assert "number 2 is masked" in refusal(np.ma.array([21.0, 22.0], mask=[False, True]))


def test_of_many_wrong_numbers_the_first_are_named_and_the_rest_counted():
    assert refusal([0, 5, -1, 0]).endswith("; number 1 is 0, number 3 is -1, number 4 is 0")
    assert refusal([0, -1, -2, -3]).endswith("number 3 is -2, and 1 more is wrong")
    assert refusal([0] * 9).endswith("number 3 is 0, and 6 more are wrong")
    assert len(refusal([["x" * 1000]] * 1000)) < 300


@given(st.lists(st.one_of(st.floats(), st.integers(), st.none(), st.text(), st.floats(1, 100)), min_size=1))
def test_a_list_is_read_exactly_if_every_number_is_in_range(items):
    good = [isinstance(item, float | int) and 1 <= item <= 100 for item in items]
    if all(good):
        assert RATES.read(items) == tuple(map(float, items))
    else:
        first = good.index(False) + 1
        assert f"; number {first} is " in refusal(items)
