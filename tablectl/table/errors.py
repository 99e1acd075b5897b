"""Why a port cannot be used, in words that name the path, the cause and the next step."""

from __future__ import annotations


class PortError(Exception):
    """Root of the tree. `code` is stable, `port` is what was configured, `hint` says what to do."""

    code = "port"

    def __init__(self, port: str, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.port = port
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}" if self.hint else self.message


class PortMissingError(PortError):
    """There is nothing at this path now."""

    code = "port_missing"


class PortBusyError(PortError):
    """Another process has it open. `pid` is 0 when it cannot be seen."""

    code = "port_busy"

    def __init__(self, port: str, message: str, *, pid: int = 0, hint: str = "") -> None:
        super().__init__(port, message, hint=hint)
        self.pid = pid


class PortDeniedError(PortError):
    """The file's rights do not let this user in."""

    code = "port_denied"


class PortUnusableError(PortError):
    """It is there, but cannot be opened as a serial port; the system's own word is in the message."""

    code = "port_unusable"


class PortAddressError(PortError):
    """A URL or name that says nothing we understand: only another configuration helps."""

    code = "port_address"


class PortLostError(PortError):
    """It was open and went away, or takes no more octets."""

    code = "port_lost"


class DriverError(Exception):
    """A driver that is not installed or does not load."""

    code = "driver"

    def __init__(self, name: str, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}" if self.hint else self.message
