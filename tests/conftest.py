"""What all tests share."""

from hypothesis import settings

# The first example of a kernel includes its compilation, so no example has a deadline.
settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("same")
