"""Columns that several reports show, each described once."""

from jsctl.views.result import Column

STREAM = Column("Stream", "stream", sort=("name",))
STORAGE = Column("Storage", "storage", sort=("storage",))
CONSUMERS = Column("Consumers", "consumers", "count", sort=("consumers",))
MESSAGES = Column("Messages", "messages", "count", sort=("messages",))
BYTES = Column("Bytes", "bytes", "bytes", sort=("bytes",))
LOST = Column("Lost", "lost", "count")
DELETED = Column("Deleted", "deleted", "count")

KIND = Column("Kind", "kind")
API_PREFIX = Column("API Prefix", "api_prefix")
LAG = Column("Lag", "lag", "count")
ERROR = Column("Error", "error", "prose")
