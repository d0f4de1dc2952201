"""Lines of public documents in both tools: `JSCTL_CONFORMANCE_NATS=nats pytest tests/conformance`."""
