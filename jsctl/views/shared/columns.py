"""Columns that several reports show, each described once."""

from jsctl.views.result import Column

STREAM = Column("Stream", "stream")
STORAGE = Column("Storage", "storage")
CONSUMERS = Column("Consumers", "consumers", "count")
MESSAGES = Column("Messages", "messages", "count")
BYTES = Column("Bytes", "bytes", "bytes")
LOST = Column("Lost", "lost", "count")
DELETED = Column("Deleted", "deleted", "count")

KIND = Column("Kind", "kind")
API_PREFIX = Column("API Prefix", "api_prefix")
LAG = Column("Lag", "lag", "count")
ERROR = Column("Error", "error", "prose")
