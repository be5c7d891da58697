"""The book's explorers, a module a chapter: plots that the reader drives, declared and nothing
else.
"""
