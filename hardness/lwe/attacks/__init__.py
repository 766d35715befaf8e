"""The attacks, a file each: idea, condition of success, cost, what is searched, heuristics."""
