"""Build the site from the book: Sphinx extensions, pages, search, offline use, PDF and EPUB.

``extensions`` is what Sphinx loads, ``build`` runs it and finishes the pages, ``web`` is what the
browser gets.
"""
