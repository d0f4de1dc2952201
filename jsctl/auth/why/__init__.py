"""What a user may do, and which rule of which claim decides: the server's own decisions, with their reasons.

These modules send no requests and write no files.
"""
