"""How many agents, by search over the models."""
