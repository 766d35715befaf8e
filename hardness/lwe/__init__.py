"""What attacks on LWE, LWR and noisy parities cost, by formulas."""
