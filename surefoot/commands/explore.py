"""`surefoot explore`."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapt.requests import RecoveryRequest
from surefoot.commands.console import (
    AnyPath,
    RepertoireFile,
    Whole,
    console,
    refuse_others,
    rehearsal_option,
    threads_option,
)
from surefoot.commands.options import request_options, selector_option
from surefoot.progress import phase_bars
from surefoot.resuming import check_output
from surefoot.shipped import source_words

if TYPE_CHECKING:
    from surefoot.explorer.explorer import Explorer

_PORT = 8765


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of this machine to listen at.")
@click.option(
    "--port", type=Whole(0, 65535), default=_PORT, show_default=True, help="Port to listen at; 0 for any."
)
@click.option(
    "--token",
    help="What the page's address must hold, so that a page that is open still works after a restart.  "
    "[default: a random one]",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@request_options(RecoveryRequest, "seed", "trials", "objective", "selector", selector=selector_option)
@rehearsal_option
@click.option(
    "--mission", type=AnyPath, metavar="LOG", help="Play back what `surefoot mission FILE --log LOG` wrote."
)
@click.option(
    "--export",
    type=AnyPath,
    metavar="PAGE.html",
    help="Write a page that needs no server, with a dozen gaits and a recovery, and end.",
)
@click.option(
    "--damage",
    metavar="DAMAGE",
    help="Damage of the recovery in an exported page.  [default: the first leg lost]",
)
@click.option("--overwrite", is_flag=True, help="Replace an exported page that is there.")
@threads_option
def explore(
    file: Path,
    host: str,
    port: int,
    token: str | None,
    opens: bool,
    request: RecoveryRequest,
    rehearsal: Path | None,
    mission: Path | None,
    export: Path | None,
    damage: str | None,
    overwrite: bool,
    threads: int | None,
) -> None:
    """Show the repertoire FILE in the browser: its gaits, what damage does to them, and recoveries.

    The page is served from this machine, to this machine alone unless --host says otherwise. Ctrl-C ends it.
    """
    from surefoot.explorer.explorer import Explorer

    if damage is not None and export is None:
        raise click.UsageError("--damage is that of the recovery in an exported page: name one with --export")
    begin = partial(Explorer, file, source_words(file), request, rehearsal, threads, mission)
    if export is not None:
        context = click.get_current_context()
        kept = {one.name or "" for one in context.command.params} - {"host", "port", "token", "opens"}
        refuse_others(context, kept, "an exported page needs no server")
        _export(begin(), export, damage, overwrite)
        return
    from surefoot.explorer.server import Server

    explorer = begin()
    server = Server(explorer, host=host, port=port, token=token)
    console.print(f"{explorer.repertoire.problem.title}: {server.address}")
    console.print("Ctrl-C ends it.")
    if opens:
        click.launch(server.address)
    with suppress(KeyboardInterrupt):
        server.run()


def _export(explorer: "Explorer", page: Path, damage: str | None, overwrite: bool) -> None:
    from robots.files.locks import locked
    from surefoot.explorer.export import export_page

    with locked(page):
        check_output(explorer.file, page, overwrite, "export")
        with phase_bars() as show:
            gaits = export_page(explorer, page, damage=damage, on_progress=show)
        size = page.stat().st_size / 1e6
        console.print(f"saved {page} with {gaits} gaits, {size:.1f} MB")
