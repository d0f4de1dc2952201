"""The keys of a consumer's configuration."""

from jsctl.base.units import MINUTE, SECOND
from jsctl.jetstream.config.field import ExtraFlag, Field, FieldQuestion
from jsctl.jetstream.config.kind import Text
from jsctl.jetstream.config.kinds import Choice, ListOf, Map, Subject, Subjects, Switch, Texts, Time
from jsctl.jetstream.config.numbers import Duration, Limit, Number, Percent, Size

ACK_POLICY = Choice(
    {
        "none": "none",
        "all": "all",
        "explicit": "explicit",
        "flow_control": "flow_control",
        "flowcontrol": "flow_control",
        "fc": "flow_control",
    },
    {"none": "None", "all": "All", "explicit": "Explicit", "flow_control": "Flow Control"},
)
REPLAY_POLICY = Choice(
    {"instant": "instant", "original": "original"}, {"instant": "Instant", "original": "Original"}
)
_DELIVER_POLICIES = ("all", "last", "new", "by_start_sequence", "by_start_time", "last_per_subject")
DELIVER_POLICY = Choice(
    {policy: policy for policy in _DELIVER_POLICIES},
    {"all": "All", "last": "Last", "new": "New", "last_per_subject": "Last Per Subject"},
)
_PRIORITY_POLICIES = ("none", "pinned_client", "overflow", "prioritized")
PRIORITY_POLICY = Choice(
    {policy: policy for policy in _PRIORITY_POLICIES},
    {"pinned_client": "Pinned Client", "overflow": "Overflow", "prioritized": "Prioritized"},
)

FIELDS: tuple[Field, ...] = (
    Field(
        "ack_policy",
        ACK_POLICY,
        flag="ack",
        help="How messages are acknowledged",
        label="Ack Policy",
        create_only=True,
        is_fixed=True,
        question=FieldQuestion(
            "Acknowledgment policy",
            choices={"explicit": "explicit", "all": "all", "none": "none"},
            help="explicit: each message is acknowledged; all: a message and those before it; none: what was"
            " delivered is done",
        ),
    ),
    Field(
        "rate_limit_bps",
        Number(),
        flag="bps",
        help="Maximum bits per second that a push consumer delivers",
        label="Rate Limit",
        create_only=True,
    ),
    Field(
        "deliver_group",
        Text(),
        help="Deliver to this queue group only",
        label="Deliver Queue Group",
        create_only=True,
        question=FieldQuestion("Delivery Queue Group"),
    ),
    Field(
        "description",
        Text(),
        help="What the consumer is for",
        label="Description",
    ),
    Field(
        "filter_subjects",
        Subjects(),
        flag="filter",
        help="Only these subjects; may be repeated, '' is all",
        label="Filter Subjects",
        question=FieldQuestion("Filter Stream by subjects (blank for all)"),
    ),
    Field(
        "flow_control",
        Switch(negatable=False),
        help="Use flow control, on a push consumer",
        label="Flow Control",
        question=FieldQuestion("Enable Flow Control, ie --flow-control"),
        default=False,
        create_only=True,
        is_fixed=True,
    ),
    Field(
        "idle_heartbeat",
        Duration(),
        flag="heartbeat",
        help="Interval of an idle push consumer's heartbeats; -1 is none",
        label="Idle Heartbeat",
        default=0,
        question=FieldQuestion("Idle Heartbeat"),
        create_only=True,
        is_fixed=True,
    ),
    Field(
        "headers_only",
        Switch(),
        help="Deliver headers and no payloads",
        label="Headers Only",
        question=FieldQuestion("Deliver headers only without bodies"),
    ),
    Field(
        "max_deliver",
        Limit(),
        help="Maximum number of deliveries of a message; -1 is unlimited",
        label="Maximum Deliveries",
        default=-1,
        question=FieldQuestion("Maximum Allowed Deliveries"),
    ),
    Field(
        "max_ack_pending",
        Number(least=None),
        flag="max-pending",
        help="Unacknowledged messages before delivery stops; -1 is unlimited",
        label="Max Ack Pending",
        default=1000,
        question=FieldQuestion("Maximum Acknowledgments Pending"),
    ),
    Field(
        "max_waiting",
        Number(),
        help="Maximum number of waiting pull requests",
        label="Max Waiting Pulls",
        create_only=True,
        default=512,
        is_fixed=True,
    ),
    Field(
        "max_batch",
        Number(),
        flag="max-pull-batch",
        help="Maximum number of messages per pull request",
        label="Max Pull Batch",
    ),
    Field(
        "max_expires",
        Duration(),
        flag="max-pull-expire",
        help="Maximum time that a pull request may wait",
        label="Max Pull Expire",
    ),
    Field(
        "max_bytes",
        Size(),
        flag="max-pull-bytes",
        help="Maximum number of bytes per pull request",
        label="Max Pull MaxBytes",
    ),
    Field(
        "replay_policy",
        REPLAY_POLICY,
        flag="replay",
        help="Deliver at once, or at the pace at which messages were stored",
        label="Replay Policy",
        create_only=True,
        default="instant",
        is_fixed=True,
        question=FieldQuestion(
            "Replay policy",
            choices={"instant": "instant", "original": "original"},
            help="instant: as fast as possible; original: at the pace at which messages were stored",
        ),
    ),
    Field(
        "deliver_subject",
        Subject(publish=True),
        flag="target",
        help="Push messages to this subject",
        label="Delivery Subject",
        question=FieldQuestion(
            "Delivery target (empty for Pull Consumers)",
            help="Subject that a push consumer delivers on; a pull consumer's clients ask for messages",
            flag="--target or --pull",
        ),
    ),
    Field(
        "ack_wait",
        Duration(),
        flag="wait",
        help="Time for an ack before the message is delivered again",
        label="Ack Wait",
        default=30 * SECOND,
    ),
    Field(
        "inactive_threshold",
        Duration(),
        help="Idle time after which it is removed",
        label="Inactive Threshold",
    ),
    Field(
        "mem_storage",
        Switch(negatable=False),
        flag="memory",
        help="Keep its state in memory",
        label="Memory Storage",
        create_only=True,
        is_fixed=True,
    ),
    Field(
        "num_replicas",
        Number(),
        flag="replicas",
        help="Copies of its state; 0 is as many as the stream has",
        label="Replicas",
    ),
    Field(
        "metadata",
        Map(),
        help="KEY=VALUE to store with the consumer; may be repeated",
    ),
    Field(
        "priority_timeout",
        Duration(),
        flag="pinned-ttl",
        help="Idle time after which a pinned client loses its pin",
        label="Pinned TTL",
        create_only=True,
        level=1,
    ),
    Field("name", Text(), label="Name"),
    Field("durable_name", Text(), label="Durable Name", is_fixed=True),
    Field("filter_subject", Subject(), label="Filter Subject"),
    Field(
        "deliver_policy",
        DELIVER_POLICY,
        label="Deliver Policy",
        default="all",
        is_fixed=True,
        question=FieldQuestion(
            "Start policy (all, new, last, subject, 1h, msg sequence)",
            help="Where in the stream to start: all, new, last, subject (the last of each), a sequence,"
            " 1h for the last hour, or a time",
            flag="--deliver",
        ),
    ),
    Field("opt_start_seq", Number(least=1, may_be_unset=True), is_fixed=True),
    Field("opt_start_time", Time(), is_fixed=True),
    Field("backoff", ListOf(Duration()), label="Backoff"),
    Field("sample_freq", Text(), label="Sampling Rate"),
    Field("pause_until", Time(), label="Paused Until Deadline"),
    Field("priority_policy", PRIORITY_POLICY, label="Priority Policy"),
    Field("priority_groups", Texts(), label="Priority Groups"),
    Field("direct", Switch()),
)

EXTRA_FLAGS: tuple[ExtraFlag, ...] = (
    ExtraFlag("backoff", Text(), "Wait before retries: linear, none, or 1s,5s,1m", metavar="MODE"),
    ExtraFlag("backoff-steps", Number(least=None), "Retries (10)", default=10),
    ExtraFlag("backoff-min", Duration(), "Shortest wait (1m)", default=MINUTE),
    ExtraFlag("backoff-max", Duration(), "Longest wait (20m)", default=20 * MINUTE),
    ExtraFlag("sample", Percent(), "How many acknowledgements to sample, 0 to 100"),
    ExtraFlag(
        "deliver",
        Text(),
        "Start with all, new, last, subject, 1h, a time or a sequence",
        metavar="POLICY",
        create_only=True,
    ),
    ExtraFlag(
        "ephemeral",
        Switch(negatable=False),
        "Remove it when nobody uses it",
        default=False,
        create_only=True,
    ),
    ExtraFlag("pull", Switch(negatable=False), "Make it a pull consumer", default=False, create_only=True),
    ExtraFlag(
        "pause",
        Text(),
        "Start paused, until a time or for a duration",
        metavar="TIME",
        create_only=True,
    ),
)
"""`consumer.config` applies them: `with_start`, `parse_backoff`, `parse_deadline`, `as_pull`, `with_name`."""

GROUP_FLAGS = tuple(
    ExtraFlag(flag, Texts(), help, metavar="GROUP", create_only=True)
    for flag, help in (
        ("pinned-groups", "Priority groups whose messages go to one pinned client"),
        ("overflow-groups", "Priority groups that only get what overflows"),
        ("prioritized-groups", "Priority groups whose clients have priorities"),
    )
)
"""Flags of priority groups; `config.PRIORITY_FLAGS` has the policy of each."""
