"""Learners by membership queries: hidden sets, Fourier coefficients, attention heads."""
