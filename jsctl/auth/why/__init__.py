"""Explanations of what a user may do and which rule of which claim decides, as servers decide it.

These modules send no requests and write no files.
"""
