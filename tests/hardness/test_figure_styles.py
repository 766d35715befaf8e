"""Colours, marks and lines: seen on white, told apart by everybody, and a learner's own."""

from itertools import combinations

import numpy as np
import pytest

from hardness.report import style as styles
from hardness.report.style import COLOURS, SHAPES, style_of, styles_of
from hardness.upper import LEARNERS


def _light(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    low, high = sorted((_light(one), _light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", COLOURS)
def test_colours_are_seen_on_white(colour):
    assert _contrast(colour, "#ffffff") >= 3


# What a colour is seen as, of linear red, green and blue: Machado, Oliveira and Fernandes 2009.
_SEEN = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)


def _lab(colour, seen):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = np.array(_XYZ) @ np.clip(np.array(seen) @ linear, 0, 1) / (0.95047, 1, 1.08883)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("blindness", _SEEN)
def test_colours_are_told_apart_by_the_colour_blind(blindness):
    seen = [_lab(colour, _SEEN[blindness]) for colour in COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) >= 22
    closer = [_lab(colour, _SEEN["protanopia"]) for colour in ("#D55E00", "#9A7500")]
    assert np.linalg.norm(closer[0] - closer[1]) < 3  # which the names of the colours do not show


def test_no_two_built_in_learners_look_the_same():
    assert set(styles._BUILT_IN) == set(LEARNERS)
    assert len({style_of(name) for name in LEARNERS}) == len(LEARNERS)
    assert all(style_of(name).shape in SHAPES for name in LEARNERS)


def test_a_learner_keeps_its_style_whoever_stands_beside_it():
    first = styles_of(["queries", "student"])
    second = styles_of(["x.py:A", "student", "queries", "elimination"])
    assert first["student"] == second["student"] == style_of("student:steps=3")
    assert first["queries"] == second["queries"]
    assert styles_of(["x.py:A"])["x.py:A"] == style_of("folder/x.py:A:width=3")
    six = ["queries", "elimination", *(f"x.py:{name}" for name in "ABCD")]
    assert len({one.colour for one in styles_of(six).values()}) == 6
    assert len({one.shape for one in styles_of(six).values()}) == 6
    both = styles_of(["lowdegree:degree=2", "lowdegree:degree=1"])
    assert both["lowdegree:degree=1"] == style_of("lowdegree")
    assert both["lowdegree:degree=2"].colour == style_of("lowdegree").colour
    every = styles_of([f"f{i}.py:Net" for i in range(19)] + list(LEARNERS))
    assert len(set(every.values())) == len(every)
