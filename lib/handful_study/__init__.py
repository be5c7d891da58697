"""Cards and problems: read from ``exercises/``, drawn, checked and exported.

``source`` reads the files, ``cards`` and ``problems`` define what the files may hold,
``expressions`` reads what authors and learners write, and ``words`` turns the book's roles into
plain text.

``export``, ``anki``, ``problem_export`` and ``printing`` make files, ``command`` and
``problem_command`` define the commands that a user types, and ``web/`` asks cards and problems in
the browser, where the learner's log is.
"""
