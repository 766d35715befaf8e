"""In-context linear regression: closed forms, training and comparisons of attention layers."""
