"""Write the book as files: ``python -m handful_site.print [pdf] [epub] [--paper letter]``.

Both files are written where none is named.  The pages are built first; then the site is finished
again, so that it offers the files.
"""

from __future__ import annotations

import argparse

import yaml

from .. import book_files, build
from . import book, epub, pdf


def main() -> None:
    """Write the files that the command line names."""
    parser = argparse.ArgumentParser(
        description="Write the book as a PDF and an EPUB into _build/editions."
    )
    parser.add_argument(
        "kinds", nargs="*", metavar="pdf|epub", help="which file; both where none is named"
    )
    parser.add_argument("--paper", choices=sorted(pdf.PAPERS), default="a4", help="the PDF's page")
    options = parser.parse_args()
    kinds = options.kinds or list(book_files.WHAT)
    if unknown := set(kinds) - set(book_files.WHAT):
        parser.error(
            f"the book can be had as {' and '.join(book_files.WHAT)}, not as "
            f"{', '.join(sorted(unknown))}"
        )
    digest = book_files.source_digest()
    raw = build.raw_pages()
    build.say("gathering the chapters")
    toc = yaml.safe_load((build.ROOT / "_toc.yml").read_text("utf-8"))
    book_files.FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        pages = book.collect_pages(raw, book.listed(toc))
        formulas = book.typeset(pages, build.node())
        for kind in kinds:
            target = book_files.FOLDER / f"{book_files.STEM}.{kind}"
            build.say(f"{target.name}: {len(pages)} parts, {len(formulas)} formulas")
            target.unlink(missing_ok=True)
            if kind == "epub":
                epub.write(target, raw, pages, formulas)
                verdict = epub.judge(target)
            else:
                count = pdf.write(target, raw, pages, formulas, options.paper, build.say)
                verdict = f"{count} pages"
            book_files.stamp(kind, digest)
            build.say(
                f"{target.relative_to(build.ROOT)}: {target.stat().st_size / 1e6:.2f} MB; {verdict}"
            )
    except book.BookError as error:
        build.stop(str(error))
    build.publish(raw, build.SITE)


if __name__ == "__main__":
    main()
