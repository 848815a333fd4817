"""Charter in the benchmark: containment, budget, hashes and manifest included, from raw values to the prompt."""

from charter.core.assemble import Section, Settings, assemble
from charter.core.budget import Limits
from charter.core.layer import Layer, Mode, Owner, Stack, Volatility
from charter.templates import Compiled
from contenders import Contender
from workload import JOINER, Workload


def make_stack(workload: Workload) -> Stack:
    """The workload's layers as a stack: static ones sealed, dynamic ones of the turn."""
    layers = tuple(
        Layer(
            layer.id,
            layer.label,
            Compiled(layer.template, layer.id),
            owner=Owner.TURN if layer.dynamic else Owner.SEALED,
            required=True,
            volatility=Volatility.TURN if layer.dynamic else Volatility.STATIC,
        )
        for layer in workload.layers
    )
    return Stack(layers, {"full": Mode("full", frozenset(layer.id for layer in layers))}, JOINER)


SETTINGS = Settings("bench", "1.0.0", Limits(max_chars=1_000_000))


def make_warm(workload: Workload) -> Contender:
    """Static sections kept from turn to turn, dynamic ones made anew."""
    stack = make_stack(workload)
    kept = [Section(layer, {}, keep=True) for layer in stack.layers]
    dynamic = [(i, layer) for i, layer in enumerate(stack.layers) if layer.owner is Owner.TURN]

    def warm(values: dict[str, str]) -> str:
        sections = kept.copy()
        for index, layer in dynamic:
            sections[index] = Section(layer, values)
        return assemble(stack, sections, mode="full", settings=SETTINGS).reveal()

    return warm


def make_cold(workload: Workload) -> Contender:
    """Every section made anew."""
    stack = make_stack(workload)

    def cold(values: dict[str, str]) -> str:
        sections = [Section(layer, values) for layer in stack.layers]
        return assemble(stack, sections, mode="full", settings=SETTINGS).reveal()

    return cold
