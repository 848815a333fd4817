"""A server answers to its own names, letter for letter but for case, and takes a page for its own by the same names."""

from __future__ import annotations

import pytest

from charter.web.running import Plan
from charter.web.server import Settings

from .rooms import QUICK, Person, house, person, served

pytestmark = pytest.mark.requirement("S0-10")
OURS = ["127.0.0.1:8420", "localhost:8420", "LocalHost:8420", "[::1]:8420"]
OTHERS = [
    "localhost", "localhost:8421", "localhost.:8420", "localhost:8420.evil.test", "evil.test:8420", "127.0.0.1",
    "127.1:8420", "0.0.0.0:8420", "[::1]", "::1:8420", "localhost:08420", "user@localhost:8420",
    "localhost:8420@evil.test", " ", "null",
]  # fmt: skip


def at(plan: Plan) -> Person:
    return person(served(house(), Settings(hosts=plan.hosts, limits=QUICK)), "user", "mira")


def put(mira: Person, host: str, **headers: str) -> int:
    zone = {"timezone": "Europe/Berlin"}
    return mira("PUT", "/api/timezone", zone, headers={"host": host, **headers}).status_code


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_on_loopback_a_server_answers_to_the_names_of_loopback_and_its_port(address: str) -> None:
    mira = at(Plan(address=address, port=8420))
    assert [put(mira, host) for host in OURS] == [200] * len(OURS)
    assert [put(mira, host) for host in OTHERS] == [421] * len(OTHERS)


def test_a_page_is_ours_by_the_same_names() -> None:
    mira = at(Plan(port=8420))
    assert [put(mira, OURS[0], origin=f"http://{name}") for name in OURS] == [200] * len(OURS)
    found = [put(mira, OURS[0], origin=f"http://{name}") for name in OTHERS if name != " "]
    assert found == [403] * (len(OTHERS) - 1)
    assert [put(mira, OURS[0], origin=name) for name in ("null", "localhost:8420", "http:localhost:8420")] == [403] * 3


def test_open_to_others_it_answers_to_what_it_was_told_and_its_own_address() -> None:
    mira = at(Plan(address="192.0.2.7", port=8420, names=("Charter.Example", "charter.example:8443")))
    found = [put(mira, host) for host in ("charter.example", "CHARTER.example:8443", "192.0.2.7:8420")]
    assert found == [200] * 3
    assert [put(mira, host) for host in ("charter.example:80", "localhost:8420", "192.0.2.7")] == [421] * 3


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_open_on_every_address_the_link_that_is_printed_opens_on_this_machine(address: str) -> None:
    plan = Plan(address=address, port=8420, names=("charter.example",))
    mira = at(plan)
    assert put(mira, plan.origin.removeprefix("http://"), origin=plan.origin) == 200
    assert [put(mira, host) for host in ("0.0.0.0:8420", "[::]:8420", "192.0.2.7:8420")] == [421] * 3


def test_where_the_port_goes_without_saying_a_browser_does_not_say_it() -> None:
    mira = at(Plan(port=80))
    for name in ("127.0.0.1", "localhost", "[::1]"):
        assert put(mira, name, origin=f"http://{name}") == put(mira, f"{name}:80") == 200
    assert put(mira, "evil.test") == 421


def test_a_server_for_any_name_takes_a_page_of_the_name_it_was_asked_by() -> None:
    mira = person(served(house(), Settings(limits=QUICK)), "user", "mira")
    assert put(mira, "a.test", origin="https://a.test") == 200
    assert [put(mira, "a.test", origin=origin) for origin in ("https://b.test", "null", "https://")] == [403] * 3
