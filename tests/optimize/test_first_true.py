import math

from hypothesis import example, given
from hypothesis import strategies as st

from staffing.optimize.first_true import first_true


class Counted:
    """Whether n >= threshold, and every n that was asked about."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.asked: list[int] = []

    def __call__(self, n: int) -> bool:
        self.asked.append(n)
        return n >= self.threshold


@given(
    lowest=st.integers(-50, 50),
    size=st.integers(0, 200),
    threshold=st.integers(-80, 300),
    start=st.integers(-400, 400),
    step=st.integers(1, 60),
)
@example(lowest=0, size=0, threshold=0, start=0, step=1)
@example(lowest=0, size=0, threshold=1, start=0, step=1)
def test_it_finds_what_looking_everywhere_finds(lowest, size, threshold, start, step):
    holds = Counted(threshold)
    found = first_true(holds, lowest=lowest, highest=lowest + size, start=start, step=step)
    everywhere = (n for n in range(lowest, lowest + size + 1) if n >= threshold)
    assert found == next(everywhere, None)
    assert all(lowest <= n <= lowest + size for n in holds.asked)


@given(
    threshold=st.integers(0, 10**9),
    distance=st.integers(-(10**9), 10**9),
    step=st.integers(1, 10**6),
)
def test_a_search_takes_a_logarithm_of_calls(threshold, distance, step):
    holds = Counted(threshold)
    start = threshold + distance
    found = first_true(holds, lowest=0, highest=10**9, start=start, step=step)
    assert found == threshold
    away = abs(min(max(start, 0), 10**9) - threshold)
    galloping = 2 + math.log2(1 + away / step)
    bisecting = 1 + math.log2(1 + 2 * max(away, step))
    assert len(holds.asked) <= 2 + galloping + bisecting


def test_a_search_that_starts_next_to_the_answer_asks_hardly_anybody():
    for start in (999, 1000, 1001):
        holds = Counted(1000)
        assert first_true(holds, lowest=0, highest=10**9, start=start, step=1) == 1000
        assert len(holds.asked) <= 4


def test_nobody_is_asked_twice_on_the_way_up_or_down():
    for threshold in (0, 3, 77, 1000):
        for start in (0, 50, 2000):
            holds = Counted(threshold)
            assert first_true(holds, lowest=0, highest=5000, start=start, step=7) == threshold
            assert len(set(holds.asked)) == len(holds.asked)
