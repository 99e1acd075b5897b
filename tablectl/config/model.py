"""Every key of the configuration file: its type, default, meaning and an example."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from tablectl.config.environment import Environment
from tablectl.config.secret import Secret

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,32}$")]
Level = Literal["basic", "score", "tiles"]
Whole = Annotated[int, Strict()]
"""A number without quotes; a file that says "15" or 15.0 means something else."""
Truth = Annotated[bool, Strict()]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)


class VenueSettings(_Section):
    """The hall this daemon serves."""

    id: Identifier = Field(
        default="home",
        description="first part of every topic: tablectl/<venue>/…; small letters, digits, '-'",
        examples=['"ichiban"'],
    )
    name: str = Field(
        default="",
        description="how the hall is called on the board; free text",
        examples=['"麻雀一番"'],
    )
    rulesets: tuple[Path, ...] = Field(
        default=(),
        description="house-rule files of the hall, whose ids a game may name; relative to the configuration file",
        examples=['["friday.toml", "league-night.toml"]'],
    )


class MqttSettings(_Section):
    """The broker that everything is published to."""

    url: str = Field(
        default="mqtt://localhost:1883",
        description="broker address; mqtts:// for TLS",
        examples=['"mqtts://broker.example:8883"'],
    )
    username: str | None = Field(
        default=None, description="user at the broker; none = anonymous", examples=['"tablectl"']
    )
    password: Secret | None = Field(
        default=None,
        description="a text, or where to find it: { file = … }, { env = … }, { credential = … }",
        examples=['{ file = "/etc/tablectl/mqtt.password" }'],
    )
    client_id: str | None = Field(
        default=None,
        description="unique at the broker; default tablectl-<venue>-<8 hex of the journal's stream>",
        examples=['"tablectl-ichiban"'],
    )
    ca_file: Path | None = Field(
        default=None,
        description="certificate authority of an mqtts:// broker; default: the system's",
        examples=['"/etc/ssl/hall-ca.pem"'],
    )
    protocol: Literal["auto", "5", "3.1.1"] = Field(
        default="auto",
        description="auto tries MQTT 5 and degrades to 3.1.1",
        examples=['"auto"'],
    )
    keepalive: Whole = Field(
        default=15, ge=5, le=600, description="seconds between signs of life", examples=["15"]
    )

    @field_validator("url")
    @classmethod
    def _known_scheme(cls, value: str) -> str:
        if not value.startswith(("mqtt://", "mqtts://")):
            msg = "a broker address starts with mqtt:// or mqtts://"
            raise ValueError(msg)
        if "@" in value:
            msg = "user and password do not belong into the address: it is printed; they have keys of their own"
            raise ValueError(msg)
        return value


class WebSettings(_Section):
    """The pages and the HTTP API."""

    enabled: Truth = Field(default=True, description="serve pages at all", examples=["true"])
    host: str = Field(
        default="127.0.0.1",
        description="address to listen on; 0.0.0.0 opens the pages to the hall's network",
        examples=['"0.0.0.0"'],
    )
    port: Whole = Field(
        default=8731, ge=0, le=65535, description="TCP port; 0 = any", examples=["8731"]
    )


class JournalSettings(_Section):
    """The file that remembers everything."""

    path: Path = Field(
        default=Path("tablectl.db"),
        description="SQLite file of all tables; relative to the configuration file",
        examples=['"/var/lib/tablectl/journal.db"'],
    )
    fsync: Truth = Field(
        default=True,
        description="false trades the last moments before a power cut for speed",
        examples=["true"],
    )
    keep_days: Whole = Field(
        default=0,
        ge=0,
        description="finished games older than this are pruned; 0 keeps all",
        examples=["365"],
    )


class BroadcastSettings(_Section):
    """The feed with hands for the stream."""

    delay: Annotated[Whole, Field(ge=0, le=7200)] | Literal["hand"] = Field(
        default="hand",
        description='seconds until hands are shown, or "hand": when the hand has ended',
        examples=["300", '"hand"'],
    )


class LogSettings(_Section):
    """What is written to standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="least severity that is written", examples=['"info"']
    )
    format: Literal["auto", "text", "json", "journald"] = Field(
        default="auto",
        description="auto: journald under systemd, text elsewhere",
        examples=['"json"'],
    )
    unmask: Truth = Field(
        default=False,
        description="write tags and concealed tiles in clear; only for a closed test bench",
        examples=["false"],
    )


class SensorSettings(_Section):
    """How the readings of tile antennas are trusted (level tiles)."""

    settle_ms: Whole = Field(
        default=300,
        ge=0,
        le=5000,
        description="a tile must lie this long before its place counts",
        examples=["300"],
    )
    missed_reads: Whole = Field(
        default=3,
        ge=1,
        le=20,
        description="reads in a row without a tile before it counts as gone",
        examples=["3"],
    )
    read_period_ms: Whole = Field(
        default=100,
        ge=10,
        le=2000,
        description="time between two reads of one antenna",
        examples=["100"],
    )
    same_tag_ms: Whole = Field(
        default=1500,
        ge=0,
        le=5000,
        description="a tag back in its zone within this time never left",
        examples=["1500"],
    )


class TableSettings(_Section):
    """One automatic table."""

    id: Identifier = Field(
        description="name in topics and in the journal; never change it while games are kept",
        examples=['"t1"'],
    )
    name: str = Field(default="", description="how people call it; free text", examples=['"1番卓"'])
    port: str = Field(
        description="serial port by its stable name, or a URL: socket://, rfc2217://, sim://",
        examples=['"/dev/serial/by-id/usb-Example_MJ100_0001-if00"'],
    )
    driver: str = Field(
        default="framed",
        description='"framed" (SPEC.md), "line" (a simple sketch), or a driver of an installed package',
        examples=['"framed"'],
    )
    baud: Whole = Field(
        default=115200, ge=1200, le=4_000_000, description="bits per second", examples=["115200"]
    )
    level: Level | None = Field(
        default=None,
        description="use no more than this of the machine; default: all it has",
        examples=['"score"'],
    )
    tiles: Path | None = Field(
        default=None,
        description="file that maps tags to tiles; relative to the configuration file",
        examples=['"tiles-t1.toml"'],
    )
    ruleset: str = Field(
        default="tenhou",
        description="rules of a game that names none: an id ('tablectl rules list'), options after commas, or a house-rule file",
        examples=['"m-league"', '"tenhou,length=tonpuusen"', '"our-hall.toml"'],
    )
    dtr: Truth | None = Field(
        default=None,
        description="level of the DTR line while open; many boards reset when it changes",
        examples=["false"],
    )
    rts: Truth | None = Field(
        default=None, description="level of the RTS line while open", examples=["false"]
    )
    hupcl: Truth = Field(
        default=False,
        description="drop DTR when the port is closed; resets many boards",
        examples=["false"],
    )
    capture: Path | None = Field(
        default=None,
        description="file that gets every frame of the line, for 'tablectl decode'; relative to the configuration file",
        examples=['"t1.capture"'],
    )
    flash_hint: str = Field(
        default="",
        description="command that puts the right firmware on this board; shown when versions differ",
        examples=['"make flash BOARD=mj100"'],
    )
    operator_results: Truth = Field(
        default=False,
        description="level tiles: a person types the results although the tiles are seen",
        examples=["false"],
    )
    sensors: SensorSettings = Field(default=SensorSettings(), description="tile antennas")

    @field_validator("port")
    @classmethod
    def _whole_name(cls, value: str) -> str:
        if not value.strip():
            msg = "a table without a port cannot be reached"
            raise ValueError(msg)
        if re.fullmatch(r"(tty|COM|cu\.)\w+", value):
            msg = "a port is named by its whole path, such as /dev/ttyUSB0"
            raise ValueError(msg)
        return value


class Settings(BaseSettings):
    """The whole file. `TABLECTL_<SECTION>__<KEY>` in the environment overrides a key of it."""

    model_config = SettingsConfigDict(
        env_prefix="TABLECTL_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        validate_default=False,
    )

    venue: VenueSettings = Field(default=VenueSettings(), description="the hall")
    mqtt: MqttSettings | None = Field(
        default=MqttSettings(), description="the broker; 'mqtt = false' runs without one"
    )
    web: WebSettings = Field(default=WebSettings(), description="pages and HTTP API")
    journal: JournalSettings = Field(default=JournalSettings(), description="the memory")
    broadcast: BroadcastSettings = Field(default=BroadcastSettings(), description="stream feed")
    log: LogSettings = Field(default=LogSettings(), description="log lines")
    tables: tuple[TableSettings, ...] = Field(
        default=(), description="one [[tables]] block for each table"
    )

    @field_validator("mqtt", mode="before")
    @classmethod
    def _mqtt_off(cls, value: Any) -> Any:
        return None if value is False else value

    @model_validator(mode="after")
    def _tables_differ(self) -> Settings:
        for key in ("id", "port"):
            seen: dict[str, int] = {}
            for index, table in enumerate(self.tables):
                value = str(getattr(table, key))
                if value in seen:
                    raise DuplicateTableError(key, value, index, seen[value])
                seen[value] = index
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment over file; no dotenv files, so that nothing hides in a folder."""
        return Environment(settings_cls), init_settings


class DuplicateTableError(ValueError):
    """Two [[tables]] share an id or a port."""

    def __init__(self, key: str, value: str, index: int, first: int) -> None:
        super().__init__(f"{key} {value!r} is used by two tables")
        self.key = key
        self.value = value
        self.index = index
        self.first = first
