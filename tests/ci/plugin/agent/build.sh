#!/usr/bin/env bash
# Builds the real buildkite-agent, once, into the user's cache, where the tests look for it. Needs Go 1.26.
set -euo pipefail
version=3.137.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=${XDG_CACHE_HOME:-$HOME/.cache}/flake-report/buildkite-agent-$version
[[ -x $target/buildkite-agent ]] && exit 0
mkdir -p "$target"
if GOBIN=$target go install "github.com/buildkite/agent/v3@v$version" 2>"$target/go.log"; then
  mv "$target/agent" "$target/buildkite-agent" # Go names it after its repository
  exit 0
fi
# Some module proxies serve all of its modules but the glob library: then that one alone is ours.
grep -q 'drjosh.dev/zzglob' "$target/go.log" || { cat "$target/go.log" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$here/zzglob" "$scratch/zzglob"
cd "$scratch"
go mod init agent-with-its-glob-library-replaced 2>/dev/null
go mod edit -require "github.com/buildkite/agent/v3@v$version" -replace drjosh.dev/zzglob=./zzglob
GOFLAGS="${GOFLAGS:-} -mod=mod" go build -o "$target/buildkite-agent" github.com/buildkite/agent/v3
echo "buildkite-agent $version, with a stand-in for its glob library, which this module proxy does not serve"
