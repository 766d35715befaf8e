"""What an instance of LWE costs to break: the literature's attacks, each at its least cost."""
