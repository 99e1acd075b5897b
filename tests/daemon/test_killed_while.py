"""Killed while something else is under way: a request, a broker out of reach, a disk that takes nothing."""

from __future__ import annotations

import asyncio
import json
import random
import resource
import uuid
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol.vocabulary import Button, Press
from hardware_sim.people import Progress
from hardware_sim.runner import RunningTable
from tablectl.journal.check import check
from tablectl.journal.reader import open_reads
from tablectl.journal.store import Store
from tablectl.mirror.tags import TagMap
from tests.conftest import scaled
from tests.daemon.living import Death, Listener, Living, hall, running, simulated
from tests.daemon.test_crash_matrix import Kills
from tests.daemon.undisturbed import Undisturbed, request_of
from tests.daemon.witness import Witness
from tests.first_light.brokers import mosquitto
from tests.first_light.test_bus import CuttingProxy
from tests.sim.games import AFTER_SHORT, short

IN_THE_LOOP = ("received", "decided", "committed", "effected", "answered")
"""Steps that know which request is under way."""
RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("result/win", {"winner": 0, "from": 1, "han": 7, "fu": 40}),
    ("result/draw", {"kind": "kyuushu", "seat": 0}),
    ("result/win", {"winner": 1, "from": 1, "han": 2, "fu": 30}),
]
"""What an operator types in for the three hands of the short record."""
WRONG = ("result/win", {"winner": 2, "from": 1, "han": 1, "fu": 30})


class Evening:
    """A table at level basic, its operator, and daemons that die."""

    def __init__(self, folder: Path, port: int, kills: Kills) -> None:
        record = folder / "record.jsonl"
        record.write_text(json.dumps(short()) + "\n", encoding="utf-8")
        self.table: RunningTable = simulated(
            folder, str(record), level="basic", operator=frozenset({"result", "riichi"})
        )
        self.waits: asyncio.Queue[Progress] = asyncio.Queue()
        self.table.table.on_event = lambda p: self.waits.put_nowait(p) if p.waits else None
        self.listener = Listener(port)
        self.journal = folder / "journal.db"
        self.witness = Witness(self.journal, self.listener, self.table.table, TagMap())
        self.daemon = Living(hall(folder, port, self.table), kills, on_death=self._on_death)
        self.looking = True

    def _on_death(self, death: Death) -> None:
        if self.looking:
            death.phase = self.witness.looks()

    async def asked(self, name: str, data: dict[str, Any]) -> dict[str, Any]:
        """Ask until it is answered, then once more: the same transaction has one answer for ever."""
        transaction = str(uuid.uuid4())
        first = await self.listener.asked(name, data, transaction=transaction)
        again = await self.listener.asked(name, data, transaction=transaction)
        assert again.data == first.data
        return first.data

    async def result_of(self, hand: int) -> None:
        """Until people wait for the result of this hand; a riichi on the way is declared."""
        while True:
            progress = await self.waits.get()
            if progress.kind == "result":
                assert progress.hand == hand
                return
            await self.asked("riichi", {"seat": progress.seat})
            self.table.operator_done()

    async def types(self, hand: int) -> None:
        """The operator enters the right result."""
        await self.asked(*RIGHT[hand])
        self.table.operator_done()

    async def ends(self) -> None:
        """The last result stands; everything has been told."""
        await self.table.played()
        await self.listener.settled(self.witness.epoch)
        assert [self.listener.seen.retained[f"seat/{n}/score"] for n in range(4)] == AFTER_SHORT


@pytest.mark.soak
def test_while_a_request_is_under_way(tmp_path: Path) -> None:
    """Every step of game/start, game/abort, result/win and undo: asked again, each is done once."""
    rounds = scaled(len(IN_THE_LOOP), 1)
    starts = list(IN_THE_LOOP[:rounds])
    results = list(IN_THE_LOOP[2:][:rounds]) if rounds == 1 else starts
    kills: Kills = []
    for point in starts:
        kills += [(f"{point}@game/start", 1), (f"{point}@game/abort", 1)]
    for point in results:
        kills += [(f"{point}@result/win", 1), (f"{point}@undo", 1)]

    async def story(evening: Evening) -> None:
        listener = evening.listener
        await listener.linked()
        name, data = request_of(short())
        for number, _ in enumerate(starts):
            await evening.asked(name, data | {"game_id": f"broken-off-{number}"})
            await evening.asked("game/abort", {"reason": "begun by mistake"})
        await evening.asked(name, data)
        evening.table.begin()
        await evening.result_of(0)
        for _ in results:
            wrong = await evening.asked(*WRONG)
            undone = await evening.asked("undo", {"reason": "another seat"})
            (undo,) = undone["event_ids"]
            await listener.until(lambda seen, undo=undo: undo in seen.ids, 20)  # type: ignore[misc]
            (event,) = [e for e in listener.seen.events if e.id == undo]
            assert set(event.field("retracted_ids")) == set(wrong["event_ids"])
        await evening.types(0)
        for hand in (1, 2):
            await evening.result_of(hand)
            await evening.types(hand)
        await evening.ends()

    with mosquitto(tmp_path) as broker:
        evening = Evening(tmp_path, broker.port, kills)

        async def go() -> None:
            async with asyncio.timeout(120), running(evening.table), evening.listener.connected():
                await evening.daemon.during(story(evening))

        asyncio.run(go())
    evening.witness.saw()
    assert [death.point for death in evening.daemon.deaths] == [
        word.split("@")[0] for word, _ in kills
    ]
    store = Store(evening.journal)
    asked = store.db.execute("SELECT name, count(*) FROM requests GROUP BY name").fetchall()
    store.close()
    assert dict(asked) == {
        "game/start": len(starts) + 1, "game/abort": len(starts), "undo": len(results),
        "riichi": 1, "result/win": len(results) + 2, "result/draw": 1,
    }  # fmt: skip


def test_while_the_broker_is_out_of_reach(tmp_path: Path) -> None:
    """Nothing is heard while daemon after daemon dies; then everything, once and in order."""
    game = short()
    reference = Undisturbed(game, tmp_path)
    rng = random.Random("offline")
    points = ("received", "written", "synced", "effected")
    kills: Kills = [(point, rng.randrange(60, 100)) for point in points]
    (tmp_path / "record.jsonl").write_text(json.dumps(game) + "\n", encoding="utf-8")

    async def story(
        daemon: Living,
        listener: Listener,
        table: RunningTable,
        proxy: CuttingProxy,
        witness: Witness,
    ) -> None:
        await listener.linked()
        await listener.asked(*request_of(game))
        await listener.settled(witness.epoch)
        heard = listener.seen.last_seq
        proxy.refuse = True
        proxy.cut()
        table.begin()
        await table.played()
        assert daemon.left == 0
        assert listener.seen.last_seq == heard
        # The will waits five seconds, and the game may be over before.
        await listener.until(lambda seen: seen.retained["bridge/state"]["state"] == "offline", 30)
        proxy.refuse = False
        daemon.kill()  # the next one need not wait for its turn to try again
        await listener.until(lambda seen: seen.last_seq == len(reference.public), 30)
        await listener.settled(witness.epoch)

    async def go(port: int) -> None:
        proxy = await CuttingProxy.start(port)
        table = simulated(tmp_path, str(tmp_path / "record.jsonl"))
        listener = Listener(port)
        witness = Witness(tmp_path / "journal.db", listener, table.table, reference.tags)

        def on_death(death: Death) -> None:
            death.phase = witness.looks()

        daemon = Living(hall(tmp_path, proxy.port, table), kills, on_death=on_death)
        try:
            async with asyncio.timeout(90), running(table), listener.connected():
                await daemon.during(story(daemon, listener, table, proxy, witness))
        finally:
            await proxy.stop()
        witness.saw(reference)
        assert len(daemon.deaths) == len(kills) + 1

    with mosquitto(tmp_path) as broker:
        asyncio.run(go(broker.port))


def test_while_only_memory_holds_what_was_last(tmp_path: Path) -> None:
    """A file size limit stands for the full disk. What only memory held is lost, as docs/journal.md says, and
    nothing else: the result that was answered `accepted_not_durable` is typed in again, and the same
    sequence numbers come with another epoch."""

    lost_facts: list[int] = []

    def full(pid: int) -> None:
        wal = evening.journal.with_name("journal.db-wal").stat().st_size
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (wal, resource.RLIM_INFINITY))

    async def story(evening: Evening) -> None:
        listener = evening.listener
        await listener.linked()
        await evening.asked(*request_of(short()))
        evening.table.begin()
        await evening.result_of(0)
        await listener.settled(evening.witness.epoch)
        durable = listener.seen.last_seq
        assert evening.daemon.pid is not None
        full(evening.daemon.pid)
        name, data = RIGHT[0]
        transaction = str(uuid.uuid4())
        lost = await listener.request(name, data, transaction=transaction)
        assert lost.status == "accepted_not_durable"
        await listener.until(lambda seen: seen.last_seq > durable, 20)
        gone = [e for e in listener.seen.events if e.id in lost.data["event_ids"]]
        assert gone
        assert not any(event.durable for event in gone)
        again = await listener.request(name, data, transaction=transaction)
        assert again.status == "accepted_not_durable", "asked again, it is as little durable"
        board = evening.table.table.board
        evening.table.poke(lambda t: t.parts.press(Button.RIICHI, 0, Press.RELEASED))
        lost_facts.append(board.link.event_no)
        while len(board.link._device.events):  # noqa: ASYNC110 - a simulated board has no bell
            await asyncio.sleep(0.01)  # acknowledged all the same: the table plays on
        evening.looking = False  # the subscriber knows more than the disk: that is the promise here
        evening.daemon.kill()
        await listener.linked_again(epoch=2)
        state = listener.seen.retained["state"]
        assert state["last_seq"] == durable
        assert state["durable"]
        answer = await listener.asked(name, data, transaction=transaction)
        assert not set(answer.data["event_ids"]) & set(lost.data["event_ids"])
        evening.table.operator_done()
        for hand in (1, 2):
            await evening.result_of(hand)
            await evening.types(hand)
        await evening.ends()
        new = [e for e in listener.seen.events if e.id in answer.data["event_ids"]]
        assert [(e.seq, e.epoch) for e in new] == [(e.seq, 2) for e in gone]

    with mosquitto(tmp_path) as broker:
        evening = Evening(tmp_path, broker.port, [])

        async def go() -> None:
            async with asyncio.timeout(90), running(evening.table), evening.listener.connected():
                await evening.daemon.during(story(evening))

        asyncio.run(go())
    with open_reads(evening.journal) as reads:
        rows = reads.db.execute("SELECT event_no FROM facts WHERE boot_id IS NOT NULL ORDER BY pos")
        numbers = [row[0] for row in rows]
    last = evening.table.table.board.link.event_no
    assert numbers == [number for number in range(1, last + 1) if number not in lost_facts]
    assert len(evening.daemon.deaths) == 1
    assert "journal: memory" in evening.daemon.output
    assert check(evening.journal).findings == ()
