"""Declare the book's explorers: plots that a reader drives, a module a chapter.

``plotting`` has what a declaration is and draws it for Jupyter and on paper, ``scenes`` has the
explorers that are no curves, ``tables`` the tables of a chapter, and ``web`` draws in the browser.
"""
