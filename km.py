"""A learner of one's own.

hardness learn km.py:Km parity:d=16,m=1 --budget-examples 2000
"""

import numpy as np

from hardness.upper.plugins import function


# view="reduced": of families whose labels have one unknown factor. z (n, d-1) of -1 and +1, and
#   s (n,), the factor less what everyone knows of it: the parity of a hidden set, for parities.
# view="samples": of LWE and its like. a (n, N) and b (n,), integers.
# view="tokens": of any family. x (n, k, d), the tokens, and y (n, k, d), the labels.
# view="flat": the same as rows, (n, k d) and (n, k d).
# examples=N: how many to learn from at most; without it all that the budget has.
@function(view="reduced")
def Km(z, s):
    """Least squares on the bits: solves parities on one hidden coordinate."""
    weights = np.linalg.lstsq(z, s, rcond=None)[0]
    return lambda z: z @ weights


# Three other ways. Name what you want to run: km.py:Forest, km.py:Net, km.py:Own or km.py:Own:tries=5.
#
# 1. Anything with fit and predict. A classifier learns which value the factor has.
#
# from hardness.upper.plugins import Estimator
# from sklearn.ensemble import RandomForestClassifier
#
# Forest = Estimator(RandomForestClassifier(n_estimators=200))
#
# 2. A torch module, made of the numbers of columns in its view: here d - 1 and 1.
#
# from hardness.upper.plugins import Module
# import torch
#
# def net(inputs, outputs):
#     return torch.nn.Sequential(
#         torch.nn.Linear(inputs, 128), torch.nn.ReLU(), torch.nn.Linear(128, outputs)
#     )
#
# Net = Module(net, view="reduced", steps=4000, rate=3e-3)
#
# 3. The whole protocol: draws as it likes, or asks statistical or membership queries, and may name
#    the secret.
#
# from hardness.upper import Hypothesis
#
# class Own:
#     access = "examples"  # "queries": oracle.ask(query); "values": oracle.value(x); or "either"
#
#     def __init__(self, tries=3):
#         self.tries = tries
#
#     def supports(self, family):
#         return None if family.k == 2 else "it learns from two tokens"  # a reason, or None
#
#     def learn(self, oracle, rng):  # rng: the only source of randomness, for the same result again
#         examples = oracle.draw(1000)  # raises Spent where the budget has nothing left
#         mean = examples.y.mean(axis=0)
#         return Hypothesis(predict=lambda x: np.broadcast_to(mean, x.shape))
