"""The build backend of this folder: meson-python, at the top of the tree, where pyproject.toml is."""

import os

os.chdir(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from mesonpy import *  # noqa: E402,F401,F403
