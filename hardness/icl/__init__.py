"""In-context linear regression: closed forms, training and comparisons of attention layers."""

from hardness.icl.evidence import Optimum, study
from hardness.icl.exact import Exact, exact_curves
from hardness.icl.gram import Layers
from hardness.icl.onelayer import exact_least, gradient, least, loss, optimum
from hardness.icl.optimizers import Course, Optimizers, optimizers
from hardness.icl.plusplus import Scalars, best_scalars
from hardness.icl.softmax import SoftmaxTransformer
from hardness.icl.softmax_study import Effort, SoftmaxStudy, softmax_study
from hardness.icl.steps import BestSteps, best_steps
from hardness.icl.train import Curves, Trained, curves, train
from hardness.icl.wishart import moments

__all__ = [
    "BestSteps",
    "Course",
    "Curves",
    "Effort",
    "Exact",
    "Layers",
    "Optimizers",
    "Optimum",
    "Scalars",
    "SoftmaxStudy",
    "SoftmaxTransformer",
    "Trained",
    "best_scalars",
    "best_steps",
    "curves",
    "exact_curves",
    "exact_least",
    "gradient",
    "least",
    "loss",
    "moments",
    "optimizers",
    "optimum",
    "softmax_study",
    "study",
    "train",
]
