"""Re-derives claims about named learners, each by a second way."""
