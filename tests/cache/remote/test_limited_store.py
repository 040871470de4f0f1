"""Whatever goes wrong in a store is one kind of error, without secrets."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from registry.cache.remote.limited_store import LimitedStore, NoAnswerError
from registry.cache.remote.objects import Store


def failing(error: Exception) -> None:
    raise error


def test_a_result_comes_back(tmp_path: Path) -> None:
    (tmp_path / "name").write_bytes(b"data")
    assert LimitedStore(str(tmp_path), 5).call(lambda store, _: store.read("name", 9)) == b"data"


@pytest.mark.parametrize(
    ("url", "message"),
    [("nowhere://x", "can't open nowhere://"), ("/no/such/folder", "there is no such folder")],
)
def test_the_first_call_opens_it(url: str, message: str) -> None:
    one = LimitedStore(url, 5)
    with pytest.raises(NoAnswerError, match=f"^{message}"):
        one.call(lambda store, _: store.read("name", 9))


def test_an_error_of_a_library_is_named_without_secrets() -> None:
    url = "memory://user:password@host/x"
    one = LimitedStore(url, 5)
    assert "password" not in one.shown
    with pytest.raises(NoAnswerError) as raised:
        one.call(lambda *_: failing(KeyError(f"{url} refuses password")))
    assert str(raised.value).startswith("KeyError: ")
    assert "password" not in str(raised.value)


def test_the_time_limit_is_named() -> None:
    end = threading.Event()

    def hang(_: Store, __: object) -> None:
        end.wait()

    with pytest.raises(NoAnswerError, match=r"no progress for 0\.1 seconds"):
        LimitedStore("memory://x", 0.05).call(hang, factor=2)
    end.set()
