"""Simulated queues: what every other method is checked against."""
