"""Builds the container image for both architectures, as an OCI layout in a tar file. It contains only the static
program and licences, and has no base image. No daemon is needed. `skopeo copy oci-archive:FILE …` and `podman load`
read it."""

import json

from pack import Tree, compress, sha256

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def encode(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def build(release, machines, out):
    layout = Tree()

    def blob(data, media_type, **more):
        layout.add(f"blobs/sha256/{sha256(data)}", data)
        return {"mediaType": media_type, "digest": f"sha256:{sha256(data)}", "size": len(data), **more}

    labels = {"org.opencontainers.image.title": "resource-tracker",
              "org.opencontainers.image.version": release.version,
              "org.opencontainers.image.licenses": "MIT",
              "org.opencontainers.image.url": release.home}
    manifests = []
    for machine in machines:
        files = Tree()
        files.add("resource-tracker", release.program(machine, "musl"), 0o755)
        files.add("licenses/LICENSE", release.root / "LICENSE")
        files.add("licenses/NOTICE", release.root / "data/NOTICE")
        tar = files.tar(release.epoch)
        layer = blob(compress(tar), LAYER)
        config = blob(encode({
            "created": release.created, "architecture": ARCHITECTURES[machine], "os": "linux",
            "config": {"Entrypoint": ["/resource-tracker"], "Cmd": ["help"], "Labels": labels,
                       "Env": ["PATH=/"]},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(tar)}"]},
            "history": [{"created": release.created, "created_by": "make release"}]}), CONFIG)
        manifests.append(blob(encode({"schemaVersion": 2, "mediaType": MANIFEST, "config": config,
                                      "layers": [layer], "annotations": labels}), MANIFEST,
                              platform={"architecture": ARCHITECTURES[machine], "os": "linux"}))
    index = blob(encode({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}), INDEX,
                 annotations={"org.opencontainers.image.ref.name": f"resource-tracker:{release.version}"})
    layout.add("index.json", encode({"schemaVersion": 2, "mediaType": INDEX, "manifests": [index]}))
    layout.add("oci-layout", encode({"imageLayoutVersion": "1.0.0"}))
    path = out / f"resource-tracker-{release.version}-image.tar"
    path.write_bytes(layout.tar(release.epoch))
    return path
