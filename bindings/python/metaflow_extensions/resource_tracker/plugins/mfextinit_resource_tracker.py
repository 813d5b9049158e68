"""Registers the step decorator @track_resources in Metaflow."""

STEP_DECORATORS_DESC = [("track_resources", ".track_resources.decorator.TrackResourcesDecorator")]

__mf_promote_submodules__ = ["track_resources"]
