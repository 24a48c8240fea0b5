"""Threads that give their results in order, and that are gone once anything fails."""

import threading
import time

import pytest

from staffing.models.stoppable_threads import in_threads


def until_stopped(item, stop):
    while not stop[0]:
        time.sleep(0.001)


@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize("size", [0, 1, 40])
def test_each_result_is_taken_once_in_order_by_the_calling_thread(workers, size):
    taken = []

    def square(item, stop):
        time.sleep(0.002 * (item % 3 == 0))
        return item**2

    in_threads(square, range(size), workers, lambda r: taken.append((r, threading.current_thread())))
    assert taken == [(item**2, threading.current_thread()) for item in range(size)]


@pytest.mark.parametrize("workers", [1, 3])
def test_no_more_than_so_many_work_at_a_time_and_few_results_wait(workers):
    at_work, most, begun, taken, lead = 0, 0, 0, 0, 0
    lock = threading.Lock()

    def work(item, stop):
        nonlocal at_work, most, begun
        with lock:
            at_work, begun = at_work + 1, begun + 1
            most = max(most, at_work)
        time.sleep(0.001)
        with lock:
            at_work -= 1

    def take(result):
        nonlocal taken, lead
        taken += 1
        lead = max(lead, begun - taken)

    in_threads(work, range(60), workers, take)
    assert most <= workers
    assert lead <= 2 * workers


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_a_failure_of_the_taker_stops_all_work_and_leaves_no_thread(failure):
    before, begun = threading.enumerate(), []

    def work(item, stop):
        begun.append(item)
        if item > 0:
            until_stopped(item, stop)

    def take(result):
        raise failure

    with pytest.raises(failure):
        in_threads(work, range(1000), 2, take)
    assert threading.enumerate() == before
    assert len(begun) <= 4


def test_a_failure_in_a_thread_stops_the_others_and_comes_out():
    before = threading.enumerate()

    def work(item, stop):
        if item == 0:
            raise RuntimeError("the first")
        until_stopped(item, stop)

    with pytest.raises(RuntimeError, match="the first"):
        in_threads(work, range(1000), 3, print)
    assert threading.enumerate() == before
