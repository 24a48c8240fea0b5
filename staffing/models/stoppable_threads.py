"""Threads that stop as soon as the thread that waits for them is interrupted."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Flag = NDArray[np.uint8]
Result = TypeVar("Result")

_SPELL = 0.1
"""Seconds to wait at a time: on some systems an interrupt is heard only in between."""


def never() -> Flag:
    """A flag for work that is not to be stopped."""
    return np.zeros(1, np.uint8)


def in_threads(
    work: Callable[[int, Flag], Result],
    items: Iterable[int],
    workers: int,
    take: Callable[[Result], None],
) -> None:
    """Call `work(item, stop)` for each item on so many threads, and `take` each result here, in the items' order.

    If anything fails here or there, an interrupt included, `stop[0]` is set, which all work under way must soon heed,
    no other is begun, and no thread is left when the exception comes out. Few results are held at a time.
    """
    stop, rest = never(), iter(items)
    with ThreadPoolExecutor(workers) as pool:
        try:
            ahead = deque(pool.submit(work, item, stop) for item in islice(rest, 2 * workers))
            while ahead:
                while not ahead[0].done():
                    wait([ahead[0]], _SPELL)
                result = ahead.popleft().result()
                ahead.extend(pool.submit(work, item, stop) for item in islice(rest, 1))
                take(result)
        except BaseException:
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise
