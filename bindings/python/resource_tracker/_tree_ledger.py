"""What a process tree has used, summed up from readings of its live members.

A member shows its own CPU time and that of the children for which it has waited (0 if the system does not
report it). When a child is reaped, its time moves into the figure of its parent. What was already counted is
not counted again; what the child used after its last reading is counted then. Time that no parent received
stays counted as it was last read. The totals therefore never decrease and never exceed the true value.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Set


class Reading(NamedTuple):
    """One live member."""

    parent: int  # pid; 0 where the parent is not in the tree or has ended
    start: float  # tells two processes with one pid apart
    user_s: float
    system_s: float
    child_user_s: float = 0.0  # of reaped children, with theirs
    child_system_s: float = 0.0
    memory: Optional[int] = None  # bytes; None: cannot be read
    peak: Optional[int] = None  # largest memory of its life, bytes
    read: Optional[int] = None  # bytes from storage
    written: Optional[int] = None
    ended: bool = False  # a zombie: its parent has not waited for it yet


Times = List[float]
NEGLIGIBLE_S = 1e-6


def _own(reading: Reading) -> Times:
    return [reading.user_s, reading.system_s]


def _child(reading: Reading) -> Times:
    return [reading.child_user_s, reading.child_system_s]


class Ledger:
    """Totals since the members began. A live member that can no longer be read is passed with its last
    reading."""

    def __init__(self) -> None:
        self.members: Dict[int, Reading] = {}
        self.times: Times = [0.0, 0.0]  # user, system; s
        self.read: Optional[int] = None  # bytes; None while no member shows any
        self.written: Optional[int] = None
        self.vanished = 0  # members that ended and whose time no parent received in full
        self._forgiven: Set[int] = set()
        self._owed: Dict[int, Times] = {}  # counted, and still to reach this parent's child figure

    def update(self, now: Dict[int, Reading]) -> None:
        """Count what the members used since the last update."""
        last = self.members
        same = {pid for pid, reading in now.items()
                if pid in last and last[pid].start == reading.start}
        self._forgiven = set()
        fresh = self._settle_ended([pid for pid in last if pid not in same], same)
        for pid, reading in now.items():
            before = last[pid] if pid in same else None
            for i in (0, 1):
                if before is None:
                    self.times[i] += _own(reading)[i] + _child(reading)[i]
                else:
                    self.times[i] += max(0.0, _own(reading)[i] - _own(before)[i])
                    self.times[i] += self._received(pid, i, _child(reading)[i] - _child(before)[i],
                                                    fresh)
            self.read = _add(self.read, before and before.read, reading.read)
            self.written = _add(self.written, before and before.written, reading.written)
        self.vanished += len(self._forgiven)
        self._owed = {pid: owed for pid, owed in fresh.items() if any(owed)}
        self.members = dict(now)

    def _settle_ended(self, ended: List[int], same: Set[int]) -> Dict[int, Times]:
        """What ended members have counted, by the nearest live ancestor that may receive it."""
        fresh: Dict[int, Times] = {}
        for pid in ended:
            heir = self.members[pid].parent
            seen = {pid}
            while heir and heir not in same and heir in self.members and heir not in seen:
                seen.add(heir)
                heir = self.members[heir].parent
            if heir not in same:
                self.vanished += 1
                continue
            owed = fresh.setdefault(heir, [0.0, 0.0])
            for i in (0, 1):
                # With what this member itself had still to receive: that reaches the heir as well.
                owed[i] += (_own(self.members[pid])[i] + _child(self.members[pid])[i]
                            + self._owed.get(pid, (0.0, 0.0))[i])
        return fresh

    def _received(self, pid: int, i: int, rise: float, fresh: Dict[int, Times]) -> float:
        """The part of a rise of a child figure that was not counted yet. A debt that did not arrive in this
        update is carried to the next one, because a parent may be read before its children. After that it is
        dropped."""
        old, new = self._owed.get(pid, [0.0, 0.0])[i], fresh.get(pid, [0.0, 0.0])[i]
        rise = max(0.0, rise)
        if old > rise + NEGLIGIBLE_S:
            self._forgiven.add(pid)
        if pid in fresh:
            fresh[pid][i] = min(new, max(0.0, old + new - rise))
        return max(0.0, rise - old - new)


def _add(total: Optional[int], before: Optional[int], now: Optional[int]) -> Optional[int]:
    return total if now is None else (total or 0) + max(0, now - (before or 0))
