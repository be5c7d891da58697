"""Tests of what a published copy carries beside the book, and of what cannot be published.

A copy carries addresses, moved pages and headers.
"""

from __future__ import annotations

import re
import tomllib
from datetime import date
from xml.etree import ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup

from handful_site import build, edition, hosting, postprocess, publish
from handful_site.bootstrap import ROOT
from handful_site.theme import POLICY

PAGE = (
    '<!doctype html><html data-content_root="./"><head><link href="_static/site.1b2c3d4e.css" '
    'rel="stylesheet"/><title>{0} — A Handful '
    'of Equations</title></head><body><a href="#main">skip</a><nav>'
    '<a class="current" href="#">{0}</a><a href="index.html">first</a></nav>'
    '<main id="main"><article class="article"><h1 id="top">{0}</h1></article>'
    "</main></body></html>"
)


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    (folder / "_static").mkdir(parents=True)
    for name in ("404", "index", "about", "errata", "balance-batch", "search"):
        (folder / f"{name}.html").write_text(PAGE.format(name.capitalize()), "utf-8")
    for name in ("site.1b2c3d4e.css", "plain.css"):
        (folder / "_static" / name).write_text("")
    return folder


def soup(path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def test_an_address_makes_a_sitemap(site):
    assert publish.complete(site, "https://example.org/book/", {}) == []
    tree = ElementTree.parse(site / "sitemap.xml")
    found = [node.text for node in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert found == [
        f"https://example.org/book/{name}"
        for name in ("about.html", "balance-batch.html", "errata.html", "")
    ]
    assert (
        site / "robots.txt"
    ).read_text() == "User-agent: *\nAllow: /\nSitemap: https://example.org/book/sitemap.xml\n"


def test_without_an_address_it_says_what_is_left_out(site):
    said = publish.complete(site, "", {})
    assert len(said) == 1 and "no BASE_URL: without sitemap.xml and canonical links" in said[0]
    assert (
        not (site / "sitemap.xml").exists() and "Sitemap" not in (site / "robots.txt").read_text()
    )


@pytest.mark.parametrize(
    "address", ["example.org", "ftp://example.org/", "https://example.org/?a=1", "/book/"]
)
def test_a_bad_address_is_refused(monkeypatch, address):
    monkeypatch.setenv("BASE_URL", address)
    with pytest.raises(publish.PublishError, match=r"it has to be like https://example\.org/book/"):
        publish.base_url()


def test_the_page_for_lost_addresses_names_everything_from_the_root(site):
    publish.complete(site, "https://example.org/book/", {})
    page = soup(site / "404.html")
    named = [tag.get("href") or tag.get("src") for tag in page.select("[href], [src]")]
    assert [name for name in named if not name.startswith(("/book/", "#"))] == []
    assert "/book/_static/site.1b2c3d4e.css" in named and "/book/index.html" in named
    assert page.select_one('meta[name="robots"]')["content"] == "noindex"
    assert page.html["data-content_root"] == "/book/"


def test_a_moved_page_leads_on(site):
    moved = {"balance.html": "balance-batch.html#top", "old/about.html": "about.html"}
    publish.complete(site, "https://example.org/", moved)
    page = soup(site / "balance.html")
    assert (
        page.find("meta", attrs={"http-equiv": "refresh"})["content"]
        == "0; url=balance-batch.html#top"
    )
    assert page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"] == POLICY
    assert (
        page.select_one('link[rel="canonical"]')["href"] == "https://example.org/balance-batch.html"
    )
    assert (page.a["href"], page.a.string) == ("balance-batch.html#top", "Balance-batch")
    assert soup(site / "old/about.html").a["href"] == "../about.html"
    assert "/balance.html /balance-batch.html#top 301" in (site / "_redirects").read_text()
    assert "balance.html" not in (site / "sitemap.xml").read_text().replace(
        "balance-batch.html", ""
    )


@pytest.mark.parametrize(
    ("moved", "fault"),
    [
        ({"about.html": "index.html"}, "about.html has not moved"),
        ({"old.html": "older.html"}, "cannot lead to older.html, which is no page"),
        ({"old.html": "about.html#nowhere"}, "about.html has no such section"),
    ],
)
def test_a_move_that_leads_nowhere_is_refused(site, moved, fault):
    with pytest.raises(publish.PublishError, match=fault):
        publish.complete(site, "", moved)


@pytest.mark.parametrize(
    "line",
    ['"a/../b" = "about"', "old = 3", 'old = "https://example.org/"', '"old.html" = "about"'],
)
def test_a_bad_line_of_the_table_is_refused(tmp_path, line):
    (tmp_path / "redirects.toml").write_text(line)
    with pytest.raises(
        publish.PublishError, match='is no move; a line reads: old-page = "new-page#section"'
    ):
        publish.moves(tmp_path / "redirects.toml")


def test_the_books_own_moves_can_be_read():
    assert all(
        re.fullmatch(r"[\w/-]+\.html", old)
        for old in publish.moves(ROOT / "book" / "redirects.toml")
    )


def test_all_servers_are_told_the_same(site):
    told = hosting.files(site, "/book/", {"old.html": "about.html"})
    for text in (told["_headers"], told[".htaccess"], told["nginx.conf"]):
        for name, value in hosting.HEADERS.items():
            assert (
                name in text
                and (
                    hosting.FRAMES
                    if text is told["_headers"] and "Policy" in name and POLICY in value
                    else value
                )
                in text
            )
        assert hosting.KEPT in text and all(policy in text for policy in hosting.POLICIES.values())
    # Two policies for one file both hold, so what is said of all files may not forbid the worker
    # its WebAssembly.
    assert POLICY not in told["_headers"]
    assert (
        POLICY in hosting.HEADERS["Content-Security-Policy"]
        and "frame-ancestors 'self'" in hosting.HEADERS["Content-Security-Policy"]
    )
    # A page under two rules would be told two times; so pages fall under none that speaks of
    # keeping.
    rules = re.findall(r"^(/\S+)\n((?:  .+\n)+)", told["_headers"], re.M)
    assert [rule for rule, said in rules if "Cache-Control" in said] == [
        "/book/_static/pyodide/*",
        "/book/_static/handful/measure/*",
        "/book/_static/files/*",
        "/book/_static/site.1b2c3d4e.css",
    ]
    assert "Redirect permanent /book/old.html /book/about.html" in told[".htaccess"]
    assert "location = /book/old.html { return 301 /book/about.html; }" in told["nginx.conf"]


def test_a_page_says_where_it_is_published():
    page = BeautifulSoup("<html><head></head></html>", "html.parser")
    postprocess.set_canonical(page, "404.html", "https://example.org/book/")
    postprocess.set_canonical(page, "part/one.html", "")
    assert not page.find("link")
    postprocess.set_canonical(page, "part/one.html", "https://example.org/book/")
    assert (
        page.select_one('link[rel="canonical"]')["href"] == "https://example.org/book/part/one.html"
    )


# The schema of citation files, as far as ours goes: what has to be there, and what may.
REQUIRED = {"cff-version", "message", "title", "authors"}
KNOWN = REQUIRED | {
    "abstract",
    "type",
    "version",
    "date-released",
    "license",
    "keywords",
    "url",
    "repository-code",
    "doi",
    "identifiers",
    "license-url",
    "commit",
    "contact",
    "preferred-citation",
    "references",
    "repository",
}


@pytest.mark.parametrize(
    "asked, passed, stands",
    [([], False, "last"), ([], True, "new"), (["--check", "no"], False, "new")],
)
def test_only_what_passes_its_checks_is_published(
    tmp_path, monkeypatch, capsys, asked, passed, stands
):
    """A book that fails leaves the one that was published last as it was; CHECK=no asks no test."""
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "PUBLIC", tmp_path / "public")
    monkeypatch.setattr(publish, "base_url", lambda: "")
    monkeypatch.setattr(publish, "complete", lambda *given: [])
    monkeypatch.setattr(publish, "passes", lambda site, jobs: passed)
    monkeypatch.setattr("sys.argv", ["publish", *asked])

    def book(site, base):
        site.mkdir(exist_ok=True)
        (site / "index.html").write_text("new")

    monkeypatch.setattr(build, "book", book)
    book(publish.PUBLIC, "")
    (publish.PUBLIC / "index.html").write_text("last")
    if stands == "last":
        with pytest.raises(SystemExit):
            publish.main()
        assert "not fit to be published" in capsys.readouterr().err
    else:
        publish.main()
        assert ("not checked" in capsys.readouterr().out) == (asked != [])
    assert (publish.PUBLIC / "index.html").read_text() == stands


def test_the_citation_is_one_and_agrees_with_the_package():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (
        REQUIRED <= set(said) <= KNOWN
        and said["cff-version"] == "1.2.0"
        and said["type"] in ("software", "dataset")
    )
    assert said["authors"] and all(
        {"name"} <= set(author) or {"family-names"} <= set(author) for author in said["authors"]
    )
    assert isinstance(said["date-released"], date)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    licences = said["license"] if isinstance(said["license"], list) else [said["license"]]
    assert said["version"] == project["version"] and set(licences) == set(
        project["license"].split(" AND ")
    )
    about = (ROOT / "book" / "about.md").read_text("utf-8")
    assert set(re.findall(r"Edition of \d+ \w+ \d+", about)) == {edition.current().title}
    assert str(edition.current().date.year) in re.findall(r"year\s+= \{(\d+)\}", about)
    assert edition.current().name.removeprefix("edition of ") in (
        ROOT / "book" / "errata.md"
    ).read_text("utf-8")


def test_workflows_ask_for_little_and_pin_what_they_run():
    paths = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert paths
    for path in paths:
        flow = yaml.safe_load(path.read_text("utf-8"))
        assert flow["permissions"] == {"contents": "read"}, path.name
        steps = [step for job in flow["jobs"].values() for step in job["steps"]]
        used = [step["uses"] for step in steps if "uses" in step]
        assert used and all(re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", one) for one in used), (
            path.name
        )
        targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
        assert {
            name for step in steps for name in re.findall(r"\bmake (\S+)", step.get("run", ""))
        } <= targets
