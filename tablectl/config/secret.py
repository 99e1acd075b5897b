"""A value that must not appear in a log: given in the file, or by where to find it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

_FORMS = 'a text, { file = "…" }, { env = "…" } or { credential = "…" }'


class SecretError(Exception):
    """A secret is named but cannot be read; `code` is `secret_missing`."""

    code = "secret_missing"

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Secret(BaseModel):
    """Exactly one of: the value itself, a file, an environment variable, a systemd credential."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: str | None = Field(default=None, repr=False)
    file: Path | None = None
    env: str | None = None
    credential: str | None = None

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
        return self

    def reveal(self) -> str:
        """The secret itself, without the newline editors put at a file's end; SecretError if absent."""
        if self.value is not None:
            return self.value
        if self.env is not None:
            return self._from_env(self.env)
        if self.credential is not None:
            folder = os.environ.get("CREDENTIALS_DIRECTORY")
            if not folder:
                raise SecretError(
                    f"credential {self.credential!r} is named, but systemd gave no credentials",
                    f"add LoadCredential={self.credential}:/path to the unit, or use {{ file = … }}",
                )
            return self._from_file(Path(folder) / self.credential)
        assert self.file is not None
        return self._from_file(self.file)

    def where(self) -> str:
        """Where the secret comes from, safe to print."""
        if self.value is not None:
            return "the configuration file"
        if self.env is not None:
            return f"environment variable {self.env}"
        if self.credential is not None:
            return f"systemd credential {self.credential}"
        return f"file {self.file}"

    @staticmethod
    def _from_env(name: str) -> str:
        value = os.environ.get(name)
        if value is None:
            raise SecretError(
                f"environment variable {name} is not set",
                f"set {name}, or name another source: {_FORMS}",
            )
        return value

    @staticmethod
    def _from_file(path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise SecretError(
                f"the secret file {path} cannot be read: {reason}",
                "create it, readable by the user of tablectl only (chmod 600)",
            ) from error
