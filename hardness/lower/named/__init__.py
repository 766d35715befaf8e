"""What the bounds say about named learners: kernels, gradient descent, low-degree polynomials."""
