"""Writes the bill of materials of a release in SPDX 2.3: the components of the programs, and the check sums of each
file.

SPDX 2.3 requires a SHA-1 of each file. Use the SHA-256, which is included as well, to verify a file."""

import hashlib
import json

from pack import sha256

# Third-party components in the programs: (package, licence, version, where it is used).
PARTS = [
    ("musl", "MIT", "as shipped with zig {zig}", "the static programs of the musl tarballs and the image"),
    ("compiler-rt", "Apache-2.0 WITH LLVM-exception", "as shipped with zig {zig}",
     "helper functions of the compiler in every program and library but that for Windows"),
    ("mingw-w64", "ZPL-2.1", "of the system that built it", "the program for Windows"),
    ("winpthreads", "MIT AND BSD-3-Clause", "of the system that built it", "the program for Windows"),
    ("gcc-runtime", "GPL-3.0-or-later WITH GCC-exception-3.1", "of the system that built it",
     "the program for Windows: libgcc and libssp"),
]
# Libraries that are not included, but loaded at run time if they are installed.
LOADED = ["libsqlite3.so.0", "libpq.so.5", "libz.so.1", "libcurl.so.4", "libmicrohttpd.so.12",
          "libcrypto.so.3", "libdw.so.1", "libstdc++.so.6", "libnvidia-ml.so.1"]


def identifier(name):
    return "SPDXRef-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in name)


def package(name, version, licence, comment, home):
    return {"SPDXID": identifier(f"Package-{name}"), "name": name, "versionInfo": version,
            "downloadLocation": home, "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", "comment": comment}


def entry(path, out):
    name = str(path.relative_to(out))
    data = path.read_bytes()
    return {"SPDXID": identifier(f"File-{name}"), "fileName": f"./{name}",
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": sha256(data)}],
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def build(release, files, out):
    own = identifier("Package-resource-tracker")
    data = identifier("Package-sparecores-data")
    packages = [package("resource-tracker", release.version, "MIT",
                        "Loads at run time, where installed: " + ", ".join(LOADED), release.home),
                package("sparecores-data", "data/sparecores.tsv", "CC-BY-SA-4.0",
                        "A file beside the program: scores of servers", "https://sparecores.com"),
                *(package(name, version.format(zig=release.zig), licence, f"In {where}", "NOASSERTION")
                  for name, licence, version, where in PARTS)]
    listed = [entry(path, out) for path in files]
    # A hash that identifies these files. Equal builds have the same.
    contents = sha256("".join(item["checksums"][1]["checksumValue"] for item in listed).encode())
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", own), (own, "CONTAINS", data),
                     *((own, "STATIC_LINK", identifier(f"Package-{part[0]}")) for part in PARTS),
                     *((item["SPDXID"], "GENERATED_FROM", own) for item in listed)]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"resource-tracker-{release.version}",
        "documentNamespace": f"{release.home}/spdx/{release.version}/{contents}",
        "creationInfo": {"created": release.created,
                         "creators": ["Organization: resource-tracker maintainers", "Tool: make release"]},
        "comment": f"Built from the commit {release.commit}",
        "packages": packages, "files": listed,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relationships]}
    path = out / f"resource-tracker-{release.version}.spdx.json"
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path
