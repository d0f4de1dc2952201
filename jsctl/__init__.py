"""jsctl: a terminal tool for NATS JetStream."""

__version__ = "0.1.0"
