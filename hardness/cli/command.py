"""The kind of click command that this project has: help in sections, one line for a mistake."""

from typing import Any

import click

from hardness.cli.options import INTEGER, Argument, Option, group_of
from instances.errors import UsageError, withdrawn, withdrawn_names
from instances.lazy import Imported


class Command(click.Command):
    """A command that takes --seed and --jobs even if they do nothing, so that scripts may."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        known = {flag for one in self.params for flag in one.opts}
        for unused in {"--seed", "--jobs"} - known:
            self.params.append(Option([unused], type=INTEGER, hidden=True, expose_value=False))
        self.help = (self.help or "").partition(">>>")[0].strip()

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Answer an unknown option with its relatives, and one that is given twice."""
        try:
            order = self.make_parser(context).parse_args(list(args))[2]
        except click.NoSuchOption as error:
            raise click.UsageError(self._meant(error), context) from error
        single = [o for o in order if isinstance(o, click.Option) and not (o.multiple or o.is_flag)]
        if twice := next((one for one in single if single.count(one) > 1), None):
            raise click.UsageError(f"{twice.opts[0]} is given twice: give it once", context)
        return super().parse_args(context, args)

    def _meant(self, error: click.NoSuchOption) -> str:
        """Say which option may have been meant, or what serves instead of one that is gone."""
        shown = [o.opts[0] for o in self.params if not getattr(o, "hidden", True)]
        now = withdrawn_names()["option"].get(error.option_name)
        if now in shown:
            return f"{error.message} It is {now} now."
        if now and not now.startswith("--"):
            return withdrawn("option", error.option_name)
        word = error.option_name.strip("-")
        kin = [n for n in shown if word in n[2:].split("-")]
        kin += [n for n in shown if n[3:] and word.startswith(n[2:]) and n not in kin]
        return (
            f"{error.message} Did you mean {' or '.join(kin)}?" if kin else error.format_message()
        )

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write arguments, options, and the sections of options."""
        for title, parameters in group_of(self.get_params(context)).items():
            rows = [
                (one.make_metavar(context), one.about)
                if isinstance(one, Argument)
                else one.get_help_record(context)
                for one in parameters
            ]
            if shown := [row for row in rows if row]:
                with formatter.section(title):
                    formatter.write_dl(shown)


class Group(click.Group):
    """A group whose commands are imported when they are asked for, and which alone prints help."""

    command_class = Command

    def __init__(self, name: str, places: dict[str, str], **settings: Any) -> None:
        """places: "module.name" in hardness.cli, by what each command is called."""
        commands: Any = Imported("hardness.cli", places)
        settings.setdefault("callback", _help)
        super().__init__(name, commands=commands, invoke_without_command=True, **settings)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named; raises UsageError for one that is gone."""
        if args[0] not in self.commands and (gone := withdrawn("command", args[0])):
            raise UsageError(gone)
        return super().resolve_command(ctx, args)


@click.pass_context
def _help(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
