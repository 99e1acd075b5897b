"""Captures and `tablectl decode`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.capture import CaptureWriter, NotACapture, read_capture
from firmware_protocol.framing import encode
from firmware_protocol.schema import Message
from firmware_protocol.transcript import Transcript
from tablectl.cli import main as cli

TAG = 0xE004010203040506
EVENT = b"\x01\0\0\0\x10\0\0\0"


def frame(message: Message, header: bytes = b"", kind: int = 1, seq: int = 0) -> bytes:
    """A frame on the line."""
    return encode(0x50 | kind, seq, 0, message.SPEC.id, header + message.pack())


TILES = m.TileEvent(zone=0x21, reader=1, tiles=(m.TileSight(3, 1, 200, TAG),))


def capture(*, unmask: bool = False) -> str:
    """A little capture."""
    stream = io.StringIO()
    writer = CaptureWriter(
        stream, 1_000_000, started="2026-11-30T09:24:00+09:00", port="/dev/ttyUSB0", unmask=unmask
    )
    writer.received(b"boot, last tag E004010203040506\r\n\0", 1_000_100)
    line = frame(TILES, EVENT)
    writer.received(line[:9], 1_500_000)
    writer.received(line[9:], 1_500_200)
    writer.received(line, 1_750_000)
    page = m.SnapshotTiles(version=1, page=1, zone=0x21, reader=1, tiles=(m.TileAt(3, 1, TAG),))
    writer.received(frame(page, seq=1), 1_800_000)
    writer.received(frame(m.LogText(level=2, text="read E004010203040506 twice"), seq=2), 1_850_000)
    writer.sent(frame(m.SetScores(scores=(25000, -300, 1, 2))), 2_000_000)
    writer.sent(encode(0x52, 1, 1, 0), 2_000_100)
    damaged = bytes((line[0], line[1] ^ 4)) + line[2:]
    writer.received(damaged, 2_100_000)
    writer.received(encode(0x51, 3, 0, 0xFD, TAG.to_bytes(8, "little")), 2_200_000)
    writer.received(encode(0x51, 4, 0, m.LogText.SPEC.id, b"\x01\x30" + b"\xff" * 48), 2_300_000)
    writer.remark("link failed: tries", 2_500_000)
    return stream.getvalue()


def test_a_masked_capture_holds_no_tag_in_any_form() -> None:
    text = capture()
    raw = TAG.to_bytes(8, "little")
    octets = b"".join(piece.data for piece in read_capture(io.StringIO(text)))
    for form in (raw, raw[::-1], b"E004010203040506", b"e004010203040506"):
        assert form not in octets
        assert form.hex() not in text
    for part in range(1, len(raw)):
        assert raw[:part].hex() + "00" not in text or part < 4
    loud = b"".join(piece.data for piece in read_capture(io.StringIO(capture(unmask=True))))
    assert raw in loud


def test_a_transcript_names_messages_fields_and_faults() -> None:
    transcript = Transcript()
    lines = [
        line
        for piece in read_capture(io.StringIO(capture(unmask=True)))
        for line in transcript.feed(piece)
    ]
    names = [line.name for line in lines]
    assert names == [
        "text",
        "TileEvent",
        "TileEvent",
        "SnapshotTiles",
        "LogText",
        "SetScores",
        "ack",
        "damaged",
        "unknown",
        "LogText",
        "remark",
    ]
    assert lines[1].fields["event_no"] == 1
    assert lines[1].fields["zone"] == "hand.1"
    assert lines[1].fields["tiles"] == [
        {"slot": 3, "flags": "appeared", "signal": 200, "tag": "masked"}
    ]
    assert "again" not in lines[1].fields
    assert lines[2].fields["again"] == 1
    assert lines[5].fields["scores"] == [25000, -300, 1, 2]
    assert lines[6].beat
    assert transcript.findings == 2
    assert "1 of them repeated" in transcript.summary()
    loud = Transcript(unmask=True)
    shown = [
        line
        for piece in read_capture(io.StringIO(capture(unmask=True)))
        for line in loud.feed(piece)
    ]
    assert shown[1].fields["tiles"][0]["tag"] == f"{TAG:016x}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        ("hello\n", "first line"),
        ("# tablectl capture 1 now port\nx > 00\n", "line 2"),
        ("# tablectl capture 1 now port\n0.000001 ? 00\n", "line 2"),
        ("# tablectl capture 1 now port\n\n# note\n0.000001 > zz\n", "line 4"),
    ],
)
def test_what_is_no_capture_is_refused_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(NotACapture, match=complaint) as caught:
        list(read_capture(io.StringIO(text)))
    assert caught.value.code == "wire.capture"
    assert caught.value.hint


def test_a_capture_cut_anywhere_is_read_as_far_as_it_goes() -> None:
    text = capture()
    head = len(text.splitlines(keepends=True)[0])
    for end in range(head, len(text)):
        transcript = Transcript()
        for piece in read_capture(io.StringIO(text[:end])):
            list(transcript.feed(piece))
        list(transcript.end())


def test_decode_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.capture"
    path.write_text(capture(), encoding="utf-8")
    assert cli.main(["decode", str(path)]) == 1
    out = capsys.readouterr().out
    assert "SetScores" in out
    assert "link failed: tries" in out
    assert cli.main(["decode", str(path), "--json", "--only", "SetScores"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {"t": 1.0, "dir": ">", "what": "SetScores", "session": 5, "seq": 0, "ack": 0,
                                "scores": [25000, -300, 1, 2]}  # fmt: skip
    assert cli.main(["decode", str(path), "--no-beat"]) == 1
    assert " ack " not in capsys.readouterr().out
    fine = tmp_path / "b.capture"
    fine.write_text(
        "# tablectl capture 1 now port\n0.000000 > " + frame(m.SetHonba(honba=1)).hex() + "\n",
        encoding="utf-8",
    )
    assert cli.main(["decode", str(fine)]) == 0


@pytest.mark.parametrize("bad", ["missing", "binary", "directory"])
def test_decode_says_what_is_wrong(
    bad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x"
    if bad == "binary":
        path.write_bytes(b"\xff\xfe\x00")
    elif bad == "directory":
        path.mkdir()
    assert cli.main(["decode", str(path)]) == 2
    error = capsys.readouterr().err
    assert str(path) in error
    assert "Traceback" not in error
    assert cli.main(["decode", str(path), "--only", "Nothing"]) == 2


def test_decode_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(capture()))
    assert cli.main(["decode", "-"]) == 1
    assert "TileEvent" in capsys.readouterr().out
