"""Measuring: counts and scores of groups, the rates of both, and every metric made of them."""
