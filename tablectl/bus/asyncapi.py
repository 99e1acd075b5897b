"""The AsyncAPI 3 document of the bus, made from the payload models: `docs/asyncapi.json`.

`python -m tablectl.bus.asyncapi` writes it, `--check` fails when it is not what the models say.
"""

from __future__ import annotations

import argparse
import json
import sys
import types
import typing
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from tablectl.bus import payloads as p
from tablectl.bus.requests import REQUESTS
from tablectl.engine.game.codec import Record, Visibility, plan
from tablectl.engine.game.events import EVENTS, Event

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "asyncapi.json"
ASYNCAPI: Final = "3.0.0"
BASE: Final = "tablectl/{venue}/{table}"
_REFERENCE: Final = "#/components/schemas/{model}"

_RETAINED: Final[dict[str, tuple[str, type[BaseModel]]]] = {
    "bridgeState": ("bridge/state", p.BridgeState),
    "bridgeInfo": ("bridge/info", p.BridgeInfo),
    "bridgeHealth": ("bridge/health", p.BridgeHealth),
    "link": ("link", p.LinkStatus),
    "state": ("state", p.StateSnapshot),
    **{
        f"seat{name.title()}": (f"seat/{{seat}}/{name}", model) for name, model in p.SCALARS.items()
    },
}


def document() -> dict[str, Any]:
    """The whole document as a JSON object."""
    schemas: dict[str, Any] = {}
    messages: dict[str, Any] = {}
    channels: dict[str, Any] = {}
    operations: dict[str, Any] = {}
    for name, (topic, model) in _RETAINED.items():
        messages[name] = _message(name, _schema(model, schemas), model.__doc__)
        channels[name] = _channel(topic, [name], retained=True)
        operations[f"publish{_title(name)}"] = _operation("send", name, retained=True)
    schemas["Stamp"] = _stamp_schema()
    event_names = []
    for kind, event in sorted(EVENTS.items()):
        if _is_public(event):
            name = f"event{''.join(word.title() for word in kind.split('_'))}"
            event_names.append(name)
            messages[name] = _message(name, _event_schema(kind, event), event.__doc__)
    channels["event"] = _channel("event", event_names, retained=False)
    operations["publishEvent"] = _operation("send", "event", retained=False)
    messages["response"] = _message("response", _schema(p.Response, schemas), p.Response.__doc__)
    for topic, request in REQUESTS.items():
        name = "request" + _title(topic)
        reply = "response" + _title(topic)
        schema = _schema(request, schemas)
        messages[name] = _message(name, {"allOf": [schema, _TRANSACTION]}, request.__doc__)
        channels[name] = _channel(f"request/{topic}", [name], retained=False)
        channels[reply] = _channel(f"response/{topic}", ["response"], retained=False)
        operations[name] = {
            **_operation("receive", name, retained=False),
            "reply": {"channel": {"$ref": f"#/channels/{reply}"}},
        }
    return {
        "asyncapi": ASYNCAPI,
        "info": {
            "title": "tablectl bus",
            "version": p.PROTOCOL,
            "description": "Everything public that an automatic mahjong table says over MQTT, and what it "
            "may be asked. docs/bus.md tells how to use it.",
        },
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages, "schemas": dict(sorted(schemas.items()))},
    }


def rendered() -> str:
    """The document as it stands in the file."""
    return json.dumps(document(), indent=1, ensure_ascii=False, sort_keys=False) + "\n"


_TRANSACTION: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "transaction": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "A fresh UUID; the same one when asking again.",
        }
    },
}


def _schema(model: type[BaseModel], into: dict[str, Any]) -> dict[str, Any]:
    """A reference to the model's schema; the schema and those it uses are added to `into`."""
    schema = model.model_json_schema(ref_template=_REFERENCE, by_alias=True)
    into |= schema.pop("$defs", {})
    into[model.__name__] = schema
    return {"$ref": _REFERENCE.format(model=model.__name__)}


def _stamp_schema() -> dict[str, Any]:
    properties: dict[str, Any] = {
        "epoch": {"type": "integer"},
        "seq": {"type": "integer", "minimum": 1},
        "id": {"type": "string", "format": "uuid"},
        "stream": {"type": "string", "format": "uuid"},
        "t_wall": {"type": "integer", "description": "ms since 1970"},
        "t_mono": {"type": "integer", "description": "ms, compares within one epoch"},
        "time_synced": {"type": "boolean"},
    }
    return {
        "type": "object",
        "properties": {
            **properties,
            "durable": {
                "type": "boolean",
                "description": "only when false: the disk did not take it",
            },
        },
        "required": list(properties),
    }


def _event_schema(kind: str, event: type[Event]) -> dict[str, Any]:
    hints = typing.get_type_hints(event, include_extras=True)
    fields = {
        field.name: _type_schema(hints[field.name])
        if field.visibility is Visibility.PUBLIC
        else {"type": "null", "description": "concealed"}
        for field in plan(event)
    }
    extra = (
        {"retracted_ids": {"type": "array", "items": {"type": "string"}}}
        if kind == "undone"
        else {}
    )
    return {
        "allOf": [
            {"$ref": _REFERENCE.format(model="Stamp")},
            {
                "type": "object",
                "properties": {"type": {"const": kind}, **fields, **extra},
                "required": ["type", *fields, *extra],
            },
        ]
    }


def _type_schema(hint: Any) -> dict[str, Any]:
    """JSON Schema of a field of an engine event, from its annotation."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        if "tile" in args[1:]:
            return {"type": "string", "pattern": "^[0-9][mps]$|^[1-7]z$"}
        return _type_schema(args[0])
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_type_schema(arg) for arg in args]}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin is tuple:
        if args[-1] is Ellipsis:
            return {"type": "array", "items": _type_schema(args[0])}
        size = {"minItems": len(args), "maxItems": len(args)}
        return {"type": "array", "items": _type_schema(args[0]), **size}
    if isinstance(hint, type) and issubclass(hint, Record):
        inner = typing.get_type_hints(hint, include_extras=True)
        names = [field.name for field in plan(hint)]
        return {
            "type": "object",
            "properties": {name: _type_schema(inner[name]) for name in names},
            "required": names,
        }
    return {"type": _JSON_TYPES.get(hint, "object")}


_JSON_TYPES: Final[dict[Any, str]] = {
    int: "integer",
    str: "string",
    bool: "boolean",
    type(None): "null",
}


def _is_public(event: type[Event]) -> bool:
    fields = plan(event)
    return not fields or any(field.visibility is Visibility.PUBLIC for field in fields)


def _message(name: str, payload: dict[str, Any], doc: str | None) -> dict[str, Any]:
    summary = (doc or "").strip().splitlines()[0] if doc else ""
    return {"name": name, "summary": summary, "payload": payload}


def _channel(topic: str, messages: Iterable[str], *, retained: bool) -> dict[str, Any]:
    address = f"{BASE}/{topic}"
    parameters: dict[str, Any] = {
        "venue": {"description": "[a-z0-9-]{1,32}"},
        "table": {"description": "[a-z0-9-]{1,32}"},
    }
    if "{seat}" in address:
        parameters["seat"] = {"enum": ["0", "1", "2", "3"]}
    return {
        "address": address,
        "description": "retained" if retained else "never retained",
        "parameters": parameters,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
    }


def _operation(action: str, channel: str, *, retained: bool) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "bindings": {"mqtt": {"qos": 1, "retain": retained}},
    }


def _title(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("/"))


def main(arguments: list[str] | None = None) -> int:
    """Write the document, or compare it with `--check`; 1 when it differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail when the file is not up to date")
    check = parser.parse_args(arguments).check
    wanted = rendered()
    if not check:
        DOCUMENT.write_text(wanted, encoding="utf-8")
        return 0
    if not DOCUMENT.is_file() or DOCUMENT.read_text(encoding="utf-8") != wanted:
        sys.stderr.write(
            f"{DOCUMENT} is not what the models say: python -m tablectl.bus.asyncapi\n"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
