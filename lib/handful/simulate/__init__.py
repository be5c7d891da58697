"""Simulations of processes, to hold the closed forms against."""
