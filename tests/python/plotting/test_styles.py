"""Colours that all can tell apart."""

import matplotlib as mpl
import numpy as np
import pytest

from kernsel.plotting import (
    styles,
)

COLORS = [styles.BLUE, styles.VERMILION, styles.GREEN, styles.PINK, styles.OCHRE, styles.VIOLET]
# How linear RGB is seen without one kind of cones (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear_rgb(color):
    return np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in mpl.colors.to_rgb(color)])


def lab(rgb):
    """Return CIE L*a*b*, in which distances are about as large as differences look: 2 can just be seen."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(rgb, 0, 1)
    x, y, z = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("color", COLORS)
def test_colours_are_seen_on_light_and_dark(color):
    level = np.dot([0.2126, 0.7152, 0.0722], linear_rgb(color))
    assert min(1.05 / (level + 0.05), (level + 0.05) / 0.05) >= 3


@pytest.mark.parametrize("kind", SEEN)
def test_colours_differ_to_the_colour_blind(kind):
    seen = [lab(np.array(SEEN[kind]) @ linear_rgb(color)) for color in COLORS]
    assert min(np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]) > 10
