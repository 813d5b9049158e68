"""The version of the package. The C library in the package has the same version."""


def _find() -> str:
    try:
        from ._core import version
    except ImportError:  # without the library the package runs in plain Python
        from importlib.metadata import PackageNotFoundError, version as installed

        try:
            return installed("resource-tracker")
        except PackageNotFoundError:
            return "unknown"
    return version()


__version__: str = _find()
