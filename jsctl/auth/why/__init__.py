"""Explains what a user may do and which rule of which claim decides, following the server's own decisions.

These modules send no requests and write no files.
"""
