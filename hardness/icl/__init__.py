"""In-context linear regression: closed forms, training and comparisons of attention layers."""

from hardness.icl.curves import Curves, curves
from hardness.icl.exact import exact_curves
from hardness.icl.gram import Layers
from hardness.icl.onelayer import exact_least, gradient, least, loss, optimum
from hardness.icl.optimizers import Optimizers, optimizers
from hardness.icl.optimum_study import Optimum, study
from hardness.icl.plusplus import Scalars, best_scalars
from hardness.icl.race import Course
from hardness.icl.softmax import SoftmaxTransformer
from hardness.icl.softmax_study import Effort, SoftmaxStudy, softmax_study
from hardness.icl.steps import BestSteps, best_steps
from hardness.icl.train import Trained, train
from hardness.icl.wishart import moments

__all__ = [
    "BestSteps",
    "Course",
    "Curves",
    "Effort",
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
