"""Studies: a grid of tasks, groupings, methods, settings and seeds; planned, run anywhere, kept, selected."""
