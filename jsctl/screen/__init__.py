"""The live screen with keys.

`model` and `keys` are pure functions of the screen's state, `drawing` turns it into lines of cells;
`terminal` holds prompt_toolkit, and `run` asks and shows.
"""
