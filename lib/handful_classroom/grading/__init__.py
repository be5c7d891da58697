"""Collect what students hand in, grade it, and keep the results."""
