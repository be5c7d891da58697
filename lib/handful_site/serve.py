"""Serve the built book on this machine only: ``python -m handful_site.serve [FOLDER] [--port N]``.

Files have their right types and are compressed, browsers check them on each visit unless their name
changes with their contents, folders are not listed, and headers are those that hosting.py
recommends.
"""

from __future__ import annotations

import argparse
import errno
import gzip
import hashlib
import sys
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from . import hosting

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".ico": "image/x-icon",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".ipynb": "application/x-ipynb+json",
    ".csv": "text/csv; charset=utf-8",
    ".bib": "text/plain; charset=utf-8",
    ".inv": "application/octet-stream",
    ".zip": "application/zip",
    ".bin": "application/octet-stream",
    ".webmanifest": "application/manifest+json; charset=utf-8",
}
COMPRESSED = {
    ".html",
    ".css",
    ".js",
    ".mjs",
    ".json",
    ".svg",
    ".txt",
    ".md",
    ".ipynb",
    ".csv",
    ".bib",
    ".ico",
    ".webmanifest",
}


@lru_cache(maxsize=512)
def packed(path: Path, changed: float) -> bytes:
    """Return a file compressed as a web server would send it.

    `changed` is the file's time of change; it is part of the cache's key.
    """
    return gzip.compress(path.read_bytes(), 9, mtime=0)


class Handler(BaseHTTPRequestHandler):
    """The handler of GET and HEAD requests for files below `folder`."""

    folder: Path
    quiet = False
    said = staticmethod(hosting.said)
    protocol_version = "HTTP/1.1"
    # Head and body in one packet: sent apart, the second waits 40 ms for the first to be
    # acknowledged.
    wbufsize = -1
    disable_nagle_algorithm = True
    server_version, sys_version = "handful", ""

    def do_GET(self) -> None:
        """Answer a GET request."""
        self.answer(with_body=True)

    def do_HEAD(self) -> None:
        """Answer a HEAD request, without the body."""
        self.answer(with_body=False)

    def find(self) -> Path | None:
        """Return the file that the address names.

        The result is None for folders without index.html and for paths outside `folder`.
        """
        path = (self.folder / unquote(urlsplit(self.path).path).lstrip("/")).resolve()
        if path.is_dir():
            path /= "index.html"
        return path if path.is_relative_to(self.folder) and path.is_file() else None

    def answer(self, with_body: bool) -> None:
        """Send the file that the address names, or the page for unknown addresses."""
        try:
            path = self.find()
        except (ValueError, OSError):
            path = None
        if path is None:
            page = self.folder / "404.html"  # in a copy made by `make publish`
            text, kind = (
                (page.read_bytes(), TYPES[".html"])
                if page.is_file()
                else (b"There is no such page in this book.\n", "text/plain")
            )
            return self.send(HTTPStatus.NOT_FOUND, text, kind, with_body)
        data = path.read_bytes()
        # Each visit asks whether the file changed and gets a short "no": a rebuilt book shows at
        # once.
        tag = f'"{hashlib.sha256(data).hexdigest()[:20]}"'
        if self.headers.get("If-None-Match") == tag:
            return self.send(HTTPStatus.NOT_MODIFIED, b"", "", False, tag)
        kind = TYPES.get(path.suffix, "application/octet-stream")
        if path.suffix in COMPRESSED and "gzip" in self.headers.get("Accept-Encoding", ""):
            self.send(
                HTTPStatus.OK, packed(path, path.stat().st_mtime), kind, with_body, tag, "gzip"
            )
        else:
            self.send(HTTPStatus.OK, data, kind, with_body, tag)

    def send(
        self,
        status: HTTPStatus,
        body: bytes,
        kind: str,
        with_body: bool,
        tag: str = "",
        coding: str = "",
    ) -> None:
        """Send a status, the headers and, where asked for, the body."""
        self.send_response(status)
        keep = (
            "no-store"
            if not tag
            else hosting.KEPT
            if hosting.lasting(urlsplit(self.path).path)
            else hosting.ASKED
        )
        headers = {
            "Content-Type": kind,
            "Content-Encoding": coding,
            "ETag": tag,
            "Cache-Control": keep,
            "Vary": "Accept-Encoding",
            **self.said(urlsplit(self.path).path),
        }
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        if status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, form: str, *values) -> None:
        """Log errors only, which a line for each file would hide."""
        if not self.quiet and str(values[1] if len(values) > 1 else "").startswith(("4", "5")):
            super().log_message(form, *values)


class Server(ThreadingHTTPServer):
    """A server that answers each connection in a thread of its own."""

    daemon_threads = True
    # A port in use must be an error, not shared with another server.
    allow_reuse_port = False

    def handle_error(self, request, address) -> None:
        """Ignore connections that the browser closed; report other errors."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, address)


def open_server(folder: Path, port: int, quiet: bool = False) -> Server:
    """Return a server of `folder` on 127.0.0.1; port 0 takes a free one."""
    handler = type("BoundHandler", (Handler,), {"folder": folder.resolve(), "quiet": quiet})
    return Server(("127.0.0.1", port), handler)


def main() -> None:
    """Serve the folder and port that the command line names."""
    from .build import SITE

    parser = argparse.ArgumentParser(description="Serve the built book on this machine only.")
    parser.add_argument("folder", nargs="?", type=Path, default=SITE)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument(
        "--try",
        dest="only_try",
        action="store_true",
        help="say whether the port can be had, and end",
    )
    options = parser.parse_args()
    if not options.only_try and not (options.folder / "index.html").exists():
        sys.exit(f"There is no built book in {options.folder}; run `make build`.")
    if not 0 <= options.port <= 65535:
        sys.exit(
            f"Port {options.port} does not exist; choose one from 1024 to 65535: make serve "
            "PORT=8001"
        )
    try:
        server = open_server(options.folder, options.port)
    except PermissionError:
        sys.exit(
            f"Port {options.port} is reserved on this machine; choose one above 1023: make serve "
            "PORT=8001"
        )
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        sys.exit(
            f"Port {options.port} is taken by another program; choose another: "
            f"make serve PORT={options.port + 1}"
        )
    if options.only_try:
        server.server_close()
        return
    print(
        f"\nA Handful of Equations: http://127.0.0.1:{server.server_port}/   (Ctrl+C stops it)",
        flush=True,
    )
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()


if __name__ == "__main__":
    main()
