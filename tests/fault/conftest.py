"""The fixtures of tests/cli serve here too."""

import importlib.util
import pathlib

_PATH = pathlib.Path(__file__).resolve().parents[1] / "cli/conftest.py"
_SPEC = importlib.util.spec_from_file_location("cli_conftest", _PATH)
_CLI = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_CLI)
rt_path, rt = _CLI.rt_path, _CLI.rt
pytest_configure = _CLI.pytest_configure
