"""Kafka's names for options and columns, for errors that say what they are called here."""

_OPTIONS = {
    "subscribe": "the streams are named by 'streams'",
    "subscribepattern": "the streams are named by 'streams', with * for any text",
    "assign": "the streams are named by 'streams'; 'minPartitions' sets how many tasks read them",
    "topic": "messages are chosen and written by 'subject', streams by 'stream'",
    "value": "the payload is the column 'data'",
    "key": "the subject takes the place of the key: the column 'subject'",
    "kafka.bootstrap.servers": "the servers are named by 'servers'",
    "bootstrap.servers": "the servers are named by 'servers'",
    "startingoffsetsbytimestamp": "'startingTimestamp' takes the same JSON, without partitions",
    "endingoffsetsbytimestamp": "'endingTimestamp' takes the same JSON, without partitions",
    "startingoffsetsbytimestampstrategy": "'startingTimestamp' after the last message is the stream's end",
    "kafka.group.id": "progress is shown by the consumer of 'committedConsumer'",
    "group.id": "progress is shown by the consumer of 'committedConsumer'",
    "groupidprefix": "progress is shown by the consumer of 'committedConsumer'",
    "fetchoffset.numretries": "attempts are limited by 'retries'",
    "fetchoffset.retryintervalms": "the wait for servers is limited by 'retryTimeout'",
    "kafkaconsumer.polltimeoutms": "the wait for an answer is limited by 'requestTimeout'",
    "maxrecordsperpartition": "'minPartitions' makes more and smaller tasks",
}
"""Option of Kafka's data source, in lower case -> what is used here."""

_COLUMNS = {
    "value": "the payload is the column 'data'",
    "key": "the subject takes the place of the key: the column 'subject'",
    "topic": "where a message goes is the column 'subject'",
    "partition": "a stream has no partitions",
    "offset": "the offset is the column 'sequence'",
    "timestamptype": "the time is always that of the server",
}


def find_option(name: str) -> str:
    """Return what is used here for an option of Kafka, empty if there is none. name: in lower case."""
    if name.startswith(("kafka.sasl.", "kafka.security.", "kafka.ssl.")):
        return "the login is that of 'context', or of 'creds', 'user', 'tlsCa' and others"
    if name.startswith("kafka.") and name not in _OPTIONS:
        return "settings of Kafka's client have no meaning here"
    return _OPTIONS.get(name, "")


def find_column(name: str) -> str:
    """Return what is used here for a column of Kafka, empty if there is none."""
    return _COLUMNS.get(name.lower(), "")
