"""Cards and problems: read from ``exercises/``, drawn, checked, scheduled and exported.

``source`` reads the files, ``cards`` and ``problems`` define what the files may hold,
``expressions`` reads what authors and learners write, and ``words`` turns the book's roles into
plain text.

Away from the page: ``log`` and ``schedule`` follow the page's modules of the same name, ``sitting``
and ``terminal`` ask cards, ``export``, ``anki``, ``problem_export`` and ``printing`` make files,
and ``command`` defines the commands that a user types.
"""
