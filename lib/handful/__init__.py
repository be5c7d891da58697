"""The equations behind how large language models are trained and served.

A module a subject, as in the book: ``latency``, ``balance``, ``experts``, ``racks``,
``pipelining``, ``overtraining``, ``prices``, ``tiers``, ``ciphers`` and more.  ``symbolic`` has
what they are
written in, ``facts`` the sourced rows, ``scenario`` puts both together, and ``query`` asks by name.
NumPy, SciPy and SymPy are all that it needs.

>>> from handful import balance
>>> round(
...     balance.weight_uses_at_balance(
...         peak_flops=989e12, memory_bandwidth=3.35e12, bytes_per_parameter=2
...     )
... )
295
"""

from . import _moved

_moved.install()
