"""A contender turns a value set into the whole prompt, all else done beforehand."""

import os
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from typing import Any

from workload import JOINER, SLOT, Workload, fill, whole_template

Contender = Callable[[dict[str, str]], str]
Maker = Callable[[Workload], Contender]

# A benchmark talks to nobody: both peers can report home when they are imported.
QUIET = {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
}


class PeerError(ImportError):
    """A peer to compare with cannot be imported."""


def peer(module: str) -> Any:
    """The peer's module, imported only when it is measured."""
    os.environ.update(QUIET)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise PeerError(
            f"{module} needs {error.name}, which is not installed; run: pip install 'charter[bench]'"
        ) from error


def prepared(workload: Workload) -> tuple[str, dict[str, tuple[str, ...]]]:
    """A slot whose value tells the sets apart; each set's dynamic texts under it."""
    sets = workload.value_sets
    dynamic = [layer.template for layer in workload.layers if layer.dynamic]
    slot = next(name for name in sets[0] if len({values[name] for values in sets}) == len(sets))
    texts = {values[slot]: tuple(fill(template, values) for template in dynamic) for values in sets}
    return slot, texts


def make_floor_warm(workload: Workload) -> Contender:
    """Nothing is rendered: hash the three changed layers and the stack, join.

    Written out for three layers, because a loop would cost more than the floor.
    """
    slot, rendered = prepared(workload)
    texts = [layer.template for layer in workload.layers]
    heads = [f"{layer.label}:{layer.id}:" for layer in workload.layers]
    lines = [f"{head}{sha256(text.encode()).hexdigest()}\n" for head, text in zip(heads, texts, strict=True)]
    i, j, k = (place for place, layer in enumerate(workload.layers) if layer.dynamic)
    head_i, head_j, head_k = heads[i], heads[j], heads[k]

    def floor_warm(values: dict[str, str]) -> str:
        texts[i], texts[j], texts[k] = a, b, c = rendered[values[slot]]
        lines[i] = f"{head_i}{sha256(a.encode()).hexdigest()}\n"
        lines[j] = f"{head_j}{sha256(b.encode()).hexdigest()}\n"
        lines[k] = f"{head_k}{sha256(c.encode()).hexdigest()}\n"
        sha256("".join(lines).encode()).hexdigest()
        return JOINER.join(texts)

    return floor_warm


def make_floor_cold(workload: Workload) -> Contender:
    """Nothing is rendered and no hash is kept: hash all layers and the stack, join."""
    slot, rendered = prepared(workload)
    texts = [layer.template for layer in workload.layers]
    heads = [f"{layer.label}:{layer.id}:" for layer in workload.layers]
    i, j, k = (place for place, layer in enumerate(workload.layers) if layer.dynamic)

    def floor_cold(values: dict[str, str]) -> str:
        texts[i], texts[j], texts[k] = rendered[values[slot]]
        lines = [f"{head}{sha256(text.encode()).hexdigest()}\n" for head, text in zip(heads, texts, strict=True)]
        sha256("".join(lines).encode()).hexdigest()
        return JOINER.join(texts)

    return floor_cold


def make_jinja2(workload: Workload) -> Contender:
    """One template for the whole prompt, compiled once."""
    jinja2 = peer("jinja2")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    render: Contender = environment.from_string(whole_template(workload)).render
    return render


def make_minijinja(workload: Workload) -> Contender:
    """One template for the whole prompt, compiled once into the environment."""
    environment = peer("minijinja").Environment(
        templates={"prompt": whole_template(workload)},
        undefined_behavior="strict",
        debug=False,
    )
    render: Callable[..., str] = environment.render_template
    return lambda values: render("prompt", **values)


def make_langchain(workload: Workload) -> Contender:
    """One system message as an f-string template, LangChain's default and fastest."""
    template = SLOT.sub(r"{\1}", whole_template(workload))
    prompt = peer("langchain_core.prompts").ChatPromptTemplate.from_messages(
        [("system", template)], template_format="f-string"
    )

    def langchain(values: dict[str, str]) -> str:
        content: str = prompt.invoke(values).messages[0].content
        return content

    return langchain


def make_haystack(workload: Workload) -> Contender:
    """One builder for the whole prompt, all its variables required."""
    builder = peer("haystack.components.builders").PromptBuilder(
        template=whole_template(workload), required_variables="*"
    )

    def haystack(values: dict[str, str]) -> str:
        prompt: str = builder.run(**values)["prompt"]
        return prompt

    return haystack
