"""Training: one model or a stack of thousands through the same step."""
