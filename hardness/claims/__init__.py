"""The words of certificates, one file for each kind of family."""

from hardness.claims.vacuous import vacuous

__all__ = ["vacuous"]
