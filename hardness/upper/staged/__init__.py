"""The provable learner in six stages, one file a stage. [CL24]"""
