"""The attacks, a function each: idea, condition of success, cost, what is searched, heuristics."""
