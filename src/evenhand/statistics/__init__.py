"""Variation over runs, tests between sets of runs, and corrections for many tests."""
