#!/usr/bin/env bash
# Installs GNU parallel if need be and plays a sweep under it end to end: six shards, one of which is killed
# and goes on, and results that must be the bytes of one machine. Debian or Ubuntu, as root to install.
set -euo pipefail
cd "$(dirname "$0")"
clusters=$PWD

command -v parallel >/dev/null || apt-get install -y --no-install-recommends parallel
(cd ../.. && cargo build --release --quiet)
target=$(cd ../.. && realpath "${CARGO_TARGET_DIR:-target}")
PATH=$target/release:$PATH

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
# A scenario of the program with a sweep of its own.
{
    cat "$clusters/../../scenarios/deriver-restart.toml"
    printf '[sweep]\nfleet.clients = [2_500, 5_000]\npooler.pool_size = [200, 400]\n'
} >sweep.toml
sweep=(sweep.toml --replicates 2)

herdsim run "${sweep[@]}" --out whole --quiet >/dev/null

say() { printf '\n== %s\n' "$*"; }
say "a shard that is killed"
herdsim run "${sweep[@]}" --shard 2/6 --out shards/2 --jobs 1 --quiet &
until [[ -e shards/2/units.bin && $(stat -c %s shards/2/units.bin) -gt 100000 ]]; do sleep 0.05; done
kill -KILL $!
wait $! || true
ls -l shards/2

say "$(parallel --version | head -n 1)"
time "$clusters/parallel.sh" 6 "${sweep[@]}" >report
cut -f 1,4,7,9 shards.log
head -n 3 report

say "the bytes of one machine"
diff -r whole results
ls results
