"""Arguments of commands with their help, which click itself has for options only."""

from hardness.cli.options import Argument


def described(arguments):
    """Write arguments as reStructuredText.

    >>> from hardness.cli.root import cli
    >>> described(cli.commands["check"].params)[:3]
    ['.. option:: SOURCE', '', '    The file of a certificate.']
    """
    made = []
    for argument in arguments:
        if isinstance(argument, Argument):
            name = argument.human_readable_name.upper()
            made += [f".. option:: {name}", "", f"    {argument.about}", ""]
    return made


def _arguments(app, context, lines):
    lines[:] = described(context.command.params)


def setup(app):
    """Connect to sphinx."""
    app.connect("sphinx-click-process-arguments", _arguments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
