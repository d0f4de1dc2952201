"""The live screen, which reacts to keys.

`model` and `keys` are pure functions of the screen's state, `drawing` turns it into lines of cells;
`terminal` wraps prompt_toolkit, and `run` fetches the data and shows it.
"""
