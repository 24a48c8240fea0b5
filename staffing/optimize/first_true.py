"""Where a yes that stays a yes begins."""

from collections.abc import Callable


def first_true(
    holds: Callable[[int], bool], *, lowest: int, highest: int, start: int, step: int
) -> int | None:
    """The least n in [lowest, highest] with holds(n), None if there is none.

    `holds` must stay true once it is. The search gallops from `start` in growing steps, then bisects: few calls
    where the start is near, a logarithm of them where it is not.
    """
    low = high = min(max(start, lowest), highest)
    if holds(high):
        while True:
            if high == lowest:
                return lowest
            low = max(high - step, lowest)
            if not holds(low):
                break
            high, step = low, 2 * step
    else:
        while True:
            if low == highest:
                return None
            high = min(low + step, highest)
            if holds(high):
                break
            low, step = high, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
