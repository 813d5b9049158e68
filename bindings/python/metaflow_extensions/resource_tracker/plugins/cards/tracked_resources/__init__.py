"""The card type "tracked_resources", for @card(type="tracked_resources") and `card create`."""

from html import escape

from metaflow.plugins.cards.card_modules.card import MetaflowCard


class TrackedResourcesCard(MetaflowCard):
    """Shows the report of a task, made from the artifact of @track_resources."""

    type = "tracked_resources"
    ALLOW_USER_COMPONENTS = False
    RUNTIME_UPDATABLE = False

    def __init__(self, options=None, components=None, graph=None, flow=None, **kwargs):
        self._artifact = (options or {}).get("artifact_name", "resource_tracker_data")

    def render(self, task):
        from resource_tracker import ResourceTracker
        from resource_tracker.report import page

        try:
            data = task[self._artifact].data
        except KeyError:
            return page("Resources", "<p>The task has no artifact %s: was it tracked?</p>"
                        % escape(self._artifact))
        error = data.get("error")
        if error:
            return page("Resources", "<p>Not tracked: %s: %s</p><pre>%s</pre>" % tuple(
                escape(str(error.get(key, "")))
                for key in ("error_type", "error_message", "traceback")))
        return str(ResourceTracker.from_snapshot(data["tracker"]).report(
            integration="Metaflow", historical_stats=data.get("historical_stats", []),
            status_failed=bool(data.get("step_failed"))))


CARDS = [TrackedResourcesCard]
