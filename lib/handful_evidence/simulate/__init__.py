"""Simulations that check the closed forms."""
