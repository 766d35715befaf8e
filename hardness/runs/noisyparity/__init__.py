"""The map of a noisy parity: examples against time, bounds as curves and learners as points."""

from hardness.runs.noisyparity.curves import Curve, Mark, curves
from hardness.runs.noisyparity.rates import Rates, measure
from hardness.runs.noisyparity.record import Map, noisy_map, read_map

__all__ = ["Curve", "Map", "Mark", "Rates", "curves", "measure", "noisy_map", "read_map"]
