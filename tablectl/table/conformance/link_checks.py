"""Frames, delivery, handshake: chapters 2 to 4."""

from __future__ import annotations

import itertools

from firmware_protocol import messages as m
from firmware_protocol.framing import ACK, DATA, LINK, Frame
from tablectl.table.conformance.checks import trial
from tablectl.table.conformance.probe import ANSWER, SHORT, Probe, demand

ECHO = m.TestEcho.SPEC.id
REPLY = m.TestEchoReply.SPEC.id


def _replies(frames: list[Frame]) -> list[Frame]:
    return [f for f in frames if f.type == DATA and f.message_id == REPLY]


def _acks(frames: list[Frame]) -> list[Frame]:
    return [f for f in frames if f.type == ACK]


def _acknowledged(p: Probe, seq: int, what: str) -> None:
    p.wait(lambda f: f.type in (ACK, DATA) and f.ack == seq + 1, f"acknowledgement of {what}")


@trial("F-1", "F-2", "F-3", "F-4", "M-1", "M-2", "V-2", "H-5")
def handshake(p: Probe) -> None:
    """A Hello is answered with a HelloAck, both in frames as chapter 2 says."""
    before = p.damaged
    ack = p.open()
    demand(1 <= ack.window <= 4, f"window {ack.window}")
    demand(16 <= ack.max_frame <= 64, f"max_frame {ack.max_frame}")
    demand(p.damaged == before, "a damaged frame came")


@trial("M-7", "L-1", "L-3", "F-11")
def echoes(p: Probe) -> None:
    """Twenty TestEcho of all sizes come back whole, in order, numbered without gaps."""
    p.open()
    for number in range(20):
        size = (0, 1, 2, 47, 48)[number % 5]
        p.echo(number, bytes((number * 7 + k) & 0xFF for k in range(size)))
    demand(p.expected == 20, f"the device's numbers went to {p.expected}, not 20")


@trial("F-5")
def damaged_frames(p: Probe) -> None:
    """Frames with a wrong CRC, too short or too long have no effect."""
    p.open()
    good = p.frame(DATA, 0, 0, ECHO, m.TestEcho(1, b"x").pack())
    bad = bytearray(good)
    bad[-2] = bad[-2] % 255 + 1
    p.raw(bytes(bad))
    p.raw(b"\x03\x11\x22\0" + b"\x01" * 70 + b"\0" + b"\x09\x01\0")
    frames = p.all(SHORT)
    demand(not _replies(frames) and not _acks(frames), "it was answered")
    p.raw(good)
    p.wait(lambda f: f.message_id == REPLY, "answer to the good frame")


@trial("F-6", "F-7", "F-8", "F-10")
def garbage(p: Probe) -> None:
    """After garbage, boot text and empty frames the next frame is received."""
    p.open()
    p.raw(b"rst:0x1 (POWERON_RESET)\r\n" + bytes(range(1, 256)) * 4 + b"\0\0\0\0")
    p.echo(1)
    p.raw(b"\0" * 50)
    p.echo(2)


@trial("F-12")
def unknown_frame_type(p: Probe) -> None:
    """A frame of an unknown type is ignored."""
    p.open()
    p.raw(p.frame(9, 0, 0, ECHO, m.TestEcho(1, b"x").pack()))
    frames = p.all(SHORT)
    demand(not _replies(frames) and not _acks(frames), "it was answered")
    p.echo(2)


@trial("L-2")
def window(p: Probe) -> None:
    """Without acknowledgements no more DATA frames come than the window allows."""
    for size in (1, 4):
        ack = p.open(window=size)
        p.acknowledging = False
        most = min(size, ack.window)
        seen: set[int] = set()
        for number in range(6):
            p.send(m.TestEcho(number, b""))
            seen |= {f.seq for f in p.all(0.05) if f.type == DATA}
        seen |= {f.seq for f in p.all(SHORT) if f.type == DATA}
        demand(seen, "no answer at all")
        demand(len(seen) <= most, f"{len(seen)} frames were in flight, {most} are allowed")


@trial("L-5", "L-7", "L-18")
def copies(p: Probe) -> None:
    """A copy, and a frame out of order, is dropped and answered with the acknowledgement that holds."""
    p.open()
    p.echo(1)
    p.raw(p.frame(DATA, 0, p.expected, ECHO, m.TestEcho(1, b"ping").pack()))
    frames = p.all(SHORT)
    demand(not _replies(frames), "a copy was delivered again")
    demand(_acks(frames), "a copy was not answered with an ACK")
    ack = _acks(frames)[0]
    demand(
        (ack.ack, ack.seq, ack.message_id) == (1, 1, 0),
        f"the ACK says ack {ack.ack}, seq {ack.seq}",
    )
    demand(not ack.payload, "the ACK has a payload")
    p.raw(p.frame(DATA, 3, p.expected, ECHO, m.TestEcho(9, b"").pack()))
    frames = p.all(SHORT)
    demand(not _replies(frames), "a frame out of order was delivered")
    demand(
        any(f.ack == 1 for f in _acks(frames)), "a frame out of order was not answered with ack 1"
    )


@trial("L-8")
def wild_acks(p: Probe) -> None:
    """An ack outside the frames in flight is ignored."""
    p.open()
    p.acknowledging = False
    p.send(m.TestEcho(1, b""))
    first = p.wait(lambda f: f.message_id == REPLY, "TestEchoReply")
    for wild in (200, 5, 255):
        p.raw(p.frame(ACK, wild, wild, 0))
    again = p.wait(lambda f: f.message_id == REPLY, "repetition", 1.0)
    demand(again.seq == first.seq, "the wild acknowledgement was believed")


@trial("L-9", "L-10", "L-11", "L-12", "L-15", "H-1", slow=True)
def repetition(p: Probe) -> None:
    """Unacknowledged frames are written again, unchanged, each time later; after five tries no more."""
    p.open()
    p.acknowledging = False
    p.send(m.TestEcho(7, b"again"))
    first = p.wait(lambda f: f.message_id == REPLY, "TestEchoReply")
    times = [p.now()]
    announced = False
    while p.now() < times[0] + 11:
        frame = p.next(4.0)
        if frame is None:
            break
        if frame.type == DATA:
            demand(
                (frame.seq, frame.payload) == (first.seq, first.payload), "a repetition was changed"
            )
            times.append(p.now())
        elif frame.type == LINK and frame.message_id == m.Announce.SPEC.id:
            announced = True
            break
    demand(len(times) == 5, f"the frame was written {len(times)} times, not 5")
    gaps = [b - a for a, b in itertools.pairwise(times)]
    demand(all(0.02 <= gap <= 2.6 for gap in gaps), f"gaps of {[round(g, 2) for g in gaps]} s")
    demand(
        all(b > 1.5 * a or b > 1.8 for a, b in itertools.pairwise(gaps)),
        f"the gaps do not double: {[round(g, 2) for g in gaps]} s",
    )
    demand(announced, "no Announce after the link has failed")
    frames = p.all(1.3)
    demand(all(f.type == LINK for f in frames), "a failed link still writes")


@trial("L-13", "L-14", slow=True)
def patience(p: Probe) -> None:
    """Told that its frame was received and waits, the device goes on trying."""
    p.open()
    p.acknowledging = False
    p.send(m.TestEcho(7, b""))
    tries = 0
    until = p.now() + 9
    while p.now() < until:
        frame = p.next(3.0)
        demand(frame is not None, "it stopped trying")
        assert frame is not None
        demand(frame.type != LINK, "the link failed")
        if frame.type == DATA:
            tries += 1
            if tries > 5:
                return
            p.raw(p.frame(ACK, frame.seq + 1, frame.seq, 0))
    demand(tries >= 4, f"only {tries} tries in 9 s")


@trial("L-16", "H-8")
def other_session(p: Probe) -> None:
    """Frames of another session have no effect; without a session the device announces itself."""
    p.open()
    p.raw(p.frame(DATA, 0, 0, ECHO, m.TestEcho(1, b"").pack(), session=p.session ^ 3))
    frames = p.all(SHORT)
    demand(not _replies(frames) and not _acks(frames), "a frame of another session was answered")
    p.echo(2)
    p.end()
    p.raw(p.frame(DATA, 1, 0, ECHO, m.TestEcho(3, b"").pack()))
    frames = p.all(1.3)
    demand(not _replies(frames) and not _acks(frames), "a frame without a session was answered")
    demand(any(f.message_id == m.Announce.SPEC.id for f in frames), "no Announce")


@trial("L-17", "T-2", "H-1")
def silence(p: Probe) -> None:
    """A host that is silent longer than its Watchdog said is gone: Announce comes, every second."""
    p.open()
    p.end()
    announce = m.Announce.SPEC.id
    times = [when for when, frame in _timed(p, 3.4) if frame.message_id == announce]
    demand(len(times) >= 3, f"{len(times)} Announce in 3.4 s")
    gaps = [b - a for a, b in itertools.pairwise(times)]
    demand(all(0.7 <= gap <= 1.4 for gap in gaps), f"gaps of {[round(g, 2) for g in gaps]} s")


def _timed(p: Probe, seconds: float) -> list[tuple[float, Frame]]:
    until = p.now() + seconds
    out = []
    while (left := until - p.now()) > 0:
        frame = p.next(left)
        if frame is not None:
            out.append((p.now(), frame))
    return out


@trial("H-4", "H-9", "T-1")
def another_hello(p: Probe) -> None:
    """Another Hello begins a new session at 0, with a Heartbeat at once."""
    p.open()
    p.echo(1)
    p.open()
    p.expect(m.Heartbeat, 0.5)
    p.seq = 0
    p.echo(2)
    demand(p.expected == 1, "the device's numbers did not begin at 0")


@trial("H-6")
def same_hello(p: Probe) -> None:
    """The same Hello again is answered and changes nothing; after the session failed it is ignored."""
    p.open()
    p.echo(1)
    p.say_hello(p.nonce)
    nonce = p.nonce
    p.expect(m.HelloAck, fits=lambda a: a.nonce == nonce)
    p.echo(2)
    demand(p.expected == 2, "the session began anew")
    p.end()
    p.say_hello(nonce)
    frames = p.all(SHORT)
    demand(
        not any(f.message_id == m.HelloAck.SPEC.id for f in frames),
        "a Hello of a session that failed was answered",
    )


@trial("V-1", "V-7")
def other_major(p: Probe) -> None:
    """Another major is answered, and there is no session."""
    p.open()
    nonce = p.new_nonce()
    p.nonce, p.session, p.seq, p.expected = nonce, nonce & 0x0F, 0, 0
    p.say_hello(nonce, major=m.MAJOR + 1)
    ack = p.expect(m.HelloAck, fits=lambda a: a.nonce == nonce)
    demand(ack.major == m.MAJOR, f"it says major {ack.major}")
    p.send(m.TestEcho(1, b""))
    demand(not _replies(p.all(SHORT)), "it works with another major")
    p.open()
    p.echo(2)


@trial("V-5")
def unknown_message(p: Probe) -> None:
    """An unknown message, and one that only a device may send, is acknowledged and ignored."""
    p.open()
    for message_id, payload in ((0xFD, b"\x01\x02"), (REPLY, m.TestEchoReply(1, b"").pack())):
        seq = p.data(message_id, payload)
        _acknowledged(p, seq, f"message 0x{message_id:02x}")
    p.echo(3)


@trial("V-6")
def longer_message(p: Probe) -> None:
    """Octets behind the last known field are ignored."""
    p.open()
    p.data(ECHO, m.TestEcho(5, b"abc").pack() + b"\xaa\xbb")
    reply = p.expect(m.TestEchoReply)
    demand((reply.token, reply.data) == (5, b"abc"), "the answer is another")


@trial("M-3")
def value_out_of_range(p: Probe) -> None:
    """A payload that ends early or holds a value out of range is acknowledged and not delivered."""
    p.open()
    for message_id, payload in ((ECHO, b"\x01\x02"), (m.SetRound.SPEC.id, b"\x00\x09\x00")):
        seq = p.data(message_id, payload)
        _acknowledged(p, seq, f"message 0x{message_id:02x}")
    demand(not _replies(p.all(SHORT)), "it was delivered")
    p.echo(3)


@trial("M-6", "T-3")
def clock(p: Probe) -> None:
    """TimeRequest is answered with the device's clock, and nothing is acknowledged or repeated."""
    p.open()
    p.send(m.TimeRequest(11, 0))
    first = p.expect(m.TimeReply, fits=lambda r: r.token == 11)
    frames = p.all(0.6)
    demand(not any(f.message_id == m.TimeReply.SPEC.id for f in frames), "the reply was repeated")
    p.send(m.TimeRequest(12, 0))
    second = p.expect(m.TimeReply, fits=lambda r: r.token == 12)
    passed = second.uptime_ms - first.uptime_ms & 0xFFFFFFFF
    demand(400 <= passed <= 2000, f"its clock went {passed} ms in about 600 ms")


@trial("T-1", "R-1")
def heartbeat(p: Probe) -> None:
    """A Heartbeat comes every second, with the boot_id of the handshake and a running clock."""
    ack = p.open()
    beats = []
    for when, frame in _timed(p, 3.5):
        message = p.message(frame)
        if isinstance(message, m.Heartbeat):
            beats.append((when, message))
    demand(len(beats) >= 3, f"{len(beats)} Heartbeat in 3.5 s")
    gaps = [b[0] - a[0] for a, b in itertools.pairwise(beats[1:])]
    demand(all(0.8 <= gap <= 1.3 for gap in gaps), f"gaps of {[round(g, 2) for g in gaps]} s")
    demand(all(b.boot_id == ack.boot_id for _, b in beats), "boot_id differs from HelloAck's")
    times = [b.uptime_ms for _, b in beats]
    demand(times == sorted(times), "its clock goes back")


@trial("F-9")
def handshake_delimiter(p: Probe) -> None:
    """HelloAck is received though half a frame stood before it on the line."""
    p.open()
    p.raw(p.frame(DATA, 0, 0, ECHO, m.TestEcho(1, b"half").pack())[:6])
    nonce = p.new_nonce()
    p.nonce, p.session, p.seq, p.expected = nonce, nonce & 0x0F, 0, 0
    p.say_hello(nonce)
    p.expect(m.HelloAck, ANSWER, fits=lambda a: a.nonce == nonce)
    p.echo(2)
