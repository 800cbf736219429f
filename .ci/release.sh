#!/bin/bash
# The steps of .github/workflows/release.yml.
#   release.sh check TAG            ends with 1 unless TAG is "v" and this version, and CHANGELOG.md has a section of it
#   release.sh notes TAG            prints that section
#   release.sh base                 prints base=NAME@DIGEST: the image that this release is built on
#   release.sh login                logs in to the registry with TOKEN
#   release.sh image VARIANT TAG    builds VARIANT (full, slim) for this machine's architecture and pushes it without a name,
#                                   on BASE; its digest becomes the name of a file in build/digests
#   release.sh index VARIANT TAG    gives the images of all architectures one name, and signs it
#   release.sh publish TAG          makes the release on GitHub of dist and build/notes.md
# From outside: GITHUB_REPOSITORY (OWNER/NAME), GITHUB_ACTOR, GITHUB_SHA, as GitHub sets them.
set -euo pipefail
cd "$(dirname "$0")/.."

BASE_TAG=python:3.11-slim-bookworm
REGISTRY=ghcr.io
die() { printf 'release: %s\n' "$*" >&2; exit 1; }
usage() { sed -n '3,11p' "$0" >&2; exit 2; }

image_name() { printf '%s/%s' $REGISTRY "${GITHUB_REPOSITORY,,}"; }
is_final() { [[ $1 =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]]; }

section() {
  awk -v version="${1#v}" '
    /^## / { inside = ($2 == version); next }
    inside { line[++count] = $0; if ($0 != "") { last = count; if (!first) first = count } }
    END { for (i = first; first && i <= last; i++) print line[i] }' CHANGELOG.md
}

check() {
  local version
  version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' bcon_exporter/__init__.py)
  [ "$1" = "v$version" ] || die "the tag $1 is not v$version, which bcon_exporter/__init__.py says"
  [ -n "$(section "$1")" ] || die "CHANGELOG.md has no section \"## $version\" with text in it"
}

# Reads JSON; prints the digest that stands under KEY, and nothing else.
digest_of() {
  python3 -c 'import json, re, sys
digest = json.load(sys.stdin).get(sys.argv[1], "")
sys.exit(not re.fullmatch("sha256:[0-9a-f]{64}", digest) or print(digest))' "$1" || die "no digest was told"
}

look_up() { docker buildx imagetools inspect "$1" --format '{{json .Manifest}}' | digest_of digest; }

base() {
  local digest
  digest=$(look_up $BASE_TAG)
  printf 'base=%s@%s\n' $BASE_TAG "$digest"
}

login() { printf '%s' "$TOKEN" | docker login "$REGISTRY" --username "$GITHUB_ACTOR" --password-stdin; }

variant_target() {
  case $1 in
    full) ;;
    slim) printf '%s\n' --target slim ;;
    *) die "no variant is called $1" ;;
  esac
}

image() {
  local target digest
  target=$(variant_target "$1")
  docker buildx create --driver docker-container --use
  mkdir -p build/digests
  # shellcheck disable=SC2086 # the target is two words, or none
  docker buildx build --file deploy/Dockerfile $target \
    --build-arg RELEASE=1 --build-arg "BUILD_IMAGE=$BASE" --build-arg "BASE_IMAGE=$BASE" \
    --build-arg "VERSION=${2#v}" --build-arg "REVISION=$GITHUB_SHA" --build-arg "CREATED=$(git log -1 --format=%cI)" \
    --build-arg "SOURCE=https://github.com/$GITHUB_REPOSITORY" \
    --sbom=true --provenance=mode=max --metadata-file build/image.json \
    --output "type=image,name=$(image_name),push-by-digest=true,name-canonical=true,push=true" .
  digest=$(digest_of containerimage.digest <build/image.json)
  touch "build/digests/$digest"
}

index() {
  local name suffix="" digest images=() names=()
  name=$(image_name)
  [ -z "$(variant_target "$1")" ] || suffix=-$1
  for digest in build/digests/sha256:*; do images+=("$name@${digest##*/}"); done
  [ ${#images[@]} = 2 ] || die "${#images[@]} images of $1 were pushed, not one for each of amd64 and arm64"
  names=(--tag "$name:${2#v}$suffix")
  ! is_final "$2" || names+=(--tag "$name:latest$suffix")
  docker buildx imagetools create "${names[@]}" \
    --annotation "index:org.opencontainers.image.source=https://github.com/$GITHUB_REPOSITORY" "${images[@]}"
  digest=$(look_up "$name:${2#v}$suffix")
  cosign sign --yes "$name@$digest"
}

publish() {
  local kind=--latest files
  is_final "$1" || kind=--prerelease
  tar -czf build/licenses.tar.gz -C dist licenses
  mapfile -t files < <(find dist -maxdepth 1 -type f | sort)
  gh release create "$1" --verify-tag --title "$1" --notes-file build/notes.md $kind "${files[@]}" build/licenses.tar.gz
}

command=${1:-}
shift || usage
case $command/$# in
  check/1 | publish/1 | base/0 | login/0 | image/2 | index/2) "$command" "$@" ;;
  notes/1) section "$1" ;;
  *) usage ;;
esac
