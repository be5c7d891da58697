"""Assignments that can be trusted: the student's code inside a sandbox, every check, answer and
score outside.

``assignment`` reads a source, ``release`` makes what students and teachers get, ``sandbox`` runs
what came back, ``grade`` judges it, and ``report`` tells students and teachers.
"""
