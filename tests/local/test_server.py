"""One model server, closed to all but its owner: made late from proved weights, shared in a process, one a machine."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from charter.core.dialogue import Usage
from charter.core.errors import FileRefused, MissingExtra, ProviderDown
from charter.providers import embedded
from charter.providers.embedded import Embedded

from .engine import Engine, engine, request, silent

__all__ = ["engine"]
pytestmark = pytest.mark.requirement("N-16")


@pytest.fixture
def weights(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    yield path
    assert embedded._HERE == []


def test_the_server_starts_with_the_first_request_and_stops_with_close(engine: Engine, weights: Path) -> None:
    model = Embedded("tiny", weights=lambda: weights)
    assert (model.name, model.model, model.dialect, model.native_tools) == ("embedded", "embedded/tiny", "openai", True)
    assert engine.alive == 0
    reply = model.converse(request(model), silent)
    assert (reply.text, reply.usage) == ("Yes.", Usage(9, 1, cached=4))
    assert engine.alive == 1
    model.close()
    model.close()
    assert engine.alive == 0
    with model:
        assert model.converse(request(model), silent).text == "Yes."
    assert (len(engine.servers), engine.alive) == (2, 0)


def test_it_hears_loopback_asks_for_a_secret_shows_no_prompts_and_cuts_none(engine: Engine, weights: Path) -> None:
    with Embedded("tiny", weights=lambda: weights, window=512, threads=64) as model:
        model.converse(request(model), silent)
    (told,) = engine.servers
    assert (told.hostname, told.port, told.model.path, told.n_ctx) == ("127.0.0.1", 0, str(weights), 512)
    assert engine.keys == [f"Bearer {told.api_keys[0]}"]
    assert len(told.api_keys[0]) == 32
    assert (told.verbosity, told.ctx_shift, told.use_jinja, told.n_parallel) == (0, False, True, 1)
    assert not any((told.endpoint_slots, told.endpoint_metrics, told.endpoint_props, told.webui))
    assert told.cpuparams.n_threads == told.cpuparams_batch.n_threads == os.cpu_count()


def test_a_body_says_temperature_zero_and_keeps_the_cache_unless_told_otherwise(weights: Path) -> None:
    model = Embedded("tiny", weights=lambda: weights)
    assert model.options(stream=False, max_tokens=9) == {
        "stream": False,
        "max_tokens": 9,
        "cache_prompt": True,
        "temperature": 0,
    }
    warm = Embedded("tiny", weights=lambda: weights, options={"temperature": 0.7, "seed": 1})
    assert warm.options(stream=True, max_tokens=9) == {
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 9,
        "cache_prompt": True,
        "temperature": 0.7,
        "seed": 1,
    }


def test_weights_that_are_not_proved_are_never_loaded_and_the_lock_is_free_after(engine: Engine, weights: Path) -> None:
    def refuse() -> Path:
        raise FileRefused("tiny.gguf", "not what its publisher made")

    model = Embedded("tiny", weights=refuse)
    with pytest.raises(FileRefused):
        model.converse(request(model), silent)
    assert engine.servers == []
    with Embedded("tiny", weights=lambda: weights) as good:
        assert good.converse(request(good), silent).text == "Yes."


def test_a_server_that_does_not_start_is_an_error_and_frees_the_lock(engine: Engine, weights: Path) -> None:
    model = Embedded("tiny", weights=lambda: weights)
    engine.fails = True
    with pytest.raises(ProviderDown) as caught:
        model.converse(request(model), silent)
    assert str(caught.value) == "embedded/tiny: its server did not start; free some memory and try again"
    engine.fails = False
    with model:
        assert model.converse(request(model), silent).text == "Yes."


def test_without_the_library_it_says_what_to_install(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    model = Embedded("tiny", weights=lambda: weights)
    with pytest.raises(
        MissingExtra, match=r"the embedded model needs an optional part: pip install 'charter\[local\]'"
    ):
        model.converse(request(model), silent)
    assert "GOMP_SPINCOUNT" not in os.environ


# ── one in a process, one on a machine ────────────────────────────────────────────────────────────────────────────


def test_providers_of_one_model_share_a_server_and_the_last_to_close_stops_it(engine: Engine, weights: Path) -> None:
    first, second = (Embedded("tiny", weights=lambda: weights) for _ in range(2))
    for model in (first, second, first):
        model.converse(request(model), silent)
    assert len(engine.servers) == 1
    first.close()
    assert engine.alive == 1
    assert second.converse(request(second), silent).text == "Yes."
    second.close()
    assert engine.alive == 0


def test_threads_that_ask_first_at_once_start_one_server(engine: Engine, weights: Path) -> None:
    model = Embedded("tiny", weights=lambda: weights)
    threads = [threading.Thread(target=model.converse, args=(request(model), silent)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(engine.servers), len(engine.keys)) == (1, 8)
    model.close()


def test_another_model_in_the_same_process_is_refused_while_one_runs(engine: Engine, weights: Path) -> None:
    other = Embedded("other", weights=lambda: weights)
    with Embedded("tiny", weights=lambda: weights) as model:
        model.converse(request(model), silent)
        with pytest.raises(ProviderDown) as caught:
            other.converse(request(other), silent)
    assert str(caught.value) == (
        "embedded/other: embedded/tiny runs in this process already, and one at a time is enough for a machine; "
        "close that one first"
    )
    with other:
        assert other.converse(request(other), silent).text == "Yes."


HOLD = """
import fcntl, sys
lock = open(sys.argv[1], "a")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_while_another_process_runs_a_model_this_one_waits_and_says_so_once(
    engine: Engine, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-c", HOLD, str(weights.with_name(".server.lock"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        said: list[str] = []
        naps: list[float] = []

        def nap(seconds: float) -> None:
            naps.append(seconds)
            assert engine.alive == 0
            if len(naps) == 3:
                other.kill()  # however a process ends, what it held is free
                other.wait()

        monkeypatch.setattr(embedded, "sleep", nap)
        with Embedded("tiny", weights=lambda: weights, tell=said.append) as model:
            assert model.converse(request(model), silent).text == "Yes."
    assert said == ["waiting: another process runs a model on this machine; two at once would both crawl"]
    assert len(naps) == 3


def test_who_waits_longer_than_a_request_may_take_gives_up(engine: Engine, weights: Path) -> None:
    model = Embedded("tiny", weights=lambda: weights, tell=silent)
    with weights.with_name(".server.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ProviderDown) as caught:
            model.converse(request(model, seconds=0.05), silent)
    assert str(caught.value) == (
        "embedded: another process runs a model on this machine, and two at once would both crawl; "
        "end that process, or try again later"
    )
    assert engine.servers == []


def test_a_child_of_a_fork_neither_uses_nor_stops_its_parents_server(engine: Engine, weights: Path) -> None:
    with Embedded("tiny", weights=lambda: weights) as model:
        model.converse(request(model), silent)
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # that threads and forks do not mix is the point here
            child = os.fork()
        if child == 0:
            try:
                model.converse(request(model), silent)
            except ProviderDown as error:
                os.write(write, str(error).encode())
            model.close()
            os._exit(engine.alive)
        os.close(write)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        with os.fdopen(read, "rb") as said:
            assert said.read() == b"embedded: this process was forked from the one that has it; open the model anew"
        assert model.converse(request(model), silent).text == "Yes."


def test_neither_the_secret_nor_an_address_is_in_a_repr(engine: Engine, weights: Path) -> None:
    with Embedded("tiny", weights=lambda: weights) as model:
        model.converse(request(model), silent)
        assert repr(model) == "Embedded('embedded/tiny', window=8192, running=True)"
        assert engine.servers[0].api_keys[0] not in repr(embedded._HERE)
