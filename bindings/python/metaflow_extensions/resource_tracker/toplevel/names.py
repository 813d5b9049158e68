"""autotune_resources, if this version of Metaflow has mutators of flows."""

try:
    from ..plugins.track_resources.autotune import autotune_resources  # noqa: F401
except ImportError:  # Metaflow before 2.16
    pass
