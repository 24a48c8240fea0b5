"""What callers will experience: every queueing system of the package, exact, in the limit, simulated.

Nothing is imported here, so that a single model costs no more than itself.
"""
