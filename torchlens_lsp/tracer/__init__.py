"""Runs a callable and records it: what ran, with which values, in which order, and what made what.

Needs torch and the standard library, and knows nothing of editors, processes or configuration.
"""
