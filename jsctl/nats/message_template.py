"""The template of messages: their subject, headers and body, each of which may hold functions."""

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat

from jsctl.errors import BadInput
from jsctl.nats.codec import encode_text
from jsctl.nats.headers import Headers, encode_headers, parse_header_text, parse_headers
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.subjects import validate_subject
from jsctl.nats.templates import Moment, Template, compile_template, warn_of_unknown_functions


def compile_headers(headers: Sequence[str]) -> list[tuple[str, Template]]:
    """Compile `K:V` texts into names and templates. Raises BadInput."""
    compiled = []
    for text in headers:
        name, value = parse_header_text(text)
        encode_headers([(name, "")])
        compiled.append((name, compile_template(encode_text(value))))
    return compiled


def render_headers(headers: Sequence[tuple[str, Template]], moment: Moment) -> Headers:
    """Return compiled headers as they are at a moment."""
    return [(name, value.render(moment).decode(errors="replace")) for name, value in headers]


class MessageTemplate:
    """What messages have in common, compiled once. Raises BadInput.

    subject: None to keep that of a dump's messages. headers: `K:V`, whose values are templates.
    fixed_headers: sent as they are, in place of all headers of the same name. fills: whether templates in
    subject and body are filled in. with_wildcards: whether the subject may have some. warn: called with a
    sentence about templates that are sent as they are, once for each.
    """

    def __init__(
        self,
        subject: str | None,
        headers: Sequence[str] = (),
        fixed_headers: Sequence[tuple[str, str]] = (),
        reply: str = "",
        *,
        fills: bool = True,
        with_wildcards: bool = False,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._fills = fills
        self._purpose = "send to" if with_wildcards else "publish to"
        self._warn = warn
        self._last_warning = ""
        self._replaced = {name.lower() for name, _ in fixed_headers}
        self._headers = [
            *(
                (name, value)
                for name, value in compile_headers(headers)
                if name.lower() not in self._replaced
            ),
            *((name, Template([encode_text(value)])) for name, value in fixed_headers),
        ]
        self._subject = None if subject is None else _compile_subject(subject, fills, self._purpose)
        self._reply = validate_subject(reply, "reply on") if reply else ""
        values = [value for _, value in self._headers]
        self._is_fixed = all(template.fixed is not None for template in (self._subject, *values) if template)
        self._warn_of_unknown(values)

    def fill(self, body: bytes, first: int = 1, count: int = 1) -> Iterator[OutgoingMessage]:
        """Yield `count` messages with a body, numbered from `first`. Raises BadInput, also for a subject that
        is not valid once it is filled in."""
        template = compile_template(body, enabled=self._fills)
        self._warn_of_unknown([template])
        if self._is_fixed and template.fixed is not None:
            yield from repeat(self._compose(template, Moment(first)), count)
            return
        for number in range(first, first + count):
            yield self._compose(template, Moment(number))

    def _compose(self, body: Template, moment: Moment) -> OutgoingMessage:
        subject = self._render_subject(moment)
        headers = render_headers(self._headers, moment)
        header_block = encode_headers(headers) if headers else b""
        return OutgoingMessage(subject, body.render(moment), self._reply, header_block)

    def change(self, message: OutgoingMessage, number: int) -> OutgoingMessage:
        """Return a message of a dump with this template's headers added, and its subject if it has one."""
        moment = Moment(number)
        if headers := render_headers(self._headers, moment):
            pairs = parse_headers(message.header_block)
            others = [pair for pair in pairs if pair[0].lower() not in self._replaced]
            message = message._replace(header_block=encode_headers([*others, *headers]))
        return message._replace(subject=self._render_subject(moment) or message.subject)

    def _render_subject(self, moment: Moment) -> str:
        if self._subject is None:
            return ""
        subject = self._subject.render(moment).decode(errors="replace")
        return subject if self._subject.fixed is not None else validate_subject(subject, self._purpose)

    def _warn_of_unknown(self, templates: Sequence[Template]) -> None:
        warning = warn_of_unknown_functions(templates)
        if warning and warning != self._last_warning:  # many lines may hold the same
            self._last_warning = warning
            self._warn(warning)


def _compile_subject(subject: str, fills: bool, purpose: str) -> Template:
    template = compile_template(encode_text(subject), enabled=fills)
    if template.unknown:
        raise BadInput(
            f"{{{{{template.unknown[0]}}}}} in the subject is not a template function",
            "--no-templates sends the subject as it is",
        )
    if template.fixed is not None:
        validate_subject(subject, purpose)
    return template
