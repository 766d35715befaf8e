"""Click commands with help in sections, and one line for a mistake."""

from typing import Any

import click

from hardness.cli.options import INTEGER, Argument, Option, group_of
from instances.errors import UsageError, withdrawn, withdrawn_names
from instances.lazy import Imported


class Command(click.Command):
    """A command that accepts --seed and --jobs even if they do nothing, for use in scripts."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        known = {flag for parameter in self.params for flag in parameter.opts}
        for unused in {"--seed", "--jobs"} - known:
            self.params.append(Option([unused], type=INTEGER, hidden=True, expose_value=False))
        self.help = (self.help or "").partition(">>>")[0].strip()

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse; raises UsageError for an unknown option, with similar ones, or a repeated one."""
        try:
            order = self.make_parser(context).parse_args(list(args))[2]
        except click.NoSuchOption as error:
            raise click.UsageError(self._suggestion(error), context) from error
        single = [o for o in order if isinstance(o, click.Option) and not (o.multiple or o.is_flag)]
        if twice := next((option for option in single if single.count(option) > 1), None):
            raise click.UsageError(f"{twice.opts[0]} is given twice: give it once", context)
        return super().parse_args(context, args)

    def _suggestion(self, error: click.NoSuchOption) -> str:
        """Say which option may have been meant, or what replaces a withdrawn one."""
        flags = [o.opts[0] for o in self.params if not getattr(o, "hidden", True)]
        now = withdrawn_names()["option"].get(error.option_name)
        if now in flags:
            return f"{error.message} It is {now} now."
        if now and not now.startswith("--"):
            return withdrawn("option", error.option_name)
        word = error.option_name.strip("-")
        similar = [n for n in flags if word in n[2:].split("-")]
        similar += [n for n in flags if n[3:] and word.startswith(n[2:]) and n not in similar]
        if not similar:
            return error.format_message()
        return f"{error.message} Did you mean {' or '.join(similar)}?"

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write arguments, options, and the sections of options."""
        for title, parameters in group_of(self.get_params(context)).items():
            records = [
                (parameter.make_metavar(context), parameter.about)
                if isinstance(parameter, Argument)
                else parameter.get_help_record(context)
                for parameter in parameters
            ]
            if rows := [record for record in records if record]:
                with formatter.section(title):
                    formatter.write_dl(rows)


class Group(click.Group):
    """A group whose commands are imported when needed; without a command it prints help."""

    command_class = Command

    def __init__(self, name: str, places: dict[str, str], **settings: Any) -> None:
        """places: "module.name" in hardness.cli, by the name of each command."""
        commands: Any = Imported("hardness.cli", places)
        settings.setdefault("callback", _help)
        super().__init__(name, commands=commands, invoke_without_command=True, **settings)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the named command; raises UsageError for a withdrawn one."""
        if args[0] not in self.commands and (gone := withdrawn("command", args[0])):
            raise UsageError(gone)
        return super().resolve_command(ctx, args)


@click.pass_context
def _help(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
