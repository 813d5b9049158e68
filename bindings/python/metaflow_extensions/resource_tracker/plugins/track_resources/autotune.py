"""@autotune_resources: request for the steps of a flow what their earlier runs used."""

import json
import os
import sys

from metaflow import FlowMutator

from . import history

# Commands that decide what is requested. All others belong to a run whose plan is made.
PLANNING = ("run", "resume", "argo-workflows", "step-functions", "airflow")
# Where a request may stand: Metaflow takes the largest of them, so all have to say the same.
PLACES = ("resources", "kubernetes", "batch")


class autotune_resources(FlowMutator):  # noqa: N801
    """Request for each step of a flow what the card of its last successful run with @track_resources advises.
    This advice also uses the runs before that one. A step without such a run keeps its request. The requests
    are computed once, when a run begins, and are used for all of its tasks.

    Parameters
    ----------
    margin : float, optional
        Compute the request from statistics instead: the mean of the cores in use, and the largest
        memory times this margin. Default: use the advice on the card of the last run.
    runs : int, optional
        Compute the request from the statistics of this many runs (5 if only margin is set).
    min_memory : int, default 512
        The smallest memory that is requested, in MiB.
    dry_run : bool, default False
        Print what would be requested, and change nothing.
    """

    def init(self, margin=None, runs=None, min_memory=512, dry_run=False):
        for name, value in (("margin", margin), ("runs", runs), ("min_memory", min_memory)):
            if value is None and name != "min_memory":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
                raise ValueError("@autotune_resources: %s must be a number above 0, not %r"
                                 % (name, value))
        self.margin, self.runs = margin, None if runs is None else int(runs)
        self.min_memory, self.dry_run = min_memory, dry_run

    def mutate(self, mutable_flow):
        flow = mutable_flow._flow_cls.__name__
        variable = "RESOURCE_TRACKER_PLAN_" + flow
        if _is_planning():
            plan = self._plan(flow)
            os.environ[variable] = json.dumps(plan)
            self._tell(mutable_flow, plan)
        else:
            plan = json.loads(os.environ.get(variable) or "{}")
        if self.dry_run:
            return
        for name, step in mutable_flow.steps:
            if name in plan:
                _request(step, plan[name])

    def _plan(self, flow):
        """{step: arguments of @resources}"""
        from metaflow.exception import MetaflowNotFound

        try:
            from resource_tracker.metaflow_cli import recommend

            return {step: request for step, _, request in recommend(
                flow, self.runs, self.margin, self.min_memory)}
        except MetaflowNotFound:  # the first run ever
            return {}
        except Exception as error:
            _say("nothing is changed: %s: %s" % (type(error).__name__, error))
            return {}

    def _tell(self, mutable_flow, plan):
        for name, step in mutable_flow.steps:
            if name in plan:
                _say("%s: %s%s (was %s)" % (name, "would be " if self.dry_run else "",
                                            _words(plan[name]), _words(_present(step))))


def _say(text):
    print("[@autotune_resources] " + text, file=sys.stderr)


def _words(request):
    return ", ".join("%s=%s" % item for item in request.items()) or "not stated"


def _is_planning():
    from metaflow._vendor.click import get_current_context

    context = get_current_context(silent=True)
    while context is not None:
        if context.info_name in PLANNING or context.invoked_subcommand in PLANNING:
            return True
        context = context.parent
    return False


def _present(step):
    """The request in the source of the step: the largest of all decorators."""
    found = {}
    for name, _, _, values in step.decorator_specs:
        if name not in PLACES:
            continue
        for key in ("cpu", "memory", "gpu"):
            try:
                value = float(values.get(key) or 0)
            except (TypeError, ValueError):
                continue
            if value > found.get(key, 0):
                found[key] = value
    return {key: "%g" % value for key, value in found.items()}


def _request(step, request):
    present = {name: dict(values) for name, _, _, values in step.decorator_specs
               if name in PLACES}
    for place in PLACES:
        if place != "resources" and place not in present:
            continue
        values = {**present.get(place, {}), **{key: str(value) for key, value in request.items()}}
        step.add_decorator(place, deco_kwargs=values, duplicates=step.OVERRIDE)
