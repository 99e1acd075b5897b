"""The one TOML file of a daemon: its model, where each key stands, and errors that point at it."""

from tablectl.config.load import load, loads
from tablectl.config.model import (
    BroadcastSettings,
    JournalSettings,
    LogSettings,
    MqttSettings,
    Settings,
    TableSettings,
    VenueSettings,
    WebSettings,
)
from tablectl.config.problem import ConfigError, Problem
from tablectl.config.secret import Secret, SecretError

__all__ = [
    "BroadcastSettings",
    "ConfigError",
    "JournalSettings",
    "LogSettings",
    "MqttSettings",
    "Problem",
    "Secret",
    "SecretError",
    "Settings",
    "TableSettings",
    "VenueSettings",
    "WebSettings",
    "load",
    "loads",
]
