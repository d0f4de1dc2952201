"""Subjects with owners, as a tree of their tokens: who has one that overlaps with another is found without
comparing it with each."""

from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class SubjectTree(Generic[T]):
    """A set of subjects, which may have wildcards, each with its owners."""

    def __init__(self) -> None:
        self._children: dict[str, SubjectTree[T]] = {}
        self._owners: list[T] = []

    def add(self, subject: str, owner: T) -> None:
        """Add a subject of an owner."""
        node = self
        for token in subject.split("."):
            node = node._children.setdefault(token, SubjectTree())
        node._owners.append(owner)

    def find(self, subject: str) -> Iterator[T]:
        """Yield the owners of all subjects that overlap with one (see `subjects.overlaps`), some twice."""
        nodes: list[SubjectTree[T]] = [self]
        for token in subject.split("."):
            following: list[SubjectTree[T]] = []
            for node in nodes:
                if token == ">":
                    yield from node._list_below()
                    continue
                children = node._children
                if rest := children.get(">"):
                    yield from rest._owners
                if token == "*":
                    following += (child for key, child in children.items() if key != ">")
                else:
                    following += (children[key] for key in (token, "*") if key in children)
            if token == ">":
                return
            nodes = following
        for node in nodes:
            yield from node._owners

    def _list_below(self) -> Iterator[T]:
        """Yield all owners below this node."""
        nodes = [self]
        while nodes:
            for child in nodes.pop()._children.values():
                yield from child._owners
                nodes.append(child)
