"""A line to a model: one request under guard, its answer part by part, and every failure in our own words."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ..core.dialogue import Reply
from ..core.errors import BadValue, MissingExtra, ProviderError, WireMismatch
from ..core.ports import Request
from .facts import facts_of
from .failures import About, headers_of, told_in
from .heard import ErrorAnswer, Heard, Odd, calls_in, mapping
from .quiet import hush

if TYPE_CHECKING:
    import httpx2

    from .guarded import Call

Answers = Generator[Any, None, None]


class Errors(NamedTuple):
    """What a client raises when it is too slow, when nothing is there, and when an error was the answer."""

    too_slow: tuple[type[Exception], ...]
    unreachable: tuple[type[Exception], ...]
    told: tuple[type[Exception], ...]


class Format(NamedTuple):
    """A wire format, read: an answer at once or one event of a stream goes in, the text that is new comes out."""

    dialect: str
    whole: Callable[[Mapping[str, Any], Heard], str]
    event: Callable[[Mapping[str, Any], Heard], str]


class Line:
    """Where one model is reached. Its HTTP client sends nothing but what a turn assembled, and never twice."""

    __slots__ = ("about", "api_key", "base_url", "http", "model", "name", "window")

    def __init__(
        self,
        kind: str,
        model: str,
        *,
        base_url: str = "",
        api_key: str = "",
        window: int | None = None,
        transport: httpx2.BaseTransport | None = None,
        name: str = "",
    ) -> None:
        facts = facts_of(kind)
        try:
            import httpx2
        except ImportError:
            raise MissingExtra(facts.extra, f"the provider {kind}") from None
        from .guarded import Guarded, way_to

        hush()
        self.name = name or kind
        self.model = model or facts.model
        self.base_url = (base_url or facts.base_url).rstrip("/")
        self.window = window or facts.window(self.model)
        own = self.base_url == facts.base_url
        key = facts.key if own else "CHARTER_API_KEY"
        self.about = About(self.name, self.model, _place(self.base_url), key, facts.when_down)
        if not self.model:
            raise BadValue("model", f"name a model for the provider {kind}")
        self.api_key = _key(api_key)
        if own and facts.key and not self.api_key:
            raise self.about.no_key()
        inner = transport or way_to(self.base_url)
        # Answers come as they are: compressed ones would arrive late and could grow without measure.
        self.http = httpx2.Client(transport=Guarded(inner), trust_env=False, headers={"accept-encoding": "identity"})

    def __repr__(self) -> str:
        return f"Line({self.name!r}, {self.model!r}, at={self.about.place!r})"


def _place(base_url: str) -> str:
    """Host and port of an address: what may be shown of it."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise BadValue("base_url", "an address is http://host:port/path or https://host/path")
    return f"{host}:{port}" if port else host


def _key(api_key: str) -> str:
    api_key = api_key.strip()
    if not api_key.isascii() or not api_key.isprintable() or " " in api_key:
        raise BadValue("api_key", "a key has no spaces, line ends or letters beyond ASCII; copy it again")
    return api_key


# ── one request ───────────────────────────────────────────────────────────────────────────────────────────────────


def listen(
    line: Line,
    form: Format,
    request: Request,
    hear: Callable[[str], None],
    *,
    ask: Callable[[Request], Answers],
    errors: Errors,
) -> Reply:
    """Sends a request and gives the whole reply, or raises a ProviderError; what `hear` raises passes through."""
    from .guarded import begin

    hush()
    if request.expected.dialect != form.dialect:
        raise WireMismatch(line.name, f"this was not assembled for {form.dialect}; nothing was sent")
    heard, call = Heard(), begin(line.name, request)
    parts = _in_our_words(_parts(form, request, heard, _sent(ask(request), call)), line.about, call, errors)
    with closing(parts):
        for part in parts:
            if part and request.stream:
                hear(part)
    return heard.reply(calls_in(request.payload))


def _sent(answers: Answers, call: Call) -> Answers:
    """The answers; the guard knows of the call only while the client works for it."""
    from .guarded import under_way

    with closing(answers):
        while True:
            with under_way(call):
                try:
                    answer = next(answers)
                except StopIteration:
                    return
            yield answer


def _parts(form: Format, request: Request, heard: Heard, answers: Answers) -> Generator[str, None, None]:
    read = form.event if streams(request) else form.whole
    with closing(answers):
        for answer in answers:
            yield read(mapping(answer, "it"), heard)
        yield heard.end()


def _in_our_words(
    parts: Generator[str, None, None], about: About, call: Call, errors: Errors
) -> Generator[str, None, None]:
    """The parts, until something fails. What is raised then has no other error behind it: theirs carry text."""
    try:
        with closing(parts):
            yield from parts
        return
    except Exception as error:  # whatever a client, a server or a socket does instead of answering
        problem = call.verdict or _failure(error, about, call, errors)
    problem.__context__ = problem.__cause__ = None
    raise problem.with_traceback(None)


def _failure(error: Exception, about: About, call: Call, errors: Errors) -> ProviderError:
    if isinstance(error, ProviderError):
        return error
    if not call.sent:
        return WireMismatch(about.name, f"the request cannot be written ({type(error).__name__}); nothing was sent")
    if isinstance(error, Odd):
        return about.unreadable(str(error))
    if isinstance(error, errors.too_slow):
        return about.too_slow(call.timeout_s)
    if isinstance(error, errors.unreachable):
        return about.cut() if call.answered else about.unreachable()
    if isinstance(error, (ErrorAnswer, *errors.told)):
        status, body = getattr(error, "status_code", 200), getattr(error, "body", None)
        return about.failed(status, told_in(body), headers_of(error))
    return about.unreadable(type(error).__name__)


def streams(request: Request) -> bool:
    """Whether the answer comes as a stream; `request.stream` says whether anybody listens to it."""
    return bool(request.payload.get("stream", False))
