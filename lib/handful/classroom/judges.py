"""Judges: what may be right in many ways is held against what it has to do.

A judge is ``judge(question, given, calls, answers) -> (share of the points, a sentence, a wrong turn's id or None)``.
"""
from __future__ import annotations

from .judges_of_plans import ratio_conditions, serving_plan

__all__ = ["ratio_conditions", "serving_plan"]
