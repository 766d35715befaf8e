"""Majorities with hidden signs as two-token attention layers: a family in a file of your own."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Annotated

import numpy as np

from instances import AttentionLayer, Coded, parse
from instances.family import require
from instances.parameters import Range


@dataclass(frozen=True, kw_only=True)
class SignedMajority(Coded):
    """sign(sum_j s_j z_j) over m hidden places j, m odd; a secret lists s_j j, s_j being signs."""

    name = "signed-majority"
    example = "signed-majority:d=9,m=3"
    about = "majorities of m of d-1 hidden coordinates with hidden signs"
    shares = (Fraction(1, 2), Fraction(1, 2))  # of the labels +1 and -1, whatever the secret
    d: Annotated[int, Range(2)]
    m: Annotated[int, Range(1)]
    noise: Annotated[Fraction, Range(0, below=Fraction(1, 2))] = Fraction(0)

    def check(self):
        require(
            self.m % 2 == 1 and self.m < self.d,
            f"m must be odd and below d = {self.d}, got {self.m}",
        )

    @property
    def size(self):
        return comb(self.d - 1, self.m) * 2**self.m

    def members(self):
        for places in combinations(range(1, self.d), self.m):
            for signs in product((1, -1), repeat=self.m):
                yield tuple(s * j for s, j in zip(signs, places, strict=True))

    def draw(self, rng):
        places = 1 + np.sort(rng.choice(self.d - 1, size=self.m, replace=False))
        return tuple(map(int, places * rng.choice((1, -1), size=self.m)))

    def code(self, secret, z):
        return z[:, np.abs(secret)] @ np.sign(secret) < 0

    def layer(self, secret):
        places, signs = np.abs(secret), np.sign(secret)
        found = self.unsigned.layer(tuple(places.tolist()))
        theta = found.theta.copy()
        theta[:, 0, 0] += theta[:, places, places] @ (signs < 0)  # of a token with itself z is 1
        theta[:, places, places] *= signs
        return AttentionLayer(theta=theta, w=found.w)

    @property
    def known_constant(self):  # the factor where z_0 = +1: what the heads add up to there
        return self.unsigned.known_constant

    @property
    def unsigned(self):
        return parse(f"profile:g=majority,d={self.d},m={self.m}")
