"""The journal's promises, on the plain store: once, in order, without gaps."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from tablectl.journal import (
    ActionChange,
    EventEntry,
    FactEntry,
    JournalLockedError,
    JournalUnusableError,
    NewAction,
    RequestEntry,
    StoredEvent,
    StoredFact,
    Transaction,
    TransactionRejectedError,
    canonical,
)
from tablectl.journal.store import Store
from tablectl.journal.writes import FEED_STRIDE, REQUESTS_KEPT
from tests.daemon.journal_kit import FEEDS, change, event, fact

HOLDER = """
import sys
from pathlib import Path
from tablectl.journal.store import Store
store = Store(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(tmp_path / "journal.db")
    yield opened
    opened.close()


def test_each_feed_counts_its_own_events_without_gaps(store: Store) -> None:
    for number in range(1, 200):
        store.commit(change(number))
    for feed in FEEDS:
        seqs = [e.seqs[feed] for e in store.reads.events_after("t1", feed, 0, 10_000)]
        assert seqs == list(range(1, store.last_seq("t1", feed) + 1))
    assert store.last_seq("t1", "public") == 398
    assert store.last_seq("t1", "referee") < 398


def test_events_after_starts_anywhere_and_respects_its_limit(store: Store) -> None:
    for number in range(1, 3 * FEED_STRIDE):
        store.commit(change(number, events=1))
        store.commit(change(number, table="t2", events=1))
    last = store.last_seq("t1", "seat0")
    for seq in (0, 1, FEED_STRIDE - 1, FEED_STRIDE, FEED_STRIDE + 1, last - 1):
        found = store.reads.events_after("t1", "seat0", seq, 3)
        assert [e.seqs["seat0"] for e in found] == list(range(seq + 1, min(seq + 3, last) + 1))
        assert all(e.table_id == "t1" for e in found)
    assert store.reads.events_after("t1", "seat0", last) == ()
    assert store.reads.events_after("t1", "nobody", 0) == ()


def test_a_device_fact_is_written_once_and_answered_as_before(store: Store) -> None:
    first = store.commit(change(1, actions=(NewAction("LIFT"),)))
    again = store.commit(change(1))
    assert again.duplicate
    assert not again.conflict
    assert again.events == first.events
    assert again.actions == first.actions
    assert len(store.reads.entries_after("t1", 0)) == 3
    assert store.last_seq("t1", "public") == 2


def test_the_same_number_after_another_boot_is_another_fact(store: Store) -> None:
    store.commit(Transaction("t1", 0, 0, entries=(fact(1, boot=7),)))
    assert not store.commit(Transaction("t1", 0, 0, entries=(fact(1, boot=8),))).duplicate
    assert not store.commit(Transaction("t2", 0, 0, entries=(fact(1, boot=7),))).duplicate


def test_a_known_number_with_other_content_is_a_conflict(store: Store) -> None:
    store.commit(Transaction("t1", 0, 0, entries=(fact(1),)))
    other = FactEntry("LidEvent", "{}", 7, 1, 10)
    result = store.commit(Transaction("t1", 0, 0, entries=(other,)))
    assert result.duplicate
    assert result.conflict


def test_facts_without_numbers_may_repeat(store: Store) -> None:
    timer = FactEntry("timer", '{"name":"settle"}')
    for _ in range(3):
        assert not store.commit(Transaction("t1", 0, 0, entries=(timer,))).duplicate
    assert len(store.reads.entries_after("t1", 0)) == 3


def test_a_repeated_request_gets_its_first_answer(store: Store) -> None:
    def ask(answer: str) -> Transaction:
        return Transaction(
            "t1",
            0,
            0,
            entries=(event("e-" + answer),),
            request=RequestEntry("tx-1", "result/win", "mqtt:a", "{}", answer),
        )

    first = store.commit(ask('"first"'))
    again = store.commit(ask('"second"'))
    assert again.duplicate
    assert again.answer == first.answer == '"first"'
    assert [e.event_id for e in again.events] == ['e-"first"']


def test_answers_are_remembered_for_long_but_not_for_ever(store: Store) -> None:
    def ask(number: int) -> Transaction:
        return Transaction("t1", 0, 0, request=RequestEntry(f"tx-{number}", "n", "s", "{}", "{}"))

    total = REQUESTS_KEPT + 600
    for start in range(0, total, 200):
        store.commit_many([ask(n) for n in range(start, min(start + 200, total))])
    held = store.db.execute("SELECT count(*) FROM main.requests").fetchone()[0]
    assert REQUESTS_KEPT <= held <= REQUESTS_KEPT + 128
    assert store.reads.request_answer("t1", f"tx-{total - REQUESTS_KEPT}") is not None
    assert store.reads.request_answer("t1", "tx-0") is None


def test_the_tail_keeps_the_order_in_which_things_happened(store: Store) -> None:
    store.commit(change(1))
    store.commit(Transaction("t1", 0, 0, entries=(event("start"),), snapshot='{"hand":1}'))
    store.commit(change(2, table="t2"))
    store.commit(change(2))
    mixed = (FactEntry("timer", "1"), event("a"), FactEntry("timer", "2"), event("b"), event("c"))
    store.commit(Transaction("t1", 0, 0, entries=mixed))
    tail = store.reads.tail_since_snapshot("t1")
    assert tail.snapshot is not None
    assert tail.snapshot.data == {"hand": 1}
    shape = [e.body if isinstance(e, StoredFact) else e.event_id for e in tail.entries]
    assert shape == ['{"n":2}', "t1-2-0", "t1-2-1", "1", "a", "2", "b", "c"]
    positions = [e.pos for e in tail.entries]
    assert positions == sorted(positions)


def test_without_a_snapshot_the_tail_is_everything(store: Store) -> None:
    assert store.reads.tail_since_snapshot("t1").entries == ()
    store.commit(change(1))
    tail = store.reads.tail_since_snapshot("t1")
    assert tail.snapshot is None
    assert len(tail.entries) == 3


def test_only_the_latest_snapshots_are_kept(store: Store) -> None:
    for number in range(5):
        store.commit(Transaction("t1", 0, 0, snapshot=str(number)))
    assert store.db.execute("SELECT count(*) FROM main.snapshots").fetchone()[0] == 2
    snapshot = store.reads.snapshot("t1")
    assert snapshot is not None
    assert snapshot.body == "4"


def test_a_game_is_found_whole_between_the_rows_of_others(store: Store) -> None:
    for number in range(1, 40):
        store.commit(change(number, game=f"g{number // 10}"))
        store.commit(change(number, table="t2", game="g1"))
    events = store.reads.events_of_game("t1", "g1")
    assert [e.event_id for e in events] == [f"t1-{n}-{k}" for n in range(10, 20) for k in (0, 1)]
    assert store.reads.events_of_game("t1", "nothing") == ()
    assert [line.game_id for line in store.reads.games("t1")] == ["g0", "g1", "g2", "g3"]


def test_cmd_ids_are_never_reused_not_even_after_reopening(tmp_path: Path) -> None:
    seen: list[int] = []
    for opening in range(3):
        store = Store(tmp_path / "journal.db")
        for number in range(3):
            boot = 10 + opening
            result = store.commit(
                Transaction("t1", 0, 0, entries=(fact(number, boot),), actions=(NewAction("LIFT"),))
            )
            seen += [action.cmd_id for action in result.actions]
        store.close()
    assert seen == list(range(seen[0], seen[0] + 9))
    assert 1 <= seen[0] <= 0x4000_0000


def test_a_new_stream_starts_its_cmd_ids_elsewhere(tmp_path: Path) -> None:
    """A board remembers its last ids: a journal that was lost must not offer them again."""
    starts = set()
    for number in range(4):
        store = Store(tmp_path / f"{number}.db")
        starts.add(store.writes.first_cmd_id)
        store.close()
    assert len(starts) == 4


def test_an_action_lives_once(store: Store) -> None:
    (action,) = store.commit(
        Transaction("t1", 0, 0, actions=(NewAction("LIFT", '{"a":1}'),))
    ).actions
    assert action.state == "pending"
    assert store.reads.pending_actions("t1") == (action,)

    def step(state: str, result: str | None = None) -> None:
        move = ActionChange(action.cmd_id, state, result)  # type: ignore[arg-type]
        store.commit(Transaction("t1", 0, 0, action_changes=(move,)))

    step("sent")
    assert [a.state for a in store.reads.pending_actions("t1")] == ["sent"]
    step("done", '{"result":0}')
    step("unknown")
    assert store.reads.pending_actions("t1") == ()
    settled = store.reads.action("t1", action.cmd_id)
    assert settled is not None
    assert (settled.state, settled.result) == ("done", '{"result":0}')


def test_one_bad_transaction_does_not_touch_its_neighbours(store: Store) -> None:
    bad: list[Transaction] = [
        Transaction("t1", 0, 0, action_changes=(ActionChange(99, "done"),)),
        Transaction("t1", 0, 0, entries=(fact(1), fact(2))),
        Transaction("t1", 0, 0, entries=(FactEntry("x", "{}", 1, None),)),
        Transaction("t1", 0, 0, entries=(EventEntry("e", "x", {"no": "text"}, ("public",)),)),  # type: ignore[arg-type]
        Transaction("t1", 0, 0, entries=(event("twice", ("public", "public")),)),
        Transaction("t1", 1 << 70, 0, entries=(event("late"),)),
    ]
    good = [change(number, table="t2") for number in range(1, 4)]
    outcomes = store.commit_many([good[0], bad[0], bad[1], good[1], *bad[2:], good[2]])
    rejected = [isinstance(outcome, TransactionRejectedError) for outcome in outcomes]
    assert rejected == [False, True, True, False, True, True, True, True, False]
    assert store.last_seq("t1", "public") == 0
    assert store.last_seq("t2", "public") == 6
    assert store.reads.entries_after("t1", 0) == ()
    with pytest.raises(TransactionRejectedError) as caught:
        store.commit(bad[0])
    assert caught.value.code == "transaction_rejected"
    assert caught.value.table_id == "t1"


def test_epoch_counts_openings_and_stream_stays(tmp_path: Path) -> None:
    seen = []
    for _ in range(3):
        store = Store(tmp_path / "journal.db")
        seen.append((store.epoch, store.stream))
        store.close()
    assert [epoch for epoch, _ in seen] == [1, 2, 3]
    assert len({stream for _, stream in seen}) == 1


def test_all_figures_survive_reopening(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    store = Store(path)
    for number in range(1, 30):
        store.commit(change(number))
    store.mark_published("t1", "public", 17)
    store.mark_published("t1", "public", 5)
    before = (store.reads.entries_after("t1", 0), store.last_seq("t1", "seat2"))
    store.close()
    store = Store(path)
    assert (store.reads.entries_after("t1", 0), store.last_seq("t1", "seat2")) == before
    assert store.cursors == {("t1", "public"): 17}
    result = store.commit(change(30))
    assert isinstance(result.events[0], StoredEvent)
    assert result.events[0].seqs["public"] == before[0][-1].seqs["public"] + 1  # type: ignore[union-attr]
    store.close()


def test_memory_only_needs_no_file() -> None:
    store = Store(None, new_id=lambda: "stream-1")
    assert store.stream == "stream-1"
    assert store.commit(change(1)).durable
    store.close()


def test_canonical_json_is_sorted_compact_and_without_floats() -> None:
    assert canonical({"b": [1, None, True], "a": "東"}) == '{"a":"東","b":[1,null,true]}'
    for bad in (1.0, [0.5], {"a": float("nan")}):
        with pytest.raises(ValueError, match="integers only"):
            canonical(bad)


def test_a_second_opener_is_told_who_holds_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HOLDER,
            str(path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"open\n"
    with pytest.raises(JournalLockedError) as caught:
        Store(path)
    assert caught.value.pid == holder.pid
    assert str(holder.pid) in str(caught.value)
    assert caught.value.code == "journal_locked"
    holder.kill()
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    Store(path).close()


def test_the_lock_goes_with_the_store_and_no_descriptor_stays(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Store(path).close()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        store = Store(path)
        with pytest.raises(JournalLockedError):
            Store(path)
        store.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_missing_folder_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(JournalUnusableError, match="mkdir -p") as caught:
        Store(tmp_path / "no" / "journal.db")
    assert caught.value.code == "journal_unusable"


def test_positions_are_never_shared(store: Store) -> None:
    mixed = [
        change(1),
        Transaction("t1", 0, 0, request=RequestEntry("a", "n", "s", "{}", "{}")),
        Transaction("t1", 0, 0, entries=(event("x"),), snapshot="{}"),
        Transaction("t2", 0, 0, actions=(NewAction("LIFT"),)),
        change(2, table="t2"),
    ]
    store.commit_many(mixed)
    rows = list(
        itertools.chain.from_iterable(
            store.db.execute(f"SELECT {column} FROM main.{name}").fetchall()
            for name, column in (
                ("facts", "pos"),
                ("events", "pos"),
                ("snapshots", "pos"),
                ("requests", "tx"),
                ("actions", "tx"),
            )
        )
    )
    assert len({row[0] for row in rows}) == len(rows)
