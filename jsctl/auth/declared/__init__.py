"""Operators, accounts and users as files declare them, for `apply` and `diff`."""
