"""Figures: tidy rows of results, and what matplotlib draws of them, one subject a file."""
