"""What all tests share."""

import signal

from hypothesis import settings

# Started in the background, tests may find interrupts ignored, and so would the processes they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example of a kernel includes its compilation, so no example has a deadline.
settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("same")
