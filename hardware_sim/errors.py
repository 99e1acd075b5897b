"""What can go wrong when a simulated table is set up: class, stable code, value at fault, hint."""

from __future__ import annotations


class SimError(Exception):
    """Base of everything the simulator refuses; `str()` says what, where and what to do."""

    code = "sim_error"

    def __init__(self, message: str, *, value: object = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.value = value
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class RecordError(SimError):
    """A game record that cannot be played on a table; `value` names game, hand and event."""

    code = "bad_record"


class ScriptError(SimError):
    """A fault script with a sentence nobody understands; `value` is `file:line`."""

    code = "bad_script"


class OptionError(SimError):
    """A level, speed, quirk or capability that does not exist; `value` is what was asked."""

    code = "bad_option"


class LinkPathError(SimError):
    """The place for the link to the pty is taken or not writable; `value` is the path."""

    code = "bad_link_path"
