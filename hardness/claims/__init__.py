"""The words of certificates, one file for each kind of family."""

from hardness.claims.vacuous import vacuous
from hardness.claims.words import FORMAT, Quantity

__all__ = ["FORMAT", "Quantity", "vacuous"]
