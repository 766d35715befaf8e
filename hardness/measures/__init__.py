"""Exact numbers of one function that bound no learner: leaps and weights."""
