"""HTTP headers for the book's files, defined once, and as configuration of four servers.

Every page carries the policy itself; what a page cannot say (who may frame it, how long a copy may
be kept) is said in headers.  A host that sends none still shows the whole book.
"""

from __future__ import annotations

import re
from pathlib import Path

from . import inpage
from .postprocess import POLICY

FRAMES = "frame-ancestors 'self'"  # heeded in a header only
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; {FRAMES}",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), "
    "microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
# Folders whose files go by another policy: workers that compile WebAssembly, which no page may.
POLICIES = {
    f"{inpage.FOLDER}/": inpage.POLICY,
    "_static/handful/measure/": inpage.POLICY,
}
# A name with a mark made of what the file holds: the same name is always the same file.
LASTING = (
    r"/_static/(pyodide/[0-9a-f]{8}/[\w.-]+|files/[^/]+-[0-9A-Z]{8}|"
    r"([^/]+/)*[^/]+\.[0-9a-f]{8})\.[a-z0-9]+$"
)
KEPT = "public, max-age=31536000, immutable"
# Asked after on each visit, and answered "as before" in a few bytes.
ASKED = "no-cache"
PACKED = (
    "text/html",
    "text/css",
    "text/javascript",
    "text/plain",
    "text/csv",
    "application/javascript",
    "application/json",
    "application/wasm",
    "application/xml",
    "application/x-ipynb+json",
    "image/svg+xml",
)
# Types that servers' own tables lack, or have as a stream of bytes, which no page runs.
TYPES = {
    "mjs": "text/javascript",
    "wasm": "application/wasm",
    "ipynb": "application/x-ipynb+json",
    "csv": "text/csv",
    "md": "text/markdown",
    "webmanifest": "application/manifest+json",
    "woff2": "font/woff2",
}
WARNING = "Made by `make publish` from lib/handful_site/hosting.py; change it there."


def said(path: str) -> dict[str, str]:
    """Return the headers of the file at this path of the host.

    >>> said("/index.html")["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
    True
    >>> [
    ...     "wasm" in said(f"/book/{folder}worker.js")["Content-Security-Policy"]
    ...     for folder in POLICIES
    ... ]
    [True, True]
    """
    other = next((policy for folder, policy in POLICIES.items() if f"/{folder}" in path), None)
    return HEADERS | ({"Content-Security-Policy": other} if other else {})


def lasting(path: str) -> bool:
    """Check whether a copy of this file may be kept indefinitely.

    >>> [
    ...     lasting(f"/book/_static/{name}")
    ...     for name in (
    ...         "site.1b2c3d4e.css",
    ...         "files/KaTeX_Main-YP5VVQRP.woff2",
    ...     )
    ... ]
    [True, True]
    >>> [
    ...     lasting(name)
    ...     for name in (
    ...         "/index.html",
    ...         "/sw.js",
    ...         "/_static/downloads/cards.json",
    ...         "/_static/handful/licences.txt",
    ...     )
    ... ]
    [False, False, False, False]
    """
    return re.search(LASTING, path) is not None


def files(site: Path, path: str, moved: dict[str, str]) -> dict[str, str]:
    """Return the names and texts of the servers' configuration files.

    Parameters
    ----------
    site : Path
        The finished site, whose lasting files Netlify's and Cloudflare's rules have to name one by
        one.
    path : str
        Where the book lies on its host, with a slash at both ends: "/" or "/book/".
    moved : dict
        Old page → new page and anchor, both within the book.
    """
    return {
        "_headers": headers_file(site, path),
        "_redirects": redirects_file(path, moved),
        ".htaccess": htaccess(path, moved),
        "nginx.conf": nginx(path, moved),
    }


def headers_file(site: Path, path: str) -> str:
    """Return the _headers file of Netlify, Cloudflare Pages and similar hosts.

    Matching rules add up, so no file may match two rules on caching, and the rule for all files may
    hold no restriction: the pages' own policy is in the pages.
    """
    named = sorted(
        f"/{p.relative_to(site).as_posix()}"
        for p in (site / "_static").rglob("*")
        if p.is_file()
        and lasting(f"/{p.relative_to(site).as_posix()}")
        and p.parent.name != "files"
        and not any(folder in p.as_posix() for folder in POLICIES)
    )
    rules = [
        (f"{path}*", HEADERS | {"Content-Security-Policy": FRAMES}),
        *(
            (f"{path}{folder}*", {"Content-Security-Policy": policy, "Cache-Control": KEPT})
            for folder, policy in POLICIES.items()
        ),
        *(
            (f"{path}{name.lstrip('/')}", {"Cache-Control": KEPT})
            for name in ("_static/files/*", *named)
        ),
    ]
    return (
        f"# {WARNING}\n"
        + "\n".join(
            "\n".join([rule, *(f"  {name}: {value}" for name, value in said.items())])
            for rule, said in rules
        )
        + "\n"
    )


def redirects_file(path: str, moved: dict[str, str]) -> str:
    """Return the _redirects file of Netlify, Cloudflare Pages and similar hosts."""
    return f"# {WARNING}\n" + "".join(
        f"{path}{old} {path}{new} 301\n" for old, new in moved.items()
    )


def htaccess(path: str, moved: dict[str, str]) -> str:
    """Return the configuration of Apache 2.4, in the book's own folder."""
    said = "\n".join(f'  Header always set {name} "{value}"' for name, value in HEADERS.items())
    other = "\n".join(
        f'  Header always set Content-Security-Policy "{policy}" "expr=%{{REQUEST_URI}} =~ '
        f'm#/{folder}#"'
        for folder, policy in POLICIES.items()
    )
    types = "\n".join(f"AddType {kind} .{ending}" for ending, kind in TYPES.items())
    redirects = "".join(
        f"  Redirect permanent {path}{old} {path}{new}\n" for old, new in moved.items()
    )
    return f"""# {WARNING}
Options -Indexes
ErrorDocument 404 {path}404.html
<IfModule mod_headers.c>
{said}
{other}
  Header set Cache-Control "{ASKED}"
  Header set Cache-Control "{KEPT}" "expr=%{{REQUEST_URI}} =~ m#{LASTING}#"
</IfModule>
<IfModule mod_deflate.c>
  AddOutputFilterByType DEFLATE {" ".join(PACKED)}
</IfModule>
{types}
<FilesMatch "^\\.">
  Require all denied
</FilesMatch>
<IfModule mod_alias.c>
{redirects}</IfModule>
"""


def nginx(path: str, moved: dict[str, str]) -> str:
    """Return a file for nginx's conf.d: a server with the book alone."""
    said = "\n".join(
        f"    add_header {name} {value} always;"
        for name, value in (
            {name: f'"{value}"' for name, value in HEADERS.items()}
            | {"Content-Security-Policy": "$policy"}
        ).items()
    )
    other = "\n".join(f'    "~/{folder}" "{policy}";' for folder, policy in POLICIES.items())
    types = "".join(
        f"    location ~ \\.{ending}$ {{ types {{ }} default_type {kind}; }}\n"
        for ending, kind in TYPES.items()
    )
    gone = "".join(
        f"    location = {path}{old} {{ return 301 {path}{new}; }}\n" for old, new in moved.items()
    )
    # Quoted, since the pattern holds braces.
    return f"""# {WARNING}
map $uri $policy {{
    default "{HEADERS["Content-Security-Policy"]}";
{other}
}}
map $uri $how_long {{
    default "{ASKED}";
    "~{LASTING}" "{KEPT}";
}}
server {{
    listen 8080;
    root /usr/share/nginx/html;
    server_tokens off;
    absolute_redirect off;
    gzip on;
    gzip_comp_level 9;
    gzip_vary on;
    gzip_types {" ".join(kind for kind in PACKED if kind != "text/html")};
{said}
    add_header Cache-Control $how_long;
    error_page 404 {path}404.html;
    location ~ /\\. {{ return 404; }}
{types}{gone}}}
"""
