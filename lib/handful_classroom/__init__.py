"""Release, run, grade and report programming assignments without trusting a student's code.

The student's code runs inside a sandbox; every check, answer and score stays outside.

``assignment`` reads a source, ``release`` makes what students and teachers get, ``sandbox`` runs
what came back, ``grade`` judges it, and ``report`` tells students and teachers.
"""
