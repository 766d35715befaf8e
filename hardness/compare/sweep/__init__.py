"""Sweeps: a file of specs, learners, seeds and budgets, done on an engine into a store."""
