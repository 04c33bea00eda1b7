"""A study judged: from the runs of a store to the dictionary that reports read."""
