"""Lower bounds and hardness for learning attention layers: certify, verify, learn, compare."""

__version__ = "0.1.0"
YEAR = 2026  # of this version
