"""The little server of `make serve`."""

from __future__ import annotations

import gzip
import http.client
import socket
import subprocess
import sys

import pytest

from handful_site.build import SITE
from handful_site.hosting import HEADERS, KEPT


def ask(address: str, path: str, method: str = "GET", **headers):
    connection = http.client.HTTPConnection(address.split("//")[1].strip("/"), timeout=10)
    connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_types_policy_and_compression(folder_server):
    folder, address = folder_server
    (folder / "a.js").write_text("1;" * 500)
    plain, body = ask(address, "/a.js")
    packed, small = ask(address, "/a.js", Accept_Encoding="gzip")
    assert plain.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert all(plain.headers[name] == value for name, value in HEADERS.items())
    assert (
        packed.headers["Content-Encoding"] == "gzip"
        and gzip.decompress(small) == body
        and len(small) < 100
    )


def test_a_file_that_stands_is_not_sent_again(folder_server):
    folder, address = folder_server
    (folder / "a.css").write_text("p {}")
    first, _ = ask(address, "/a.css")
    again, body = ask(address, "/a.css", If_None_Match=first.headers["ETag"])
    assert (again.status, body) == (304, b"")
    (folder / "a.css").write_text("a {}")
    changed, body = ask(address, "/a.css", If_None_Match=first.headers["ETag"])
    assert (changed.status, body) == (200, b"a {}")


def test_what_is_named_by_what_it_holds_is_kept(folder_server):
    folder, address = folder_server
    (folder / "_static").mkdir()
    for name in ("site.1b2c3d4e.css", "site.css"):
        (folder / "_static" / name).write_text("p {}")
    assert ask(address, "/_static/site.1b2c3d4e.css")[0].headers["Cache-Control"] == KEPT
    assert ask(address, "/_static/site.css")[0].headers["Cache-Control"] == "no-cache"


def test_a_lost_address_gets_the_books_own_page_where_there_is_one(folder_server):
    folder, address = folder_server
    (folder / "404.html").write_text("<p>No such page</p>")
    answer, body = ask(address, "/deep/none.html")
    assert (answer.status, answer.headers["Content-Type"], body) == (
        404,
        "text/html; charset=utf-8",
        b"<p>No such page</p>",
    )


@pytest.mark.parametrize(
    "path", ["/folder/", "/../secret.txt", "/%2e%2e/secret.txt", "/none", "/a%00b", "//etc/passwd"]
)
def test_nothing_else_is_served(folder_server, path):
    folder, address = folder_server
    (folder / "folder").mkdir(exist_ok=True)
    (folder / "folder" / "a.txt").write_text("a")
    (folder.parent / "secret.txt").write_text("secret")
    answer, body = ask(address, path)
    assert answer.status == 404 and b"secret" not in body and b"a.txt" not in body


def test_head_has_no_body(folder_server):
    folder, address = folder_server
    (folder / "index.html").write_text("hello")
    answer, body = ask(address, "/", "HEAD")
    assert (answer.status, answer.headers["Content-Length"], body) == (200, "5", b"")


def test_a_taken_port_is_said_plainly(site):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "handful_site.serve", str(SITE), "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=30,
        )
    assert done.returncode == 1
    assert f"Port {port} is taken" in done.stderr and f"PORT={port + 1}" in done.stderr
