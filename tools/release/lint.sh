#!/usr/bin/env bash
# Checks a release with the usual tools of packagers: check sums, lintian, rpmlint, and for each recipe a parser of its
# package manager.
#
#   tools/release/lint.sh [FOLDER]    default: the newest of $BUILD/release
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
newest=$(find "$build/release" -mindepth 2 -maxdepth 2 -name release.json 2>/dev/null | sort | tail -n 1 || true)
folder=${1:-$(dirname "${newest:-.}")}
[ -s "$folder/release.json" ] || { echo "lint: $folder holds no release. Try: make release" >&2; exit 1; }
failed=0

# check NAME COMMAND…: runs a command and prints one line, and the output of the command if it fails.
check() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "ok      $name"
	else
		printf 'failed  %s\n%s\n' "$name" "$out"
		failed=1
	fi
}

conda_recipe() {
	build/venv-release/bin/python - "$1" <<'PYTHON'
import sys
import rattler_build

recipe = rattler_build.Stage0Recipe.from_yaml(open(sys.argv[1], encoding="utf-8").read())
variants = recipe.render(rattler_build.VariantConfig.from_yaml(
    "python: ['3.9', '3.13']\nc_compiler: [gcc]\nc_stdlib: [sysroot]\nc_stdlib_version: ['2.17']\n"))
assert variants, "the recipe makes no package"
PYTHON
}

check "check sums" env -C "$folder" sha256sum --check --quiet SHA256SUMS
check "bill of materials, spdx-tools" build/venv-release/bin/pyspdxtools -i "$folder"/*.spdx.json
check "lintian" lintian --allow-root --fail-on error,warning "$folder"/*.deb
check "rpmlint" rpmlint --config tools/release/rpmlint.toml "$folder"/*.rpm
check "APKBUILD, sh" sh -n "$folder/recipes/APKBUILD"
check "recipe.yaml, rattler-build" conda_recipe "$folder/recipes/recipe.yaml"
check "package.nix, nix-instantiate" nix-instantiate --parse "$folder/recipes/package.nix"
check "resource-tracker.rb, ruby" ruby -wc "$folder/recipes/resource-tracker.rb"
check "resource-tracker.rb, rubocop" rubocop --cache false --only Lint,Security \
	"$folder/recipes/resource-tracker.rb"
exit $failed
