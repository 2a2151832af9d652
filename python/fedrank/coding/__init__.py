"""Codes of rankings for storage and for the superposition channel (M13)."""
