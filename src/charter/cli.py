"""The command line: a command is a few lines over the library."""

from __future__ import annotations

import enum
import functools
import inspect
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .commands import chat, control, guard, keys, layers, model, schedule, serve, stored, telegram, token, turns
from .core.errors import BadValue, CharterError

if TYPE_CHECKING:
    from rich.console import Console

    from .views import View

app = typer.Typer(
    name="charter",
    help="Assemble, preview, check and verify what an AI agent is told before it speaks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


class Form(enum.Enum):
    """How `charter check` writes its findings."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Target = Annotated[str, typer.Argument(help="A built-in charter's name, or a folder with a charter.toml.")]


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


# ── views: one table of options for every command that looks at a prompt ──────────────────────────────────────────


def _view_parameters() -> list[inspect.Parameter]:
    from .views import View

    parameters = []
    for item in fields(View)[1:]:
        kind: Any = bool if isinstance(item.default, bool) else str
        flag = f"--{item.name.replace('_', '-')}"
        default = None if item.default is MISSING else item.default
        annotation = Annotated[kind, typer.Option(flag, help=item.metadata["help"], show_default=bool(default))]
        parameters.append(
            inspect.Parameter(item.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    return parameters


def viewing(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command every option of a View; it receives them as `options`."""
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "options"]
    own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
    names = {p.name for p in own}

    @functools.wraps(command)
    def run(**values: Any) -> None:
        mine = {key: values.pop(key) for key in names}
        command(**mine, options=values)

    parameters = own + _view_parameters()
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _view(target: str, options: dict[str, Any]) -> View:
    from .views import View

    return View(target, **options)


# ── looking ───────────────────────────────────────────────────────────────────────────────────────────────────────


@app.command()
def tour(as_json: Json = False) -> None:
    """Walk through the five charters: what the model is told, layer by layer, with sizes and hashes."""
    from .demo import demo
    from .folder import BUILT_IN

    views = [(name, *demo(name)) for name in BUILT_IN]
    if as_json:
        _print_json({name: charter.assemble(incoming).manifest.to_dict() for name, charter, incoming in views})
        return
    from . import draw

    console = _console()
    console.print("One engine, five charters. Each is a folder of TOML and Markdown; this is what a model is told.\n")
    for number, (_, charter, incoming) in enumerate(views, 1):
        draw.chapter(console, number, charter.about, charter.assemble(incoming))
    console.print(draw.legend())
    if shutil.which("charter") is None:
        console.print(f"\nTo have `charter` at hand:  . {os.path.relpath(sys.prefix)}/bin/activate")
    console.print("\nNext:  charter show sovereign        the whole prompt, layers coloured by owner")
    console.print("       charter manifest contract     its hashes, as they are kept of every turn")
    console.print("       charter new my-agent --from assistant")
    console.print("       charter model fetch           then: charter chat, with no key and no network")


@app.command("list")
def list_charters(as_json: Json = False) -> None:
    """List the built-in charters."""
    from .folder import BUILT_IN, load

    charters = [load(name) for name in BUILT_IN]
    rows: list[dict[str, Any]] = [
        {
            "name": c.name,
            "version": c.version,
            "layers": len(c.stack.layers),
            "modes": list(c.stack.modes),
            "about": c.about,
        }
        for c in charters
    ]
    if as_json:
        _print_json(rows)
        return
    for row in rows:
        typer.echo(f"{row['name']:<10} {row['version']}  {row['layers']:>2} layers  {'/'.join(row['modes'])}")
        typer.echo(f"           {row['about']}")


@app.command()
@viewing
def show(
    target: Target,
    options: dict[str, Any],
    as_json: Json = False,
    plain: Annotated[bool, typer.Option("--plain", help="Only the prompt's bytes, nothing else.")] = False,
) -> None:
    """Show what the model will see: the prompt, its layers and sizes, and what was cut."""
    view = _view(target, options)
    assembly = view.assembly()
    if view.provider and (as_json or plain):
        _print_json(assembly.payload(view.provider, model=view.model or None))
    elif plain:
        sys.stdout.write(assembly.reveal())
    elif as_json:
        parts = {part.section.layer.id: part.text for part in assembly.parts}
        _print_json(
            {
                "prompt": assembly.reveal(),
                "layers": parts,
                "notices": view.notices(),
                "manifest": assembly.manifest.to_dict(),
            }
        )
    else:
        from . import draw

        console = _console()
        draw.show(console, assembly, f"{target} · {assembly.mode} · {view.channel}", view.notices())
        if view.provider:
            console.print(f"\nsent to {view.provider}:")
            console.print_json(
                json.dumps(assembly.payload(view.provider, model=view.model or None), ensure_ascii=False)
            )


@app.command()
@viewing
def manifest(target: Target, options: dict[str, Any]) -> None:
    """Print a view's manifest: hashes and counts, never text."""
    _print_json(_view(target, options).assembly().manifest.to_dict())


@app.command()
@viewing
def diff(
    first: Annotated[
        str, typer.Argument(help="A view: NAME or NAME@key=value,key=value (keys are the options below).")
    ],
    second: Annotated[
        str, typer.Argument(help="The other view; options below hold for both unless a view says otherwise.")
    ],
    options: dict[str, Any],
    charter: Annotated[str, typer.Option("--charter", help="For LAYER@1 LAYER@2: the charter that keeps it.")] = "",
    as_json: Json = False,
) -> None:
    """Compare two views (another channel, time, sender, mode or folder), two versions (LAYER@1 LAYER@2), two turns."""
    if turns.is_turn(first) and turns.is_turn(second):
        turns.turn_diff(first, second, agent=options["agent"], database=options["database"], as_json=as_json)
        return
    if all(re.fullmatch(r"[a-z_]+(@[^=,]+)?", text) for text in (first, second)) and "@" in first + second:
        from .commands.layers import layer_diff

        who = {name: options[name] for name in ("agent", "user", "database")}
        layer_diff(first, second, charter=charter, as_json=as_json, **who)
        return
    from .views import parse_view

    common = _view("", {**options, "at": options["at"] or "2026-01-01T00:00:00+00:00"})
    a, b = (parse_view(text, common).assembly() for text in (first, second))
    if as_json:
        hashes = [{part.section.layer.id: part.sha256 for part in view.parts} for view in (a, b)]
        changed = [
            name for name in dict.fromkeys([*hashes[0], *hashes[1]]) if hashes[0].get(name) != hashes[1].get(name)
        ]
        _print_json({"changed": changed, "first": a.stack_sha256, "second": b.stack_sha256})
    else:
        from . import draw

        if not draw.difference(_console(), a, b):
            typer.echo("no difference")


@app.command()
@viewing
def report(
    target: Annotated[str, typer.Argument(help="A charter; gateway also gets its five configurations.")],
    options: dict[str, Any],
    as_json: Json = False,
) -> None:
    """Sizes by component; for the gateway, the five configurations of its design beside the design's figures."""
    from .report import component_rows, gateway_rows

    rows = component_rows(_view(target, options).assembly())
    configurations = gateway_rows() if target == "gateway" else []
    if as_json:
        _print_json({"components": rows, "configurations": configurations})
        return
    for row in rows:
        typer.echo(
            f"{row['id']:<18} {row['characters']:>7,} characters {row['tokens']:>6,} tokens  {row['share']:>4.0%}"
        )
    if configurations:
        typer.echo(f"\n{'configuration':<40} {'characters':>10} {'tokens':>7}   design: characters, tokens")
        for row in configurations:
            design = f"{row['design_characters']}, {row['design_tokens']}"
            typer.echo(f"{row['name']:<40} {row['characters']:>10,} {row['tokens']:>7,}   {design}")


# ── making and keeping ────────────────────────────────────────────────────────────────────────────────────────────


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="The folder to make.")],
    source: Annotated[str, typer.Option("--from", help="The charter to start from.")] = "assistant",
) -> None:
    """Make a charter of your own from one that exists."""
    from .folder import find

    if folder.exists():
        raise BadValue("folder", f"{folder.name} exists already; choose a new name")
    shutil.copytree(find(source), folder, ignore=shutil.ignore_patterns("charter.lock", "charter.approvals", ".*"))
    typer.echo(f"made {folder} from {source}\nnext: edit {folder}/charter.toml and its Markdown, then")
    typer.echo(
        f"  charter show {folder}\n  charter check {folder}\n  charter lock {folder}    when it is as it should be"
    )


@app.command()
@viewing
def check(
    target: Target,
    options: dict[str, Any],
    form: Annotated[Form, typer.Option("--format", help="How findings are written.")] = Form.TEXT,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail too.")] = False,
) -> None:
    """Lint a charter: order, budgets, cache, contradictions, hidden text. Exit code 1 on errors."""
    from . import lint
    from .folder import BUILT_IN

    found = lint.check(target, world=_view(target, options).world())
    typer.echo(lint.render(found, form.value, root="" if target in BUILT_IN else target))
    raise typer.Exit(lint.exit_code(found, strict=strict))


@app.command()
def lock(target: Target, as_json: Json = False) -> None:
    """Write charter.lock: the version and hash of every file; refuses a change without a version bump."""
    from . import verify

    made = verify.lock(target)
    if as_json:
        _print_json(asdict(made))
    else:
        typer.echo(f"locked {len(made.files)} files at version {made.version}")


@app.command("verify")
def verify_charters(
    targets: Annotated[list[str] | None, typer.Argument(help="Charters; the five built-in ones when left out.")] = None,
    approver: Annotated[
        list[str] | None,
        typer.Option("--approver", help="A public key that must have signed, whatever a folder says."),
    ] = None,
    database: Annotated[str, typer.Option("--database", help="Verify this store's log too.")] = "",
    as_json: Json = False,
) -> None:
    """Verify charters (files, versions, golden stack hashes, signatures) and the log. Exit code 1 when one fails.

    Without targets: the five built-in charters, and this installation's store when it has one.
    """
    from . import verify
    from .folder import BUILT_IN

    results = [verify.verify(target, approvers=tuple(approver or ())) for target in targets or BUILT_IN]
    audited = stored.audited(database, always=bool(database)) if database or not targets else None
    if as_json:
        _print_json([asdict(result) for result in results] + ([asdict(audited)] if audited else []))
    else:
        for result in results:
            said = "FAILED" if result.problems else "ok    "
            typer.echo(f"{said} {result.charter} {result.version}, {result.files} files")
            for problem in result.problems:
                typer.echo(f"       {problem}")
        if audited:
            stored.print_audit(audited)
    raise typer.Exit(int(any(result.problems for result in results) or bool(audited and audited.problems)))


@app.command("test")
def run_tests(target: Target, as_json: Json = False) -> None:
    """Run a charter's own cases (cases/*.toml). Exit code 1 when one fails."""
    from .cases import run_cases

    results = list(run_cases(target))
    failed = [result for result in results if result.problems]
    if as_json:
        _print_json([asdict(result) for result in results])
    else:
        for result in results:
            typer.echo(f"{'ok    ' if not result.problems else 'FAILED'} {result.name}")
            for problem in result.problems:
                typer.echo(f"       {problem}")
        typer.echo(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    raise typer.Exit(int(bool(failed)))


# ── over the store ────────────────────────────────────────────────────────────────────────────────────────────────

app.add_typer(layers.app)
app.add_typer(stored.app)
app.add_typer(turns.app)
app.add_typer(chat.app)
app.add_typer(control.app)
app.add_typer(model.app, name="model")
app.add_typer(keys.app, name="key")
app.add_typer(guard.app, name="guard")
app.add_typer(token.app, name="token")
app.command("serve")(serve.serve)
app.add_typer(telegram.app, name="telegram")
app.add_typer(schedule.app, name="schedule")
app.add_typer(stored.memory_app, name="memory")
app.add_typer(stored.database_app, name="db")


def main() -> None:
    """The entry point: an error of ours is one line on stderr and exit code 2, never a traceback with text in it."""
    try:
        app()
    except CharterError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(141)


if __name__ == "__main__":
    main()
