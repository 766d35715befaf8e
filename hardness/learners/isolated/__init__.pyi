from .learner import SubprocessLearner as SubprocessLearner
