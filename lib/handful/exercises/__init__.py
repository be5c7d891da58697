"""Cards and problems: one source in ``exercises/``, read, drawn, checked and scheduled here.

``source`` reads the files, ``cards`` and ``problems`` say what they may hold, ``expressions`` reads
what authors and learners write, and ``words`` turns the book's roles into plain text.

Away from the page: ``log`` and ``schedule`` follow the page's modules of the same name, ``sitting``
and ``terminal`` ask cards, ``export``, ``anki``, ``problem_export`` and ``printing`` make files,
and ``command`` is what is typed.
"""
