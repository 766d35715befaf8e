"""Attacks on LWE, LWR and LPN: learners that look for the secret itself, one file an attack."""
