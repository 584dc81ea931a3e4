"""Draw the picture of the README and of the first page: `python python/docs/first_picture.py`, which needs the extra `plot`."""

from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import kernsel as ks
from kernsel.examples.drawing import BLUE, GREEN, GREY, ORANGE

X = np.random.default_rng(0).uniform(0, 10, (40, 1))
y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).standard_normal(40)
gp = ks.GaussianProcessRegressor().fit(X, y)
chosen = ks.select(X, y, kernels=["RBF", "Matern(nu=2.5)", "Matern(nu=1.5)", "RBF + Linear", "Linear"])

figure = Figure(figsize=(10.4, 3.2), layout="constrained", dpi=110)
fit, kernels, left_out = figure.subplots(1, 3, width_ratios=[2.2, 1.3, 1.3])

grid = np.linspace(-0.5, 11.5, 400)[:, None]
mean, std = gp.predict(grid, return_std=True)
fit.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.2, lw=0, label="95 % of new observations")
fit.plot(grid[:, 0], gp.sample_y(grid, 3, random_state=1, noisy=False), color=GREEN, lw=0.7, alpha=0.7)
fit.plot(grid[:, 0], mean, color=BLUE, label="mean")
fit.plot(X[:, 0], y, ".", color="0.15", label="data")
fit.set(title="what the data say", xlabel="x", ylabel="y", ylim=(-1.6, 2.1))
fit.legend(frameon=False, ncols=3, loc="upper center", columnspacing=1.0, handlelength=1.4)

names = ["RBF", "RBF + Linear", "Matern 5/2", "Matern 3/2", "Linear"]  # in the order of the table that is drawn below
for name, tried in zip(names, chosen.tried, strict=True):
    assert name.split()[0] in str(tried.kernel)
kernels.barh(names[::-1], [100 * tried.weight for tried in chosen.tried][::-1], color=[GREY, BLUE, BLUE, BLUE, BLUE])
kernels.set(title="which kernel?", xlabel="weight in the mixture / %")

predicted, deviation = y - gp.loo_residuals_, gp.loo_std_
left_out.plot([-1.4, 1.4], [-1.4, 1.4], color="0.7", lw=1)
left_out.errorbar(predicted, y, xerr=2 * deviation, fmt=".", color=ORANGE, ecolor=ORANGE, elinewidth=0.7, ms=5)
left_out.set(title="is it any good?", xlabel="predicted from all other points", ylabel="y")

for axes in figure.axes:
    axes.spines[["top", "right"]].set_visible(False)
drawn = BytesIO()
figure.savefig(drawn)
Image.open(drawn).convert("RGB").quantize(96).save(Path(__file__).parent / "_static" / "first.png", optimize=True)
