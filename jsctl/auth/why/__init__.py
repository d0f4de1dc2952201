"""What a user may do, and which rule of which claim decides: the server's own decisions, with their reasons.

Nothing here asks a server or writes.
"""
