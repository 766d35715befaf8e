"""Learners of scikit-learn, each climbing as far as its kind does on hidden parities.

hardness learn sklearn_learners.py:SVC parity:d=16,m=3 --budget-examples 20000
"""

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression as Logistic
from sklearn.neural_network import MLPRegressor as Network
from sklearn.svm import SVC as SupportVectors

from hardness.learners.plugins import Estimator

LogisticRegression = Estimator(Logistic(), examples=100_000)
MLPRegressor = Estimator(
    Network(hidden_layer_sizes=(128,), batch_size=64, alpha=1e-3, max_iter=100),
    examples=100_000,
)
HistGradientBoosting = Estimator(HistGradientBoostingClassifier(max_iter=200), examples=500_000)
SVC = Estimator(
    SupportVectors(kernel="poly", degree=4, coef0=1.0, C=10.0, max_iter=20_000),
    examples=20_000,
)
