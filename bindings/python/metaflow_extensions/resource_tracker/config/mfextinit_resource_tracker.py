"""Makes `spin` track steps as well."""

from metaflow import metaflow_config

SPIN_ALLOWED_DECORATORS = list(getattr(metaflow_config, "SPIN_ALLOWED_DECORATORS", ()))
if "track_resources" not in SPIN_ALLOWED_DECORATORS:
    SPIN_ALLOWED_DECORATORS.append("track_resources")

del metaflow_config
