"""``manylabel serve``: an HTTP API and a web page."""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli.compiling import compile_in_background
from manylabel.cli.options import Debug, Quiet
from manylabel.cli.output import note, print_error, renaming, working
from manylabel.cli.processes import prepare
from manylabel.exceptions import ManylabelError, ParameterError

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

    from manylabel.tagger import Tagger
    from manylabel.web import Settings

__all__ = ["Port", "run_server", "serve"]

# Names of variables, not tokens.
TOKEN_VARIABLE = "MANYLABEL_TOKEN"  # noqa: S105  # nosec B105
READ_TOKEN_VARIABLE = "MANYLABEL_READ_TOKEN"  # noqa: S105  # nosec B105


def _misspelt(environment: Iterable[str]) -> Iterator[str]:
    """Warn about each environment variable that looks like a misspelt setting."""
    from difflib import get_close_matches
    from typing import get_args, get_type_hints

    hints = get_type_hints(serve, include_extras=True).values()
    options = [option for hint in hints for option in get_args(hint)[1:]]
    known = {str(option.envvar) for option in options if getattr(option, "envvar", None)}
    known |= {TOKEN_VARIABLE, READ_TOKEN_VARIABLE, "MANYLABEL_CACHE"}
    for name in sorted(set(environment) - known):
        near = get_close_matches(name, known, 1, 0.85) if name.startswith("MANYLABEL_") else []
        if near:
            yield f"Ignored the environment variable {name}; did you mean {near[0]}?"


class LogFormat(StrEnum):
    """Formats of the access log."""

    none = "none"
    text = "text"
    json = "json"


Port = Annotated[
    int,
    typer.Option(
        "--port",
        metavar="N",
        min=0,
        max=65535,
        envvar="MANYLABEL_PORT",
        show_envvar=False,
        help="The port; 0 for any free one.",
    ),
]


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            show_default=False,
            envvar="MANYLABEL_MODELS",
            show_envvar=False,
            help="Model folders, each served under the folder's name or as NAME=FOLDER.",
        ),
    ],
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            envvar="MANYLABEL_HOST",
            show_envvar=False,
            help="The address to listen on; 0.0.0.0 lets other machines connect.",
        ),
    ] = "127.0.0.1",
    port: Port = 8000,
    allow_learn: Annotated[
        bool,
        typer.Option(
            "--allow-learn",
            envvar="MANYLABEL_ALLOW_LEARN",
            show_envvar=False,
            help="Let requests change the models: learn and forget documents, edit labels.",
        ),
    ] = False,
    token_file: Annotated[
        str | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            envvar="MANYLABEL_TOKEN_FILE",
            show_envvar=False,
            help="A file with the token for such requests, or with a line 'NAME TOKEN' per person; "
            f"or set {TOKEN_VARIABLE}.",
        ),
    ] = None,
    read_token_file: Annotated[
        str | None,
        typer.Option(
            "--read-token-file",
            metavar="FILE",
            envvar="MANYLABEL_READ_TOKEN_FILE",
            show_envvar=False,
            help="A file with the token for all other requests, in the same format; or set "
            f"{READ_TOKEN_VARIABLE}.",
        ),
    ] = None,
    max_body: Annotated[
        int,
        typer.Option(
            "--max-body",
            metavar="BYTES",
            envvar="MANYLABEL_MAX_BODY",
            show_envvar=False,
            min=1,
            help="Maximum size of a request.",
        ),
    ] = 4_000_000,
    max_texts: Annotated[
        int,
        typer.Option(
            "--max-texts",
            metavar="N",
            envvar="MANYLABEL_MAX_TEXTS",
            show_envvar=False,
            min=1,
            help="Maximum texts in a request.",
        ),
    ] = 256,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            envvar="MANYLABEL_TIMEOUT",
            show_envvar=False,
            help="Time limit for a request.",
        ),
    ] = 30.0,
    max_rate: Annotated[
        float | None,
        typer.Option(
            "--max-rate",
            metavar="N",
            envvar="MANYLABEL_MAX_RATE",
            show_envvar=False,
            min=0,
            show_default=False,
            help="Maximum requests per second and client; 0 for no limit. By default 50 for "
            "clients on other machines.",
        ),
    ] = None,
    max_concurrent: Annotated[
        int | None,
        typer.Option(
            "--max-concurrent",
            metavar="N",
            envvar="MANYLABEL_MAX_CONCURRENT",
            show_envvar=False,
            min=0,
            show_default=False,
            help="Maximum requests of a client at the same time; 0 for no limit. By default 20 for "
            "clients on other machines.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            envvar="MANYLABEL_ALLOW_HOST",
            show_envvar=False,
            help="Accept this Host header, such as example.org or *.example.org; repeatable. By "
            "default any, or on a local address only localhost and that address.",
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin",
            metavar="URL",
            envvar="MANYLABEL_ALLOW_ORIGIN",
            show_envvar=False,
            help="A web site whose pages may use the API; repeatable.",
        ),
    ] = None,
    root_path: Annotated[
        str,
        typer.Option(
            "--root-path",
            metavar="PATH",
            envvar="MANYLABEL_ROOT_PATH",
            show_envvar=False,
            show_default=False,
            help="The path under which a proxy serves this server, such as /labels.",
        ),
    ] = "",
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--trust-proxy",
            metavar="ADDRESS",
            envvar="MANYLABEL_TRUST_PROXY",
            show_envvar=False,
            help="Trust the X-Forwarded-For header of this proxy; repeatable. By default that of a "
            "proxy on this machine.",
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            envvar="MANYLABEL_WORKERS",
            show_envvar=False,
            help="Processes that answer requests; they share the memory of the model folders.",
        ),
    ] = 1,
    vocabulary: Annotated[
        str | None,
        typer.Option(
            "--vocabulary",
            metavar="FILE",
            envvar="MANYLABEL_VOCABULARY",
            show_envvar=False,
            help="Names and relations of labels, instead of the models' own.",
        ),
    ] = None,
    log: Annotated[
        LogFormat,
        typer.Option(
            "--log",
            metavar="none|text|json",
            envvar="MANYLABEL_LOG",
            show_envvar=False,
            help="One line per request on standard error, without the texts.",
        ),
    ] = LogFormat.none,
    audit_log: Annotated[
        str | None,
        typer.Option(
            "--audit-log",
            metavar="FILE",
            envvar="MANYLABEL_AUDIT_LOG",
            show_envvar=False,
            help="A file with one JSON object per change of a model: who, when, which documents.",
        ),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Serve models: an HTTP API, and a web page.

    Open the address in a browser: the page suggests labels, shows the reasons and accepts
    corrections. /docs describes the API. The server also works with clients of Annif and as a
    machine-learning backend of Label Studio. Ctrl-C stops the server after open requests are
    answered. Every option can be set by an environment variable: MANYLABEL_PORT for --port,
    MANYLABEL_MODELS for MODEL, separated by spaces.

    For example:
      manylabel serve model
      manylabel serve model --allow-learn
      manylabel serve model --vocabulary stw.ttl
      manylabel serve model --workers 4
      manylabel serve english=models/en finnish=models/fi --port 8080
    """
    folders = _named(models)
    for sentence in _misspelt(os.environ):
        note(sentence, quiet)
    compile_in_background()
    gc.disable()  # until the server is ready: imports and models leave hardly any garbage
    from manylabel.web import Settings

    settings = Settings(
        allow_learn=allow_learn,
        token=_token(token_file, TOKEN_VARIABLE),
        read_token=_token(read_token_file, READ_TOKEN_VARIABLE),
        max_body=max_body,
        max_texts=max_texts,
        timeout=timeout,
        max_rate=max_rate,
        max_concurrent=max_concurrent,
        hosts=tuple(allow_host) if allow_host else None,
        origins=tuple(allow_origin or ()),
        root_path=root_path.rstrip("/"),
        log=log.value,
        audit_log=audit_log,
    )
    proxies = tuple(trust_proxy or ())
    if workers > 1:
        gc.enable()
        _run_workers(workers, (folders, vocabulary, settings, host, proxies), port, quiet)
        return
    taggers = _loaded(folders, vocabulary, quiet)
    run_server(taggers, settings, host, port, quiet, proxies)


def _run_workers(
    number: int,
    arguments: tuple[dict[str, Path], str | None, Settings, str, tuple[str, ...]],
    port: int,
    quiet: bool,
) -> None:
    """Serve with several processes until Ctrl-C or SIGTERM."""
    from manylabel.web.processes import Processes
    from manylabel.web.server import address_of, listen, settings_for

    folders, _, settings, host, _ = arguments
    with renaming(token="token_file"):  # noqa: S106  # nosec B106
        settings_for(host, settings)
    with listen(host, port) as listening:
        address = address_of(listening, host)
        said = f"Serving {', '.join(folders)} at {address} with {number} processes"
        code = Processes(
            _work,
            (listening, *arguments),
            number,
            lambda: note(f"{said} (press Ctrl-C to stop).", quiet),
        ).run()
    if code:
        raise typer.Exit(code)


def _work(
    has_started: Event,
    listening: socket.socket,
    folders: dict[str, Path],
    vocabulary: str | None,
    settings: Settings,
    host: str,
    proxies: tuple[str, ...],
) -> None:
    """One of several processes that answer the requests to a port."""
    prepare()
    gc.disable()
    from manylabel.web import Server
    from manylabel.web.processes import stop_with_parent

    stop_with_parent()
    try:
        server = Server(_loaded(folders, vocabulary, True), settings, host, 0, proxies, listening)
    except (ManylabelError, OSError) as error:
        print_error(str(error))
        sys.exit(1)
    has_started.set()
    server.run()


def run_server(
    taggers: dict[str, Tagger],
    settings: Settings,
    host: str,
    port: int,
    quiet: bool,
    proxies: tuple[str, ...] = (),
) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    from manylabel.web import Server

    with renaming(token="token_file"):  # noqa: S106  # nosec B106
        server = Server(taggers, settings, host, port, proxies)
    note(f"Serving {', '.join(taggers)} at {server.address} (press Ctrl-C to stop).", quiet)
    server.run()


def _named(models: list[str]) -> dict[str, Path]:
    """Model folders by name."""
    folders: dict[str, Path] = {}
    for model in models:
        name, equals, folder = model.partition("=")
        path = Path(folder if equals else model)
        name = name if equals else path.resolve().name
        if not name or "/" in name:
            raise ParameterError(f"invalid model name in {model!r}; write NAME=FOLDER.")
        if name in folders:
            raise ParameterError(f"two models are called {name!r}; write NAME=FOLDER for one.")
        folders[name] = path
    return folders


def _loaded(folders: dict[str, Path], vocabulary: str | None, quiet: bool) -> dict[str, Tagger]:
    """Load the models, with one thread each: requests already run in parallel."""
    from manylabel.tagger import Tagger

    with working(f"Loading {', '.join(folders)} ...", quiet):
        taggers = {name: Tagger.load(path, n_jobs=1) for name, path in folders.items()}
    for tagger in taggers.values() if vocabulary is not None else ():
        tagger.set_vocabulary(vocabulary)
    return taggers


def _token(path: str | None, variable: str) -> str | dict[str, str] | None:
    """The token or tokens from a file or an environment variable; None if there are none."""
    from manylabel.web.tokens import read_tokens

    if path is None:
        return os.environ.get(variable) or None
    return read_tokens(Path(path).read_text(encoding="utf-8"))
