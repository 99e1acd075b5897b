"""What can be wrong with bytes, messages and peers: one class each, a stable `code`, the value at fault, a hint."""

from __future__ import annotations


class WireError(Exception):
    """Base of all errors of the wire; `code` is stable, `value` is what was at fault, `hint` says what to do."""

    code = "wire"
    hint = ""

    def __init__(self, text: str, *, value: object = None, hint: str | None = None) -> None:
        super().__init__(text)
        self.value = value
        if hint is not None:
            self.hint = hint


class DeclarationError(WireError):
    """The declaration of a message contradicts itself or another one."""

    code = "wire.declaration"
    hint = "see SPEC.md, 'How to extend the protocol'"


class ValueOutOfRange(WireError):  # noqa: N818 - named after what it tells, like OverflowError's kin
    """A field holds a value that its declaration does not allow (sender's side)."""

    code = "wire.value"
    hint = "the allowed range is in the message tables of SPEC.md"


class MalformedMessage(WireError):  # noqa: N818 - named after what it tells
    """A payload does not fit the declaration of its message (receiver's side)."""

    code = "wire.malformed"
    hint = "compare the sender's firmware with the message tables of SPEC.md"


class FrameTooLong(WireError):  # noqa: N818 - named after what it tells
    """A message does not fit into one frame of the peer."""

    code = "wire.too_long"
    hint = "split it: texts and lists are paged"


class LinkDown(WireError):  # noqa: N818 - named after what it tells
    """A send was asked while the link is not up: refused, nothing was written."""

    code = "wire.link_down"
    hint = "wait for LinkUp, or call connect() after LinkFailed"


class QueueFull(WireError):  # noqa: N818 - named after what it tells
    """More was asked to be sent than the link keeps."""

    code = "wire.queue_full"
    hint = "wait until `send_space` is above zero"


class NotSpoken(WireError):  # noqa: N818 - named after what it tells
    """The peer's protocol minor does not have this message, or the direction is wrong."""

    code = "wire.not_spoken"
    hint = "ask `link.speaks(MessageClass)` first"
