"""Planted attention layers, and examples of them for what learns layers in stages."""

import json

import numpy as np

from hardness.learners.fitting import Data
from hardness.learners.staged import Staged
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs.run import attempt
from instances import AttentionLayer, parse


def planted(m, d, seed=0):
    """A layer whose Theta_i have norm 2 and whose W_i have norm sqrt(d)."""
    theta, w = np.random.default_rng([seed, m, d]).normal(size=(2, m, d, d))
    theta *= 2 / np.linalg.norm(theta, axis=(1, 2), keepdims=True)
    w *= np.sqrt(d) / np.linalg.norm(w, axis=(1, 2), keepdims=True)
    return AttentionLayer(theta=theta, w=w)


def labelled(layer, n, k=2, seed=0, noise=0.0, gaussian=False):
    """Examples of a layer: boolean or gaussian tokens, noise of a standard deviation."""
    rng = np.random.default_rng([seed, n, k])
    shape = (n, k, layer.d)
    x = rng.normal(size=shape) if gaussian else rng.choice([-1.0, 1.0], shape)
    return Data(x=x, y=layer(x) + noise * rng.normal(size=shape))


def true_span(layer):
    """An orthonormal basis (d*d, m-1) of the differences of the Theta_i."""
    return np.linalg.qr((layer.theta[1:] - layer.theta[0]).reshape(layer.m - 1, layer.d**2).T)[0]


def off_span(directions, layer):
    """The sine of the largest angle between the true span of differences and the directions."""
    true, found = true_span(layer), directions.reshape(len(directions), -1)
    np.testing.assert_allclose(found @ found.T, np.eye(len(found)), atol=1e-9)
    return np.linalg.norm(true - found.T @ (found @ true), 2)


def learn(spec, seed=0, budget=None, **parameters):
    """What `staged` finds, and how many examples it used."""
    oracle = ExampleOracle(parse(spec).instance(seed), Meter(budget or Budget()))
    found, usage = attempt(Staged(**parameters), oracle, seed)
    json.dumps(found.details, allow_nan=False)
    return found, usage.examples


def flagged(signals):
    """The names of the signals of a run's diagnosis that are flagged."""
    return {signal["name"] for signal in signals if signal["flagged"]}


def measured(found, stage, name):
    """A measure of every run of a stage."""
    return [s["measures"][name] for s in found.details["stages"] if s["name"] == stage]
