"""`charter serve`: the house on an address of this machine; it prints where, and opens nothing by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import BadValue, MissingExtra

if TYPE_CHECKING:
    from ..house import House
    from ..web.running import Plan


def serve(
    charter: Annotated[list[str] | None, typer.Option(help="Serve this charter; may be given more than once.")] = None,
    database: Annotated[str, typer.Option(help="Address of the store.")] = "",
    model: Annotated[str, typer.Option(help="The model, as `charter model` names it.")] = "",
    address: Annotated[str, typer.Option(help="Where to listen; loopback is for this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", show_default="8420, or a free one")] = -1,
    workers: Annotated[int, typer.Option(min=1, help="Processes; more than one wants PostgreSQL.")] = 1,
    host_name: Annotated[list[str] | None, typer.Option(help="Another name it answers to, with its port.")] = None,
    secure: Annotated[bool, typer.Option(help="It stands behind TLS: cookies travel over https alone.")] = False,
    fetch: Annotated[bool, typer.Option(help="Fetch the embedded model first, where it is needed.")] = False,
    lease: Annotated[float, typer.Option(min=0.1, help="Seconds until a dead worker's turns are taken over.")] = 30.0,
    schedules: Annotated[bool, typer.Option(help="Run what `charter schedule` planned.")] = True,
) -> None:  # fmt: skip
    """Serve the agents of this installation: pages, an API, and a gateway for OpenAI and Anthropic clients."""
    try:
        from ..web import running
    except ImportError:
        raise MissingExtra("serve", "charter serve") from None
    if fetch:
        _fetch(model)
    plan = running.Plan(
        tuple(charter or ()),
        database,
        model,
        address,
        port,
        workers,
        tuple(host_name or ()),
        secure,
        schedules,
        lease,
    )
    if workers > 1 and _embedded(model):
        raise BadValue("--workers", "the embedded model runs in one process; name another model, or use one worker")
    running.run(plan, say=_say)


def _say(plan: Plan, house: House, link: str) -> None:
    """What a newcomer needs to know, once the server listens."""
    from rich.console import Console

    from .. import home

    provider = next(iter(house.agents.values())).provider
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"\n  Charter serves {', '.join(house.agents)}")
    if provider.name == "none":
        console.print("  [yellow]there is no model yet[/]: charter model fetch, then start again\n")
    else:
        console.print(f"  with {provider.model if '/' in provider.model else f'{provider.name}/{provider.model}'}\n")
    console.print("  Open   ", style="dim", end="")
    console.print(link, style="bold", markup=False)
    console.print("  API    ", style="dim", end="")
    console.print(f"{plan.origin}/api/openapi.json", markup=False)
    console.print("  OpenAI ", style="dim", end="")
    console.print(f"base_url {plan.origin}/v1, with the token below as its key", markup=False)
    console.print("  Token  ", style="dim", end="")
    console.print(f"{home.home() / 'operator.token'} (yours; for others: charter token add)", markup=False)
    console.print("\n  Ctrl-C stops it.\n", style="dim")


def _embedded(model: str) -> bool:
    from ..choice import choose
    from ..core.errors import CharterError

    try:
        return choose(model).kind == "embedded"
    except CharterError:
        return False


def _fetch(model: str) -> None:
    """The embedded model's weights, when nothing else is there to speak."""
    from ..choice import choose
    from ..core.errors import ProviderDown

    try:
        choose(model)
    except ProviderDown:
        from . import model as models

        models.fetch_model()
