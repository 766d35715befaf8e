"""Figures as charts in the grammar of Vega-Lite, one file a subject, and their style."""
