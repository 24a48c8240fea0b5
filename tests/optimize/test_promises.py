import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staffing.optimize.promises import Promise


def test_a_promise_is_kept_at_its_limit_and_on_its_good_side():
    served = Promise("service", 0.8, at_least=True)
    assert [served.kept({"service": share}) for share in (0.79, 0.8, 0.81)] == [False, True, True]
    lost = Promise("lost", 0.05, at_least=False)
    assert [lost.kept({"lost": share}) for share in (0.04, 0.05, 0.06)] == [True, True, False]


def test_shortfall_says_by_how_much():
    assert Promise("service", 0.8, at_least=True).shortfall({"service": 0.7}) == pytest.approx(0.1)
    assert Promise("wait", 15, at_least=False).shortfall({"wait": 12}) == pytest.approx(-3)
    assert Promise("wait", 15, at_least=False).shortfall({"wait": math.inf}) == math.inf


@given(limit=st.floats(1e-3, 1e6), at_least=st.booleans())
def test_a_rounding_error_is_forgiven_and_no_more(limit, at_least):
    promise = Promise("measure", limit, at_least)
    worse = -1 if at_least else 1
    assert promise.kept({"measure": limit * (1 + worse * 4e-16)})
    assert not promise.kept({"measure": limit * (1 + worse * 1e-11)})


def test_an_endless_wait_keeps_no_promise():
    assert not Promise("wait", 1e6, at_least=False).kept({"wait": math.inf})
