"""The rows of a table in an order. What `--sort` takes are names of columns."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from jsctl.views.result import Column

R = TypeVar("R")


def list_orders(columns: Iterable[Column]) -> list[str]:
    """Return what `--sort` takes for a table."""
    return [name for column in columns for name in column.sort]


def find_order(columns: Iterable[Column], order: str) -> Column:
    """Return the column of one of `list_orders`."""
    return next(column for column in columns if order in column.sort)


def sort_rows(rows: Iterable[R], columns: Iterable[Column], order: str, *, reverse: bool = False) -> list[R]:
    """Return rows by one of `list_orders`; equal ones stay in their order."""
    return sorted(rows, key=find_order(columns, order).get_rank, reverse=reverse)


def select_largest(rows: Iterable[R], columns: Sequence[Column], order: str, number: int = 0) -> list[R]:
    """Return rows by one of `list_orders`: the largest numbers first, names from the first; equal ones by
    the first column. number: how many at most; 0 for all."""
    by_name = sorted(rows, key=columns[0].get_rank)
    is_number = find_order(columns, order).kind != "text"
    return sort_rows(by_name, columns, order, reverse=is_number)[: number or None]
