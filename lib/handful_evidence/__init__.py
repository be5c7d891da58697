"""Hold the equations against something else: simulations, measurements, the lecture's claims.

``simulate`` plays the processes that closed forms describe, ``measured``, ``measured_pipelines``
and ``validation`` compare with published runs, ``measure`` with this machine, and ``claims``
recomputes
what the lecture says.
"""
