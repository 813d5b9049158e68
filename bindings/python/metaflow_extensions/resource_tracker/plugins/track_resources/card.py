"""The card of a task: the report of the program, live while the step runs, complete after its end, and
there as it was last when the task is killed.

On a local datastore the sampling program writes it straight to its place: this process does nothing
for it. On any other one the program writes a file, and a thread of the task stores what has changed."""

import os
import threading
import uuid
from types import SimpleNamespace

TYPE = "tracked_resources"
EVERY_S = 2


def card_of(storage, pathspec, attempt, folder):
    """The card of one attempt of a task.

    Args:
        storage: of the task's artifacts
        pathspec: flow/run/step/task
        attempt: number of the attempt
        folder: for files of ours
    """
    from metaflow.plugins.cards.card_datastore import CardDatastore
    from metaflow.plugins.datastores.local_storage import LocalStorage

    kind = type(storage)
    backend = kind(CardDatastore.get_storage_root(kind.TYPE))
    store = CardDatastore(
        SimpleNamespace(_storage_impl=backend, flow_name=pathspec.split("/")[0]),
        pathspec=pathspec)
    place = (store, uuid.uuid5(uuid.NAMESPACE_URL, "%s/%s" % (pathspec, attempt)).hex,
             "resource_tracker_" + pathspec.split("/")[2])
    if isinstance(backend, LocalStorage):
        return LocalCard(*place, backend)
    return RemoteCard(*place, folder)


class LocalCard:
    """In a folder that the program can write to."""

    def __init__(self, store, name, card_id, backend):
        folder = backend.full_uri(store._get_card_write_path())
        os.makedirs(folder, exist_ok=True)
        self.path = store.get_card_location(folder, TYPE, name, card_id=card_id)
        # Whatever lies in the cards' own folder is taken for a card.
        self.via = os.path.join(os.path.dirname(folder), "." + name)

    def begin(self):
        """The program writes by itself."""

    def end(self):
        """It has written the last one before it said that it has stopped, if it could."""
        with open(self.path, "rb") as file:
            if b" data-live=" in file.read(200):
                raise OSError("the last page could not be written: is there room?")

    def save(self, page):
        """Take a page that somebody else has made."""
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(page)


class RemoteCard:
    """In object storage: stored as often as the program's file has changed."""

    def __init__(self, store, name, card_id, folder):
        self._store, self._name, self._id = store, name, card_id
        self.path = os.path.join(folder, "card.html")
        self.via = self.path + ".part"
        self._stored = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="resource-tracker-card", daemon=True)

    def begin(self):
        self._thread.start()

    def _run(self):
        while not self._stop.wait(EVERY_S / 2):
            try:
                self._store_file()
            except Exception:  # the next one may come through; the last one says what is wrong
                pass

    def _store_file(self):
        try:
            state = os.stat(self.path)
        except FileNotFoundError:
            return
        if self._stored == (state.st_ino, state.st_mtime_ns):
            return
        with open(self.path, encoding="utf-8") as file:
            self.save(file.read())
        self._stored = (state.st_ino, state.st_mtime_ns)

    def end(self):
        """Store the last page. What is on its way is not waited for for ever."""
        self._stop.set()
        self._thread.join(timeout=10)
        self._store_file()

    def save(self, page):
        self._store.save_card(self._name, TYPE, page, card_id=self._id, overwrite=True)
