#!/usr/bin/env bash
# Builds the last commit again, from a clone at another path, with another locale, time zone, umask and build folder,
# and compares the check sums with those of a release.
#
#   tools/release/compare.sh [FOLDER] [--only KIND,…]    default: the newest of $BUILD/release, and all kinds
#
# With --only, only files of these kinds are compared, without the bill of materials, which lists all files.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "${BUILD:-build}")
python=$PWD/build/venv-python/bin/python
newest=$(find "$build/release" -mindepth 2 -maxdepth 2 -name release.json 2>/dev/null | sort | tail -n 1 || true)
folder=$(dirname "${newest:-.}")
if [ $# -gt 0 ] && [[ $1 != --* ]]; then
	folder=$1
	shift
fi
[ -s "$folder/SHA256SUMS" ] || { echo "compare: $folder holds no release. Try: make release" >&2; exit 1; }
folder=$(realpath "$folder")
commit=$(sed -n 's/^ "commit": "\(.*\)",$/\1/p' "$folder/release.json")
if [ "$commit" != "$(git rev-parse HEAD)" ]; then
	echo "compare: $folder is of the commit ${commit:-unknown}, not of the last one. Try: make release" >&2
	exit 1
fi
clone=$(mktemp -d --tmpdir release-of-another-path.XXXXXX)
trap 'rm -rf "$clone"' EXIT
git clone --quiet --local --no-hardlinks . "$clone/a tree"
mkdir "$clone/a tree/build"
ln -s "$PWD/build/windows-python" "$clone/a tree/build/" # the wheel for Windows needs its headers
(
	umask 077
	cd "$clone/a tree"
	env LC_ALL=C TZ=Pacific/Auckland BUILD="$clone/elsewhere" \
		"$python" tools/release/make.py --out "$clone/out" "$@"
)
made=$clone/out/SHA256SUMS expected=$clone/expected
cp "$folder/SHA256SUMS" "$expected"
if [ $# -gt 0 ]; then
	sed -i '/\.spdx\.json$/d' "$made"
	awk 'NR == FNR { made[$2]; next } $2 in made' "$made" "$folder/SHA256SUMS" >"$expected"
fi
if ! diff "$expected" "$made"; then
	echo "compare: the lines above differ" >&2
	exit 1
fi
echo "equal: $(wc -l <"$made") files"
