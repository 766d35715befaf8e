"""Re-derives claims about named learners, each by a second way.

members → kernel | descent | ratio → evidence
"""
