"""@track_resources: what a step used, as an artifact, as a card that is live while the step runs, and
as metadata from which later runs learn.

Nothing here may fail or hold up a step: what goes wrong is a line in its log.
"""

import json
import time
import traceback

from metaflow.decorators import StepDecorator

# Imported here so that code packages hold it.
import resource_tracker  # noqa: F401

from . import history
from .card_writer import CardWriter

ARTIFACT = "resource_tracker_data"


class TrackResourcesDecorator(StepDecorator):
    """
    Track what the step uses: CPU, memory, GPUs, disk, network.

    Parameters
    ----------
    interval : float, default 1.0
        Seconds between samples.
    artifact_name : str, default "resource_tracker_data"
        Name of the artifact.
    create_card : bool, default True
        Whether the step gets a card.
    """

    name = "track_resources"
    defaults = {"interval": 1.0, "artifact_name": ARTIFACT, "create_card": True}

    _tracker = None
    _writer = None
    _error = None
    _started_s = 0.0

    # ---- hooks ----

    def step_init(self, flow, graph, step_name, decorators, environment, flow_datastore, logger):
        self.logger = logger
        _keep_out_of_merges(self.attributes["artifact_name"])

    def task_pre_step(self, step_name, task_datastore, metadata, run_id, task_id, flow, graph,
                      retry_count, max_user_code_retries, ubf_context, inputs):
        self._metadata = metadata
        self._place = (run_id, step_name, task_id)
        self._pathspec = "/".join(map(str, (flow.name, run_id, step_name, task_id)))
        self._attempt = retry_count
        try:
            self._begin(flow, task_datastore)
        except Exception as error:
            self._error = error
            self._warn("Failed to start resource tracker processes: %s: %s"
                       % (type(error).__name__, error))

    def task_post_step(self, step_name, flow, graph, retry_count, max_user_code_retries):
        self._finish(flow, failed=False)

    def task_exception(self, exception, step_name, flow, graph, retry_count,
                       max_user_code_retries):
        self._finish(flow, failed=True)

    def task_finished(self, step_name, flow, graph, is_task_ok, retry_count,
                      max_user_code_retries):
        if self._tracker is not None:
            self._tracker.cleanup()

    # ---- work ----

    def _warn(self, text):
        try:
            self.logger("*WARNING* [@resource_tracker] " + text, timestamp=False, bad=True)
        except Exception:
            print("*WARNING* [@resource_tracker] " + text)

    def _begin(self, flow, task_datastore):
        from resource_tracker import ResourceTracker

        self._started_s = time.monotonic()
        self._tracker = ResourceTracker(interval=float(self.attributes["interval"]),
                                        autostart=False, discover_cloud=False, schema="0.5",
                                        job=self._pathspec)
        self._tracker.start()
        self._writer = CardWriter(self._tracker, self._pathspec,
                                  task_datastore._storage_impl if self.attributes["create_card"]
                                  else None, self._attempt)
        self._writer.start()

    def _finish(self, flow, failed):
        artifact = self.attributes["artifact_name"]
        try:
            if self._tracker is None or self._error is not None:
                data = _error_of(self._error)
            else:
                data = self._collect(flow, failed)
        except Exception as error:
            self._warn("%s: %s" % (type(error).__name__, error))
            data = _error_of(error)
        try:
            setattr(flow, artifact, data)
        except Exception as error:
            self._warn("no artifact %s: %s" % (artifact, error))

    def _collect(self, flow, failed):
        self._tracker.stop(int(failed), "failed" if failed else "finished")
        self._writer.stop()
        stats = self._tracker.stats()
        totals = self._tracker.totals()
        historical = history.stats_of_earlier_runs(self._pathspec, self._warn)
        self._register(stats, totals, failed)
        self._writer.write(failed, historical)
        return {
            "step_failed": failed,
            "tracker": self._tracker.snapshot(),
            "historical_stats": historical,
            "totals": totals,
            "pathspec": self._pathspec,
        }

    def _register(self, stats, totals, failed):
        from metaflow.metadata_provider import MetaDatum

        value = json.dumps({
            "pathspec": self._pathspec, "failed": failed, "stats": stats,
            "totals": {key: figure["value"] for key, figure in totals.items()},
            "duration_s": round(time.monotonic() - self._started_s, 3)})
        self._metadata.register_metadata(*self._place, [
            MetaDatum(field=history.FIELD, value=value, type=history.FIELD,
                      tags=["attempt_id:%d" % self._attempt])])


def _keep_out_of_merges(artifact):
    """merge_artifacts() and joins leave it alone, as they do with Metaflow's own."""
    try:
        from metaflow.flowspec import INTERNAL_ARTIFACTS_SET

        INTERNAL_ARTIFACTS_SET.add(artifact)
    except ImportError:
        pass


def _error_of(error):
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__)) \
        if error is not None else ""
    return {"error": {"error_message": str(error), "error_type": type(error).__name__,
                      "traceback": trace}}
