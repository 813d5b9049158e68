"""The card, written by the task itself: live while the step runs, and there as it was last when the
task is killed. No process is started and no network is asked for it."""

import threading
import time
import uuid
from types import SimpleNamespace

TYPE = "tracked_resources"
FIRST_S, MOST_OFTEN_S = 1.0, 2.0
COST_FACTOR = 200  # at most 1/200 of a core for refreshing


class CardWriter:
    """Writes the card of one attempt of a task.

    Args:
        tracker: whose samples it shows
        pathspec: flow/run/step/task
        storage: of the task's artifacts; None: there is no card
        attempt: number of the attempt
    """

    def __init__(self, tracker, pathspec, storage, attempt):
        self._tracker = tracker
        self._attempt = attempt
        self._pathspec = pathspec
        self._end = threading.Event()
        self._thread = None
        self._uuid = uuid.uuid5(uuid.NAMESPACE_URL, "%s/%s" % (pathspec, attempt)).hex
        self._store = _card_store(storage, pathspec) if storage is not None else None

    def start(self):
        """Begin to refresh the card, and find out where the machine is, beside the step."""
        self._thread = threading.Thread(target=self._run, name="resource-tracker-card",
                                        daemon=True)
        self._thread.start()

    def stop(self):
        """End refreshing; what is still being asked for is not waited for."""
        self._end.set()
        if self._thread is not None:
            self._thread.join(timeout=2)

    def _run(self):
        wait_s = FIRST_S
        while not self._end.wait(wait_s):
            start = time.thread_time()
            try:
                self._discover()
                if not self._end.is_set():
                    self.write(False, [])
            except Exception:  # a card is not worth a line every two seconds
                pass
            wait_s = max(MOST_OFTEN_S, (time.thread_time() - start) * COST_FACTOR)

    def _discover(self):
        if self._tracker._cloud_info is None:
            from resource_tracker.cloud_info import get_cloud_info

            self._tracker._cloud_info = get_cloud_info()

    def write(self, failed, historical):
        """Write the card as of now."""
        if self._store is None or not self._tracker.n_samples:
            return
        import metaflow

        html = self._tracker.report(integration="Metaflow", historical_stats=historical,
                                    status_failed=failed,
                                    integration_version=getattr(metaflow, "__version__", ""))
        self._store.save_card(self._uuid, TYPE, str(html),
                              card_id="resource_tracker_" + self._pathspec.split("/")[2],
                              overwrite=True)


def _card_store(storage, pathspec):
    from metaflow.plugins.cards.card_datastore import CardDatastore

    kind = type(storage)
    root = CardDatastore.get_storage_root(kind.TYPE)
    return CardDatastore(
        SimpleNamespace(_storage_impl=kind(root), flow_name=pathspec.split("/")[0]),
        pathspec=pathspec)
