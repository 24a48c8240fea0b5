"""Progress bars on standard error, for whoever asks for them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from staffing.models.errors import StaffingError

Advance = Callable[[float], None]


@contextmanager
def progress_bar(shown: bool, what: str, total: float, unit: str) -> Iterator[Advance]:
    """A bar that goes when the work is done, stopped or failed; yields what to call with every bit of work done.

    Parameters
    ----------
    shown : bool
        Whether there is a bar at all.
    what : str
        The work, in a word or two.
    total : float
        How much there is to do.
    unit : str
        What is counted.

    Raises
    ------
    StaffingError
        If a bar is asked for and tqdm, which draws it, is not installed.
    """
    if not shown:
        yield lambda done: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        raise StaffingError("progress bars need tqdm: python -m pip install 'staffing[progress]'") from None
    layout = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f} of {total:.0f} {unit}, {elapsed} so far"
    # Without tqdm's monitor, a thread that would outlive the bar.
    quiet = type("Bar", (tqdm,), {"monitor_interval": 0})
    with quiet(desc=what, total=total, unit=unit, leave=False, bar_format=layout) as bar:

        def advance(done: float) -> None:
            bar.update(min(done, total - bar.n))

        yield advance
