"""The card of a task. It is the report that the sampling program writes: updated while the step runs, and
complete after its end. If the task is killed, the last page remains.

In a local datastore the sampling program writes the card to its final place. For any other datastore the program
writes a local file, and a thread of the task stores the file whenever it has changed.
"""

import json
import os
import stat
import threading
import time
import uuid
from types import SimpleNamespace

from resource_tracker._trust import check_folder, open_found, open_output

TYPE = "tracked_resources"
EVERY_S = 2  # seconds between two pages of a running step
END_S = 60  # longest wait until the program has seen the end of its task and has written the last page
NOTE = "card.json"


def card_of(kind, pathspec, attempt, folder):
    """The card of one attempt of a task.

    Args:
        kind: class of the storage of the task's artifacts
        pathspec: flow/run/step/task
        attempt: number of the attempt
        folder: folder for the files of the tracker
    """
    from metaflow.plugins.cards.card_datastore import CardDatastore
    from metaflow.plugins.datastores.local_storage import LocalStorage

    backend = kind(CardDatastore.get_storage_root(kind.TYPE))
    store = CardDatastore(
        SimpleNamespace(_storage_impl=backend, flow_name=pathspec.split("/")[0]),
        pathspec=pathspec)
    place = (store, uuid.uuid5(uuid.NAMESPACE_URL, "%s/%s" % (pathspec, attempt)).hex,
             "resource_tracker_" + pathspec.split("/")[2])
    if isinstance(backend, LocalStorage):
        return LocalCard(*place, folder, backend)
    return RemoteCard(*place, folder, {"kind": kind.TYPE, "pathspec": pathspec, "attempt": attempt})


def store_left(top):
    """Complete the cards of tasks that were killed: wait until the sampling program has written their last pages,
    and store the pages that belong to a datastore that is not local.

    Args:
        top: folder of the run. Each task has a folder in it, and removes it at its end unless it is killed

    Raises:
        Untrusted: another user may have written to the folder
    """
    from metaflow.plugins import DATASTORES

    check_folder(top)
    kinds = {kind.TYPE: kind for kind in DATASTORES}
    end = time.monotonic() + END_S
    for entry in os.scandir(top):
        try:
            with open(open_found(os.path.join(entry.path, NOTE)), encoding="utf-8") as file:
                note = json.load(file)
            page = note["page"]
            while _is_live(page) and _is_sampled(entry.path) and time.monotonic() < end:
                time.sleep(0.05)
            if "kind" in note:
                card_of(kinds[note["kind"]], note["pathspec"], note["attempt"],
                        entry.path).store_file()
        except (OSError, ValueError, KeyError):
            continue


def _is_live(path):
    """Whether the page is not the last one: it has the mark of a live page, or the file does not exist yet."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return b" data-live=" in file.read(200)
    except FileNotFoundError:
        return True


def _is_sampled(folder):
    """Whether a process of this user has the folder in its arguments: it still records, or writes the page."""
    name = os.fsencode(folder)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if name in words and os.stat(f"/proc/{pid}").st_uid == os.geteuid():
                return True
        except OSError:  # the process has ended
            continue
    return False


def _leave_note(folder, note):
    """Write the file that store_left() reads if the task is killed."""
    with open(os.path.join(folder, NOTE), "w", encoding="utf-8") as file:
        json.dump(note, file)


class LocalCard:
    """A card in a local datastore, to which the sampling program writes it."""

    def __init__(self, store, name, card_id, folder, backend):
        place = backend.full_uri(store._get_card_write_path())
        os.makedirs(place, exist_ok=True)
        self.path = store.get_card_location(place, TYPE, name, card_id=card_id)
        # The temporary file is one folder up, because Metaflow treats every file of the folder of cards as a card.
        self.via = os.path.join(os.path.dirname(place), "." + name)
        self._folder = folder

    def begin(self):
        """Start of the step. The sampling program writes the card."""
        _leave_note(self._folder, {"page": os.path.abspath(self.path)})

    def end(self):
        """End of the step. The sampling program writes the last page before it reports that it has stopped.

        Raises:
            OSError: the last page was not written
        """
        if _is_live(self.path):
            raise OSError("the last page could not be written: is the disk full?")

    def save(self, page):
        """Store a page that this process has made."""
        with open_output(self.path, "w", encoding="utf-8") as file:
            file.write(page)


class RemoteCard:
    """A card in any other datastore, such as S3. A thread stores the program's file whenever it has changed."""

    def __init__(self, store, name, card_id, folder, note):
        self._store, self._name, self._id = store, name, card_id
        self.path = os.path.join(folder, "card.html")
        self.via = self.path + ".part"
        self._folder, self._note = folder, {**note, "page": self.path}
        self._stored = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="resource-tracker-card", daemon=True)

    def begin(self):
        _leave_note(self._folder, self._note)
        self._thread.start()

    def _run(self):
        while not self._stop.wait(EVERY_S / 2):
            try:
                self.store_file()
            except Exception:  # try again with the next page; end() reports an error of the last page
                pass

    def store_file(self):
        """Store the program's file if it has changed since it was stored last.

        Raises:
            OSError: it cannot be read, or it is not a file that this user has written
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        with open(descriptor, encoding="utf-8") as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid():
                raise OSError(self.path + " is not a file that the program has written")
            if self._stored == (state.st_ino, state.st_mtime_ns):
                return
            self.save(file.read())
        self._stored = (state.st_ino, state.st_mtime_ns)

    def end(self):
        """Store the last page. Waits at most 10 s for a page that the thread is storing."""
        self._stop.set()
        self._thread.join(timeout=10)
        self.store_file()

    def save(self, page):
        self._store.save_card(self._name, TYPE, page, card_id=self._id, overwrite=True)
