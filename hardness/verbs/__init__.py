"""The verbs of `hardness`: each is one function, which Python calls and a command is made from."""
