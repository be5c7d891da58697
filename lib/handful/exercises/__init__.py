"""Cards and problems: one source in ``exercises/``, read, drawn, checked and scheduled here.

``source`` reads the files, ``cards`` and ``problems`` say what they may hold, ``expressions`` reads what authors and
learners write, and ``words`` turns the book's roles into plain text.
"""
