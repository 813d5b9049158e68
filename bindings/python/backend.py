"""The build backend: meson-python at the top of the tree, where meson.build is.

On Linux it builds the library and the program. Elsewhere the wheel contains only Python (pure.py), and needs
no compiler. In addition, one line names what is missing before anything is built. The wheel is tagged for
every CPython from 3.9 on, whichever version builds it, because the module uses only the limited API of 3.9.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig

os.chdir(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

ON_LINUX = sys.platform.startswith("linux")

import mesonpy  # noqa: E402
from mesonpy import *  # noqa: E402,F401,F403

sys.path.insert(0, os.path.join(os.getcwd(), "bindings", "python"))
import pure  # noqa: E402

OLDEST = "cp39"
COMPILERS = ("cc", "gcc", "clang", "icx", "nvc")


def missing():
    """What this machine lacks for building; "" if nothing is missing."""
    words = shlex.split(os.environ.get("CC", ""))
    while words and "ccache" in os.path.basename(words[0]):
        words = words[1:]
    if not any(map(shutil.which, words[:1] or COMPILERS)):
        return f"a C compiler ({words[0] if words else ', '.join(COMPILERS[:3])} is not found)"
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    if not os.path.exists(header):
        return f"the headers of this Python ({header} is not found)"
    return ""


def _check():
    lacks = missing()
    if lacks:
        sys.exit(f"resource-tracker: building it from source needs {lacks}. The wheels of a release, "
                 "for Linux on x86_64 and aarch64, need neither. Try: apt install gcc python3-dev")


def get_requires_for_build_wheel(config_settings=None):
    if not ON_LINUX:
        return []
    _check()
    return mesonpy.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    if not ON_LINUX:
        sys.exit("resource-tracker: an editable installation works only on Linux. Try: pip install .")
    _check()
    return mesonpy.get_requires_for_build_editable(config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if not ON_LINUX:
        return pure.build(wheel_directory)
    _check()
    name = mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)
    if "-abi3-" not in name:
        return name
    done = subprocess.run(
        [sys.executable, "-m", "wheel", "tags", "--remove", "--python-tag", OLDEST,
         os.path.join(wheel_directory, name)], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return os.path.basename(done.stdout.strip().splitlines()[-1])
