"""@track_resources: tracks a step. The result is an artifact, a card that is updated while the step runs, and
metadata that later runs read.

Errors of this module do not fail a step. They are printed in the log of the step.
"""

import json
import os
import time

from metaflow.decorators import StepDecorator

# Imported at the top so that Metaflow puts it into code packages.
import resource_tracker
from resource_tracker.helpers import exit_code_of

from . import history

try:
    from resource_tracker import _core  # noqa: F401
except ImportError:  # not built for this machine: the package uses plain Python
    pass
# Metaflow copies the first folder of the package, which includes the machine code for all machines. It would copy
# the contents of further folders of __path__ to the top level, where they are not found.
del resource_tracker.__path__[1:]

ARTIFACT = "resource_tracker_data"

#: Environment variable of tasks: the folder of the run on this machine.
FOLDER = "RESOURCE_TRACKER_RUN_FOLDER"
_run_folder = None


class TrackResourcesDecorator(StepDecorator):
    """
    Track the CPU, memory, GPU, disk and network use of a step.

    Parameters
    ----------
    interval : float, default 1.0
        Seconds between samples.
    artifact_name : str, default "resource_tracker_data"
        Name of the artifact.
    create_card : bool, default True
        Whether the step gets a card.
    lines : bool, default False
        Sample which source lines use CPU time and memory, and show them on the card. If False,
        TRACKER_LINES decides.
    on_alert : callable, optional
        Function that is called in the task with a dict when an alert fires or is resolved. See
        ResourceTracker.
    """

    name = "track_resources"
    defaults = {"interval": 1.0, "artifact_name": ARTIFACT, "create_card": True,
                "lines": False, "on_alert": None}

    _tracker = None
    _card = None
    _folder = None
    _error = None
    _earlier = None

    # ---- hooks in the process that starts the tasks ----

    def runtime_init(self, flow, graph, package, run_id):
        global _run_folder
        _run_folder = _run_folder or _new_folder()

    def runtime_step_cli(self, cli_args, retry_count, max_user_code_retries, ubf_context):
        if _run_folder:
            cli_args.env[FOLDER] = _run_folder

    def runtime_finished(self, exception):
        """Complete the cards of killed tasks, whose folders remain in the folder of the run, and remove that folder."""
        global _run_folder
        top, _run_folder = _run_folder, None
        if not top:
            return
        try:
            from .card import store_left

            store_left(top)
        except Exception as error:
            self._warn("the card of a killed step could not be updated: %s: %s"
                       % (type(error).__name__, error))
        _remove(top)

    # ---- hooks in the task ----

    def step_init(self, flow, graph, step_name, decorators, environment, flow_datastore, logger):
        self.logger = logger
        self._decorators = decorators
        _pass_schema_on(decorators)
        _keep_out_of_merges(self.attributes["artifact_name"])

    def task_pre_step(self, step_name, task_datastore, metadata, run_id, task_id, flow, graph,
                      retry_count, max_user_code_retries, ubf_context, inputs):
        self._metadata = metadata
        self._place = (run_id, step_name, task_id)
        self._pathspec = "/".join(map(str, (flow.name, run_id, step_name, task_id)))
        self._attempt = retry_count
        try:
            self._begin(task_datastore)
        except Exception as error:
            self._error = error
            self._warn("Failed to start resource tracker processes: %s: %s"
                       % (type(error).__name__, error))

    def task_decorate(self, step_func, flow, graph, retry_count, max_user_code_retries, ubf_context):
        """Wrap the step function to handle sys.exit() and Ctrl-C. Metaflow's hooks cover only a normal return and
        subclasses of Exception."""
        def tracked(*args, **kwargs):
            try:
                return step_func(*args, **kwargs)
            except Exception:
                raise
            except SystemExit as error:
                self._finish(flow, exit_code_of(error))
                raise
            except BaseException:  # Metaflow ends the task with exit code 1
                self._finish(flow, 1)
                raise

        return tracked

    def task_post_step(self, step_name, flow, graph, retry_count, max_user_code_retries):
        self._finish(flow, 0)

    def task_exception(self, exception, step_name, flow, graph, retry_count,
                       max_user_code_retries):
        self._finish(flow, 1)

    def task_finished(self, step_name, flow, graph, is_task_ok, retry_count,
                      max_user_code_retries):
        if self._tracker is not None:
            self._tracker.cleanup()
        if self._folder:
            _remove(self._folder)

    # ---- work ----

    def _warn(self, text):
        from resource_tracker._log import clean

        text = clean(text)
        try:
            self.logger("*WARNING* [@resource_tracker] " + text, timestamp=False, bad=True)
        except Exception:
            print("*WARNING* [@resource_tracker] " + text)

    def _begin(self, task_datastore):
        from resource_tracker import ResourceTracker

        # Read the history before the first sample, so that it does not count as use of the step.
        tracker = ResourceTracker(interval=float(self.attributes["interval"]), autostart=False,
                                  job=self._pathspec, on_alert=self.attributes["on_alert"])
        self._earlier = history.earlier_of(self._pathspec, self._warn)
        self._folder = _new_folder()
        tracker._more = {"more": self._options(task_datastore)}
        tracker._requested_cpus = requested_figures(self._decorators).get("cpu")
        if self._folder:
            tracker._more["dir"] = self._folder
        tracker.start()
        self._tracker = tracker
        if self._card:
            self._card.begin()

    def _options(self, task_datastore):
        """Further options of the sampling program: orchestrator, lines, request, and the card."""
        options = ["--orchestrator=metaflow"]
        if self.attributes["lines"]:
            options.append("--lines=auto")
        request = requested(self._decorators)
        if request:
            options.append("--request=" + request)
        if not self.attributes["create_card"] or not self._folder:
            return list(map(os.fsencode, options))
        try:
            from .card import EVERY_S, card_of

            self._card = card_of(type(task_datastore._storage_impl), self._pathspec, self._attempt,
                                 self._folder)
            earlier = os.path.join(self._folder, "earlier.json")
            with open(earlier, "w", encoding="ascii") as file:
                file.write(history.for_program(self._earlier or []))
            options += ["--report=" + self._card.path, "--report-via=" + self._card.via,
                        "--report-earlier=" + earlier, "--report-every=%ds" % EVERY_S]
        except Exception as error:
            self._warn("no card: %s: %s" % (type(error).__name__, error))
        return list(map(os.fsencode, options))

    def _finish(self, flow, code):
        """Stop the tracker with the exit code of the step, and store the result as an artifact."""
        artifact = self.attributes["artifact_name"]
        try:
            if self._tracker is None or self._error is not None:
                data = _error_of(self._error)
            else:
                data = self._collect(code)
        except Exception as error:
            self._warn("%s: %s" % (type(error).__name__, error))
            data = _error_of(error)
        try:
            setattr(flow, artifact, data)
        except Exception as error:
            self._warn("no artifact %s: %s" % (artifact, error))

    def _collect(self, code):
        from resource_tracker._figures import statistics_in

        tracker = self._tracker
        failed = code != 0
        tracker.stop(code, "failed" if failed else "finished")
        earlier = [statistics_in(tracker.schema, run["stats"]) for run in self._earlier or []]
        self._store_card(failed, earlier)
        _describe_place(tracker)
        # The metadata for later runs is always in schema 0.5, independent of the schema of the artifact.
        stats = statistics_in("0.5", tracker.stats())
        totals = tracker.totals()
        _raise_peak(stats, totals)
        self._register(stats, totals, failed)
        # Plain values can be unpickled without this package.
        return json.loads(json.dumps({
            "step_failed": failed,
            "tracker": tracker.snapshot(),
            "historical_stats": earlier,
            "totals": totals,
            "pathspec": self._pathspec,
            "schema": tracker.schema,
        }))

    def _store_card(self, failed, earlier):
        if not self._card:
            return
        try:
            if not os.path.exists(self._card.path):  # a thread took the samples, so no program wrote the card
                self._card.save(str(self._tracker.report(
                    integration="Metaflow", historical_stats=earlier, status_failed=failed)))
            else:
                self._card.end()
        except Exception as error:
            self._warn("no card: %s: %s" % (type(error).__name__, error))

    def _request(self):
        """The request for the next run that the card recommends; None without a recommendation."""
        from resource_tracker import _advice

        answer = _advice.ask(self._tracker, history.for_program(self._earlier or []),
                             no_servers=True)
        return _advice.request_of(answer) if answer else None

    def _register(self, stats, totals, failed):
        from metaflow.metadata_provider import MetaDatum

        tracker = self._tracker
        value = {
            "pathspec": self._pathspec, "failed": failed, "stats": stats,
            "totals": {key: figure["value"] for key, figure in totals.items()},
            "start_s": round(tracker.start_time, 3),
            "duration_s": round(tracker.stop_time - tracker.start_time, 3),
            "request": self._request()}
        if self._earlier is not None:
            value["earlier"] = self._earlier[:history.RUNS - 1]
        self._metadata.register_metadata(*self._place, [
            MetaDatum(field=history.FIELD, value=json.dumps(value), type=history.FIELD,
                      tags=["attempt_id:%d" % self._attempt])])


def requested_figures(decorators):
    """The request of the step: {"cpu", "memory" (MiB), "gpu"}, each the largest value of @resources, @kubernetes and
    @batch, as in Metaflow."""
    found = {}
    for deco in decorators:
        if deco.name not in ("resources", "kubernetes", "batch"):
            continue
        for name in ("cpu", "memory", "gpu"):
            try:
                value = float(deco.attributes.get(name) or 0)
            except (TypeError, ValueError):
                continue
            # Ignore default values of @kubernetes and @batch, which the user has not set.
            if deco.name != "resources" and deco.defaults.get(name) == deco.attributes.get(name):
                continue
            if value > found.get(name, 0):
                found[name] = value
    return found


def requested(decorators):
    """The result of requested_figures() in the form of the program's option --request."""
    found = requested_figures(decorators)
    words = ["cpu=%g" % found["cpu"]] if "cpu" in found else []
    words += ["mem=%gMiB" % found["memory"]] if "memory" in found else []
    words += ["gpu=%g" % found["gpu"]] if "gpu" in found else []
    return ",".join(words)


def _pass_schema_on(decorators):
    """Pass the schema that is chosen on this machine to tasks on other machines, through @environment, which
    Kubernetes, Batch and Argo pass on. A value that the user has set there takes precedence."""
    from resource_tracker.column_maps import SCHEMA_VARIABLE, chosen_schema

    try:
        schema = chosen_schema()
    except ValueError:  # the tracker reports the error in the log of the task
        schema = os.environ.get(SCHEMA_VARIABLE)
    if not schema:
        return
    for deco in decorators:
        if deco.name == "environment":
            deco.attributes["vars"] = {SCHEMA_VARIABLE: schema, **deco.attributes["vars"]}
            return
    from metaflow.plugins.environment_decorator import EnvironmentDecorator

    decorators.append(EnvironmentDecorator(attributes={"vars": {SCHEMA_VARIABLE: schema}}))


def _new_folder():
    """Create a folder for the recording and related files; None if none can be created. It is inside the folder of the
    run, if there is one: runtime_finished() then handles the folders of killed tasks."""
    from resource_tracker._engine import new_folder

    for place in (os.environ.get(FOLDER), None):
        try:
            return new_folder(place)
        except OSError:
            continue
    return None


def _remove(folder):
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def _describe_place(tracker):
    """Set the tracker's cloud_info from the recording, which avoids further requests to metadata services."""
    if tracker._tracker is None or not tracker._tracker.recording:
        return
    from resource_tracker import _core
    from resource_tracker.cloud_info import _from_program

    cloud = json.loads(_core.Recording(tracker._tracker.recording).summary()).get("cloud")
    if cloud:
        tracker._cloud_info = {**_from_program(cloud),
                               "discovery_time": cloud.get("discovery_time")}


def _raise_peak(stats, totals):
    """Raise the maximum of the sampled memory to the peak in the totals, which may lie between two samples. Later runs
    derive their request from it."""
    peak = totals.get("peak_memory_mib", {}).get("value")
    memory = stats.get("process_memory_mib")
    if peak and memory and peak > (memory.get("max") or 0):
        memory["max"] = round(peak, 2)


def _keep_out_of_merges(artifact):
    """Exclude the artifact from merge_artifacts() and joins, like Metaflow's internal artifacts."""
    try:
        from metaflow.flowspec import INTERNAL_ARTIFACTS_SET

        INTERNAL_ARTIFACTS_SET.add(artifact)
    except ImportError:
        pass


def _error_of(error):
    import traceback

    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__)) \
        if error is not None else ""
    return {"error": {"error_message": str(error), "error_type": type(error).__name__,
                      "traceback": trace}}
