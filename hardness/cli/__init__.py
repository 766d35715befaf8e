"""The command line: a command parses its options, calls a function of Python, shows the result."""
