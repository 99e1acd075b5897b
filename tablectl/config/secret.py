"""A value that must not appear in a log: given in the file, or by where to find it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tablectl.textfile import NotTextError, is_file, read_text

_FORMS = 'a text, { file = "…" }, { env = "…" } or { credential = "…" }'
SERVICE_CREDENTIALS = Path("/run/credentials/tablectl.service")
"""Where systemd keeps what it gives to the running service; root may look."""


class SecretError(Exception):
    """A secret is named but cannot be used.

    `code`: `secret_missing`, `secret_elsewhere` (systemd gives it to the service only), `secret_empty`,
    `secret_lines`.
    """

    def __init__(self, message: str, hint: str, code: str = "secret_missing") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


class Secret(BaseModel):
    """Exactly one of: the value itself, a file, an environment variable, a systemd credential."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: str | None = Field(default=None, repr=False, description="the secret itself")
    file: Path | None = Field(default=None, description="a file that holds it in one line")
    env: str | None = Field(default=None, description="the variable that holds it")
    credential: str | None = Field(
        default=None, description="its name in the unit's LoadCredential="
    )

    @model_validator(mode="before")
    @classmethod
    def _plain_text(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"value": data}
        return data

    @model_validator(mode="after")
    def _exactly_one(self) -> Secret:
        given = [self.value, self.file, self.env, self.credential]
        if sum(item is not None for item in given) != 1:
            msg = f"a secret is {_FORMS}"
            raise ValueError(msg)
        if self.credential is not None and ("/" in self.credential or not self.credential):
            msg = "a credential is the name before the colon in LoadCredential=name:/path"
            raise ValueError(msg)
        return self

    def reveal(self) -> str:
        """The secret itself, without the newline editors put at a file's end; raises SecretError."""
        if self.value is not None:
            return self._sound(self.value)
        if self.env is not None:
            return self._sound(self._from_env(self.env))
        if self.credential is not None:
            return self._sound(self._from_systemd(self.credential))
        assert self.file is not None
        hint = "write the password into it, in one line (chmod 640, group tablectl)"
        return self._sound(self._from_file(self.file, hint))

    def where(self) -> str:
        """Where the secret comes from, safe to print."""
        if self.value is not None:
            return "the configuration file"
        if self.env is not None:
            return f"environment variable {self.env}"
        if self.credential is not None:
            return f"systemd credential {self.credential}"
        return f"file {self.file}"

    def readable_by_others(self) -> bool:
        """Whether everybody on this computer may read the file that holds it."""
        if self.file is None:
            return False
        try:
            mode = self.file.stat().st_mode
        except OSError:
            return False
        return stat.S_ISREG(mode) and bool(mode & stat.S_IROTH)

    def _sound(self, text: str) -> str:
        if not text:
            raise SecretError(
                f"{self.where()} holds no secret: it is empty",
                "write the password there, or leave username and password out",
                "secret_empty",
            )
        if "\n" in text or "\r" in text:
            raise SecretError(
                f"{self.where()} holds several lines",
                "the password alone, in one line (no mosquitto password file, no NAME=value)",
                "secret_lines",
            )
        return text

    @staticmethod
    def _from_env(name: str) -> str:
        value = os.environ.get(name)
        if value is None:
            raise SecretError(
                f"environment variable {name} is not set",
                f"set {name}, or name another source: {_FORMS}",
            )
        return value.rstrip("\r\n")

    def _from_systemd(self, name: str) -> str:
        unit = f"LoadCredential={name}:/etc/tablectl/{name}.password"
        given = os.environ.get("CREDENTIALS_DIRECTORY")
        folder = Path(given) if given else SERVICE_CREDENTIALS
        if not given and not is_file(folder / name):
            raise SecretError(
                f"credential {name!r} is given by systemd to the service only, and this is not the service",
                f"as the service has it: sudo systemd-run --pipe -p {unit} tablectl …",
                "secret_elsewhere",
            )
        return self._from_file(folder / name, f"add {unit} to the unit (systemctl edit tablectl)")

    @staticmethod
    def _from_file(path: Path, hint: str) -> str:
        try:
            return read_text(path).rstrip("\r\n")
        except NotTextError as error:
            raise SecretError(f"the secret file {path}: {error.message}", error.hint) from error
        except PermissionError as error:
            raise SecretError(
                f"the secret file {path} may not be read by this user",
                f"sudo chgrp tablectl {path} && sudo chmod 640 {path}, or use sudo",
            ) from error
        except OSError as error:
            raise SecretError(
                f"the secret file {path} cannot be read: {error.strerror}", hint
            ) from error
