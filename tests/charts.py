"""What drawn figures show: the artists of matplotlib and their data."""

import numpy as np
from matplotlib.colors import same_color

from hardness.report.style import COLOURS, style_of


def titles(figure):
    """Give the panels of a figure by their titles."""
    return {ax.get_title(loc="left"): ax for ax in figure.axes}


def points(ax, *, colour=None, filled=None):
    """Give the (x, y) of all marks of axes, of a colour or filled where that is asked."""
    found = []
    for line in ax.get_lines():
        if line.get_marker() in ("", "None", None) or not len(line.get_xdata()):
            continue
        if colour is not None and not same_color(line.get_color(), colour):
            continue
        if filled is not None and (line.get_markerfacecolor() != "none") is not filled:
            continue
        found += list(zip(map(float, line.get_xdata()), map(float, line.get_ydata()), strict=True))
    return sorted(found)


def of(learner):
    """Give the colour of a learner that stands alone."""
    return style_of(learner).colour


def certified(ax):
    """Give the (x, y) of the black lines of axes, which are what is certified."""
    lines = [line for line in ax.get_lines() if same_color(line.get_color(), "black")]
    return [
        list(zip(map(float, line.get_xdata()), map(float, line.get_ydata()), strict=True))
        for line in lines
    ]


def legend(figure):
    """Give the labels of all legends of a figure."""
    every = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    return [text.get_text() for one in every for text in one.get_texts()]


def drawn_values(ax):
    """Give every number that artists of axes are drawn at."""
    found = [line.get_ydata() for line in ax.get_lines()]
    found += [[bar.get_height()] for bar in ax.patches]
    found += [image.get_array().compressed() for image in ax.get_images()]
    found += [path.vertices.ravel() for c in ax.collections for path in c.get_paths()]
    return np.concatenate([np.asarray(part, float).ravel() for part in found] or [np.array([])])


assert len(set(COLOURS)) == len(COLOURS)
