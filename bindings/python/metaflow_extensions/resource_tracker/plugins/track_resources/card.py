"""The card of a task: the report of the program. It is live while the step runs, and complete after its end.
If the task is killed, the card remains as it was last written.

On a local datastore the sampling program writes the card to its place, and this process does nothing for it.
On any other datastore the program writes a file, and a thread of the task stores the file when it has
changed."""

import json
import os
import stat
import threading
import time
import uuid
from types import SimpleNamespace

from resource_tracker._trust import check_folder, open_found

TYPE = "tracked_resources"
EVERY_S = 2
END_S = 60  # at most, for the program to see that its task has gone, and to write the page
NOTE = "card.json"


def card_of(kind, pathspec, attempt, folder):
    """The card of one attempt of a task.

    Args:
        kind: class of the storage of the task's artifacts
        pathspec: flow/run/step/task
        attempt: number of the attempt
        folder: for files of this module
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
    """Store the last pages of tasks that were killed. The sampling program writes them from the recordings in
    the folders of these tasks; this function waits for it, and stores the pages that the program cannot write
    to their place.

    Args:
        top: folder of the run, in which tasks create their folders and remove them at their end if they can

    Raises:
        Untrusted: another user may have written to it
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
    """Whether the page will be written again, or has not been written yet."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return b" data-live=" in file.read(200)
    except FileNotFoundError:
        return True


def _is_sampled(folder):
    """Whether a program of this user still records into a folder, or writes the page of this folder."""
    name = os.fsencode(folder)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if name in words and os.stat(f"/proc/{pid}").st_uid == os.geteuid():
                return True
        except OSError:  # it has ended
            continue
    return False


def _leave_note(folder, note):
    """Write a note for store_left(), which reads it if the task is killed."""
    with open(os.path.join(folder, NOTE), "w", encoding="utf-8") as file:
        json.dump(note, file)


class LocalCard:
    """A card in a folder to which the program can write."""

    def __init__(self, store, name, card_id, folder, backend):
        place = backend.full_uri(store._get_card_write_path())
        os.makedirs(place, exist_ok=True)
        self.path = store.get_card_location(place, TYPE, name, card_id=card_id)
        # Metaflow takes all files of the cards' own folder for cards.
        self.via = os.path.join(os.path.dirname(place), "." + name)
        self._folder = folder

    def begin(self):
        """Do nothing: the program writes the card itself."""
        _leave_note(self._folder, {"page": os.path.abspath(self.path)})

    def end(self):
        """Check the last page. The program has written it, if it could, before it reported that it stopped."""
        if _is_live(self.path):
            raise OSError("the last page could not be written: is the disk full?")

    def save(self, page):
        """Store a page that another function has made."""
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(page)


class RemoteCard:
    """A card in object storage. It is stored each time the program's file has changed."""

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
            except Exception:  # the next one may come through; the last one says what is wrong
                pass

    def store_file(self):
        """Store the program's file if it differs from the one that was stored last."""
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
        """Store the last page. The wait for a transfer in progress is bounded."""
        self._stop.set()
        self._thread.join(timeout=10)
        self.store_file()

    def save(self, page):
        self._store.save_card(self._name, TYPE, page, card_id=self._id, overwrite=True)
