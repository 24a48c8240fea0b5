"""The diffusion limit with random drift, beside which the exact numbers stand."""
