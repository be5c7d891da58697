"""Hold a server's own measurements against the floor, and fit what lies between.

A measured point is a load (requests in flight, mean lengths) and the mean time from one token of an
answer to the next.  With a chip, a model and a precision that makes a decode step whose floor the
formulas give: reading weights and caches, and arithmetic for the answers and for the prompts that
share the steps.  What a server adds is fitted as three numbers, each with an interval:

    time = reading / memory efficiency + arithmetic / compute efficiency + fixed time

The floor lets reading and arithmetic overlap (``latency.step_time``, with prompts); the fit adds
them, as served steps do.  A point below its floor cannot be what it says, and is said to be so.

On 51 servers of public runs, each of 943 points was predicted from the others of its server: 89 %
lie in the interval of 90 %, and half of the predictions are off by 3.1 % or less.  Attention's own
arithmetic is left out, so that MiniMax-M2.5 on 8 H100, with prompts of 70,000 tokens, takes up to
47 % longer than predicted, or 30 % if its caches are of two bytes.  Tried: counting it brings that
to 30 %, and makes Qwen3 32B on 8 chips worse by as much.

>>> from handful_evidence.result_files import Run
>>> alone = Run("mine.json", "a plain table", 1, 1000, 500, 0.025, 0.2, 39.5, None)
>>> here = {"hardware": "H100 SXM", "model": "Llama 3.1 70B", "precision": "fp8", "devices": 8}
>>> [point] = points([alone], **here)
>>> round(point.floor * 1e3, 2), point.binds, round(point.bandwidth_utilisation, 3)
(2.65, 'reading', 0.106)
"""

from .fit import NAMES, Fit, fit
from .points import BELOW, GUESSED, Point, Server, ServerError, points, server_of, usual_cache
from .predictions import (
    REACH,
    Change,
    FirstToken,
    at_context,
    best_at,
    best_measured,
    changes,
    first_token,
    held_back,
    knee,
    largest_batch,
    limit,
    missed_near,
    parts,
    uneven_heads,
    usual_load,
)

__all__ = [
    "BELOW",
    "GUESSED",
    "NAMES",
    "REACH",
    "Change",
    "FirstToken",
    "Fit",
    "Point",
    "Server",
    "ServerError",
    "at_context",
    "best_at",
    "best_measured",
    "changes",
    "first_token",
    "fit",
    "held_back",
    "knee",
    "largest_batch",
    "limit",
    "missed_near",
    "parts",
    "points",
    "server_of",
    "uneven_heads",
    "usual_cache",
    "usual_load",
]
