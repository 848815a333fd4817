"""Who one is here, and which agents there are to talk to."""

from __future__ import annotations

from .common import At, Here, In, Told, Who, open_to, room, today

router = room("agents")
ANYONE = ("operator", "approver", "user", "sender")


class Me(Told):
    """The bearer of the token: `agent` is the one it is bound to, empty for every one."""

    role: str
    name: str
    agent: str
    channel: str
    token: str


class Agent(Told):
    """An agent that is served."""

    name: str
    charter: str
    about: str
    channels: list[str]
    paused: bool


class Whole(Agent):
    """The same with what only an operator is told; None for everyone else."""

    version: str | None = None
    provider: str | None = None
    model: str | None = None
    modes: list[str] | None = None
    default_mode: str | None = None
    layers: list[str] | None = None
    waiting: int | None = None


@router.get("/me", response_model=Me, **open_to(*ANYONE, fails=()))
def me(who: Who) -> Me:
    """Who the token says one is."""
    return Me(role=who.role, name=who.name, agent=who.agent, channel=who.channel, token=who.token_id)


@router.get("/agents", response_model=list[Agent], **open_to(*ANYONE, fails=()))
def agents(who: Who, house: In) -> list[Agent]:
    """The agents one's token reaches."""
    found = [agent for name, agent in house.agents.items() if who.agent in ("", name)]
    return [_agent(Here(house, who, agent)) for agent in found]


@router.get("/agents/{agent}", response_model=Whole, **open_to(*ANYONE))
def agent(here: At) -> Whole:
    """One agent."""
    short = Whole(**_agent(here).model_dump())
    if here.caller.role != "operator":
        return short
    charter, provider = here.charter, here.agent.provider
    return short.model_copy(
        update={
            "version": charter.version, "provider": provider.name, "model": provider.model,
            "modes": list(charter.stack.modes), "default_mode": charter.default_mode,
            "layers": list(charter.stack.position), "waiting": here.store.waiting(here.name),
        }
    )  # fmt: skip


def _agent(here: Here) -> Agent:
    charter = here.charter
    paused = here.store.control(here.name, today()).paused
    return Agent(
        name=here.name, charter=charter.name, about=charter.about, channels=list(charter.channels), paused=paused
    )
