"""Tests of the local server within this process.

They cover how it starts, what it refuses in one sentence, and what it says meanwhile.
"""

from __future__ import annotations

import errno
import http.client
import socket
import sys
import threading

import pytest

from handful_site import serve


@pytest.fixture
def book(tmp_path):
    (tmp_path / "index.html").write_text("hello")
    return tmp_path


@pytest.fixture
def start(monkeypatch):
    def call(*argv):
        monkeypatch.setattr(sys, "argv", ["serve", *map(str, argv)])
        serve.main()

    return call


@pytest.fixture
def running(book):
    with serve.open_server(book, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server, path: str, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.request(
        "GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, dict(answer.headers)


def test_without_a_book_it_says_how_to_make_one(start, tmp_path):
    with pytest.raises(SystemExit, match=r"There is no built book in .*; run `make build`\."):
        start(tmp_path / "nowhere")


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_does_not_exist(start, book, port):
    with pytest.raises(
        SystemExit, match=rf"Port {port} does not exist; choose one from 1024 to 65535"
    ):
        start(book, f"--port={port}")


def test_a_taken_port(start, book):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            SystemExit,
            match=rf"Port {port} is taken by another program; choose another: make serve "
            rf"PORT={port + 1}",
        ):
            start(book, "--port", port)


def test_a_port_is_tried_without_a_book(start, tmp_path):
    """`make serve` tries the port before it builds.

    So nobody waits minutes for a book that cannot be shown.
    """
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit, match=f"Port {port} is taken"):
            start(tmp_path / "nowhere", "--try", "--port", port)
    assert start(tmp_path / "nowhere", "--try", "--port", port) is None


def test_a_reserved_port(start, book, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "denied")

    monkeypatch.setattr(serve, "open_server", refuse)
    with pytest.raises(SystemExit, match=r"\b80\b.*1023"):
        start(book, "--port", 80)


def test_another_fault_keeps_its_trace(start, book, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENETDOWN, "no network")

    monkeypatch.setattr(serve, "open_server", fail)
    with pytest.raises(OSError, match="no network"):
        start(book)


def test_it_says_its_address_and_ctrl_c_ends_it(start, book, monkeypatch, capsys):
    served = []

    def interrupted(server):
        served.append(server.server_port)
        raise KeyboardInterrupt

    monkeypatch.setattr(serve.Server, "serve_forever", interrupted)
    start(book, "--port", 0)
    assert f"http://127.0.0.1:{served[0]}/ " in capsys.readouterr().out
    with socket.create_server(("127.0.0.1", served[0])):  # the port is free again
        pass


def test_only_what_is_missing_is_logged(running, capsys):
    assert ask(running, "/")[:2] == (200, b"hello")
    assert ask(running, "/none")[0] == 404
    said = capsys.readouterr().err
    assert "/none" in said and said.count("\n") == 1


def test_what_lies_outside_of_the_folder_is_not_there(running, book):
    (book.parent / "secret.txt").write_text("secret")
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/" + "a" * 3000, "/a%00b"):
        assert ask(running, path)[0] == 404


def test_a_kind_of_file_that_nobody_knows_is_not_guessed(running, book):
    (book / "a.unknown").write_bytes(b"\x00\x01")
    status, body, headers = ask(running, "/a.unknown", Accept_Encoding="gzip")
    assert (status, body, headers["Content-Type"]) == (200, b"\x00\x01", "application/octet-stream")
    assert "Content-Encoding" not in headers and headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "fault, said", [(ConnectionResetError, False), (TimeoutError, False), (ZeroDivisionError, True)]
)
def test_a_reader_who_leaves_is_no_error(book, capsys, fault, said):
    with serve.open_server(book, 0, quiet=True) as server:
        try:
            raise fault
        except fault:
            server.handle_error(None, ("127.0.0.1", 1))
    assert (fault.__name__ in capsys.readouterr().err) == said
