"""Tests of the published book on real servers: nginx and Apache, with the files that it brings.

``make servers`` installs both, from the distribution's packages, where it may. Each serves the book
at the root of its host and under a folder, on loopback, with no setting of the tests' own but the
port and the folder.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from handful_site import bootstrap, hosting, publish
from handful_site.build import SITE

PATHS = {"root": "/", "folder": "/courses/book/"}
MOVED = {"slow-mode.html": "latency-and-cost.html#what-a-token-costs"}
TYPES = {
    ".html": "text/html",
    ".js": "javascript",
    ".mjs": "javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".ipynb": "application/x-ipynb+json",
    ".csv": "text/csv",
    ".md": "text/",
    ".webmanifest": "application/manifest+json",
}
MODULES = (
    *("mpm_event", "authz_core", "authz_host", "unixd", "dir", "mime"),
    *("headers", "deflate", "filter", "alias", "setenvif", "env"),
)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def nginx(folder: Path, root: Path, path: str, port: int) -> list[str]:
    """Write nginx's settings round the book's own nginx.conf, and return the command."""
    own = (root / path.strip("/") / "nginx.conf").read_text("utf-8")
    own = own.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    assert "root /usr/share/nginx/html;" in own
    own = own.replace("root /usr/share/nginx/html;", f"root {root};")
    (folder / "conf.d").mkdir()
    (folder / "conf.d" / "default.conf").write_text(own, "utf-8")
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nuser root;\npid {folder}/pid;\nerror_log {folder}/errors;\nevents {{}}\n"
        "http {\ninclude /etc/nginx/mime.types;\ndefault_type application/octet-stream;\n"
        f"access_log off;\n{places}include {folder}/conf.d/*.conf;\n}}\n",
        "utf-8",
    )
    return ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder), "-e", f"{folder}/errors"]


def apache(folder: Path, root: Path, path: str, port: int) -> list[str]:
    """Write Apache's settings, which leave everything to the book's .htaccess."""
    modules = Path("/usr/lib/apache2/modules")
    loads = "".join(
        f"LoadModule {name}_module {modules}/mod_{name}.so\n"
        for name in MODULES
        if (modules / f"mod_{name}.so").exists()
    )
    (folder / "apache.conf").write_text(
        f"ServerRoot {folder}\nServerName localhost\nListen 127.0.0.1:{port}\n"
        f"PidFile {folder}/pid\nErrorLog {folder}/errors\n{loads}TypesConfig /etc/mime.types\n"
        f"DocumentRoot {root}\nDirectoryIndex index.html\nUser nobody\nGroup nogroup\n"
        f"<Directory {root}>\nAllowOverride All\nRequire all granted\n</Directory>\n",
        "utf-8",
    )
    return ["apache2", "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"]


SERVERS = {"nginx": nginx, "apache": apache}


class Host:
    """A server with the published book: where it listens, and where the book lies."""

    def __init__(self, kind: str, port: int, path: str, site: Path) -> None:
        self.kind, self.port, self.path, self.site = kind, port, path, site

    def ask(self, name: str, **headers: str):
        """Return the answer to a request for a path of the host, and its body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(
            "GET", name, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body


@pytest.fixture(scope="module", params=[(s, p) for s in SERVERS for p in PATHS], ids="-".join)
def host(request, tmp_path_factory):
    kind, where = request.param
    program = {"nginx": "nginx", "apache": "apache2"}[kind]
    missing = bootstrap.install_program(
        lambda: shutil.which(program, path="/usr/sbin:/usr/bin:/sbin"),
        ({"nginx": "nginx-light", "apache": "apache2"}[kind],),
        f"{program} is not on this machine.",
    )
    assert not missing, missing
    path, folder = PATHS[where], tmp_path_factory.mktemp(f"{kind}-{where}")
    root, port = folder / "www", free_port()
    site = root / path.strip("/")
    shutil.copytree(SITE, site)
    publish.complete(site, f"http://127.0.0.1:{port}{path}", MOVED)
    for one in (folder, *folder.parents):
        if one.stat().st_mode & 0o5 != 0o5 and one.is_relative_to("/tmp"):
            one.chmod(0o755)  # Apache's workers are nobody
    process = subprocess.Popen(
        [f"/usr/sbin/{(command := SERVERS[kind](folder, root, path, port))[0]}", *command[1:]]
    )
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.05)
    yield Host(kind, port, path, site)
    process.terminate()
    process.wait(10)


def files(host: Host) -> list[str]:
    """Return one file of each kind that a page may ask for, and all whose names last."""
    by_kind = {p.suffix: p.relative_to(host.site).as_posix() for p in host.site.rglob("*.*")}
    return [by_kind[kind] for kind in TYPES if kind in by_kind]


def test_every_page_is_served_with_the_headers(host):
    for page in sorted(host.site.rglob("*.html")):
        name = page.relative_to(host.site).as_posix()
        if name in MOVED:
            continue
        answer, body = host.ask(host.path + name)
        assert (answer.status, body) == (200, page.read_bytes()), name
        for header, value in hosting.HEADERS.items():
            assert answer.headers[header] == value, (name, header)
        assert answer.headers["Cache-Control"] == hosting.ASKED, name


def test_each_kind_of_file_has_its_type(host):
    for name in files(host):
        answer, _ = host.ask(host.path + name)
        kind = "." + name.rpartition(".")[2]
        assert answer.status == 200 and TYPES[kind] in answer.headers["Content-Type"], (
            name,
            answer.headers["Content-Type"],
        )


def test_what_is_named_by_what_it_holds_is_kept(host):
    kept = 0
    for file in host.site.rglob("*.*"):
        name = "/" + file.relative_to(host.site).as_posix()
        if name.endswith(("/.htaccess", "/nginx.conf")) or not file.is_file():
            continue
        answer, _ = host.ask(host.path + name.lstrip("/"))
        wanted = hosting.KEPT if hosting.lasting(name) else hosting.ASKED
        assert answer.status in (200, 301) and (
            answer.status == 301 or answer.headers["Cache-Control"] == wanted
        ), name
        kept += wanted == hosting.KEPT
    assert kept > 30


def test_a_worker_of_python_may_compile_and_a_page_may_not(host):
    for worker in (host.site / "_static" / "pyodide").glob("*.*"):
        name = worker.relative_to(host.site).as_posix()
        answer, _ = host.ask(host.path + name)
        found = [v for k, v in answer.getheaders() if k.lower() == "content-security-policy"]
        assert found == [hosting.said("/" + name)["Content-Security-Policy"]], name


def test_text_is_packed_and_says_so(host):
    for name in files(host):
        plain, body = host.ask(host.path + name)
        packed, small = host.ask(host.path + name, Accept_Encoding="gzip")
        if plain.headers["Content-Type"].split(";")[0] in hosting.PACKED and len(body) > 2000:
            assert packed.headers["Content-Encoding"] == "gzip", name
            assert gzip.decompress(small) == body and len(small) < len(body)
            assert "Accept-Encoding" in packed.headers["Vary"], name


def test_an_unchanged_page_is_not_sent_again(host):
    first, _ = host.ask(f"{host.path}index.html")
    again, body = host.ask(f"{host.path}index.html", If_None_Match=first.headers["ETag"])
    assert (again.status, body) == (304, b"")
    assert again.headers["Cache-Control"] == hosting.ASKED


def test_a_lost_address_gets_the_books_own_page(host):
    for name in ("nowhere.html", "deep/er/nowhere.html", "_static/nothing.js"):
        answer, body = host.ask(host.path + name)
        assert answer.status == 404
        page = BeautifulSoup(body, "html.parser")
        assert "A Handful of Equations" in page.get_text()
        sheet = page.select_one('link[rel="stylesheet"]')["href"]
        assert sheet.startswith(host.path)
        assert host.ask(sheet)[0].status == 200, sheet


def test_a_moved_page_leads_on(host):
    answer, _ = host.ask(f"{host.path}slow-mode.html")
    assert answer.status == 301
    where = answer.headers["Location"].replace(f"http://127.0.0.1:{host.port}", "")
    assert where == host.path + MOVED["slow-mode.html"]


def test_settings_and_folders_are_not_shown(host):
    assert host.ask(f"{host.path}.htaccess")[0].status in (403, 404)
    assert host.ask(f"{host.path}_static/")[0].status in (403, 404)
    assert host.ask(host.path)[0].status == 200


def test_a_browser_reads_it_without_a_fault(host, browser):
    """Front page, a chapter with plots, search, and a lost address, under the server's policy."""
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: message.type == "error" and faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    base = f"http://127.0.0.1:{host.port}{host.path}"
    page.goto(f"{base}latency-and-cost.html")
    page.locator("figure.explorer .ex-cursor").first.wait_for(state="attached")
    page.goto(f"{base}search.html?q=roofline")
    page.locator("main a[href*='.html']").first.wait_for()
    assert faults == []
    page.goto(f"{base}nowhere.html")
    assert "A Handful of Equations" in page.title()
    assert [text for text in faults if "404" not in text] == []
    context.close()


def test_headers_of_other_hosts_name_files_that_exist(host):
    """Of Netlify's and Cloudflare's rules: each names a file of the site, or a folder."""
    text = (host.site / "_headers").read_text("utf-8")
    rules = [line for line in text.splitlines() if line.startswith("/")]
    for rule in rules:
        name = rule.removeprefix(host.path).rstrip("*")
        assert (host.site / name).exists(), rule
    assert json.dumps(rules).count(".css") >= 1
