"""Writes reproducible archives: equal contents give equal bytes. Names are sorted, the owner is root, there are two
file modes, and all files have the same time. Nothing depends on the machine that packs them."""

import datetime
import gzip
import hashlib
import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path


class Tree:
    """The files of one artefact: {path: (bytes, mode, target of a symbolic link or None)}."""

    def __init__(self):
        self.files = {}

    def add(self, path, data, mode=0o644):
        if isinstance(data, Path):
            data = data.read_bytes()
        elif isinstance(data, str):
            data = data.encode()
        self.files[path.lstrip("/")] = (data, mode, None)

    def link(self, path, target):
        self.files[path.lstrip("/")] = (b"", 0o777, target)

    def folders(self):
        return sorted({str(parent) for path in self.files for parent in Path(path).parents} - {"."})

    def write(self, root, epoch):
        """Write the files below the folder `root`, with the time `epoch` (s since 1970)."""
        for path, (data, mode, target) in sorted(self.files.items()):
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if target is None:
                place.write_bytes(data)
                place.chmod(mode)
            else:
                place.symlink_to(target)
            os.utime(place, (epoch, epoch), follow_symlinks=False)
        for folder in [*self.folders(), "."]:
            (root / folder).chmod(0o755)
            os.utime(root / folder, (epoch, epoch))

    def tar(self, epoch, top="", folders=True):
        """The files as an uncompressed tar archive (bytes), below the folder `top`."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            names = dict(self.files)
            if folders:
                names.update({folder: (b"", 0o755, ...) for folder in self.folders()})
                if top:
                    names[""] = (b"", 0o755, ...)
            for path, (data, mode, target) in sorted(names.items()):
                info = tarfile.TarInfo(f"{top}/{path}".rstrip("/") if top else path)
                info.mode, info.mtime, info.uname, info.gname = mode, epoch, "root", "root"
                if target is ...:
                    info.type = tarfile.DIRTYPE
                elif target is not None:
                    info.type, info.linkname = tarfile.SYMTYPE, target
                else:
                    info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        return out.getvalue()

    def zip(self, epoch, top):
        """The files as a zip archive (bytes), below the folder `top`.

        Raises:
            ValueError: a file is a symbolic link, which some programs unpack as a text file
        """
        out = io.BytesIO()
        moment = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path, (data, mode, target) in sorted(self.files.items()):
                if target is not None:
                    raise ValueError(f"{path} is a link")
                info = zipfile.ZipInfo(f"{top}/{path}", moment.timetuple()[:6])
                info.create_system = 3  # Unix, so that unpacking sets the mode
                info.external_attr = (stat.S_IFREG | mode) << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, data)
        return out.getvalue()


def compress(data):
    """Compress with gzip, without a file name and a time."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", filename="", mtime=0, compresslevel=9) as file:
        file.write(data)
    return out.getvalue()


def sha256(data):
    return hashlib.sha256(data.read_bytes() if isinstance(data, Path) else data).hexdigest()
