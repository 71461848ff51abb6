#!/usr/bin/env bash
# Kills a run at random times and goes on with it: the results must always be the bytes of an undisturbed
# run, and no record may be left. Half of the runs keep records from their start, half as they do by
# default, once two seconds have passed.
#
#   tests/kills.sh [KILLS]        50 by default; SEED=n repeats the times
set -euo pipefail
cd "$(dirname "$0")/.."

kills=${1:-50}
RANDOM=${SEED:=$$}
cargo build --release --quiet
herdsim="${CARGO_TARGET_DIR:-target}/release/herdsim"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
run=(run deriver-restart --replicates 4 --set fleet.clients=5000)
play() { "$herdsim" "${run[@]}" --out "$@" --no-progress >/dev/null 2>"$place/said"; }

began=$(date +%s%N)
play "$place/whole"
millis=$((($(date +%s%N) - began) / 1000000))
echo "undisturbed: $millis ms; $kills kills within that time, SEED=$SEED"

hit=0 resumed=0
for ((try = 1; hit < kills; try++)); do
    habits=()
    ((try % 2)) && habits=(--keep-units)
    "$herdsim" "${run[@]}" --out "$place/killed" "${habits[@]}" --quiet >/dev/null &
    sleep "$(awk "BEGIN { print $RANDOM / 32768 * $millis / 1000 }")"
    kill -KILL $! 2>/dev/null || true
    # One that was over before the signal came does not count.
    wait $! 2>/dev/null || hit=$((hit + 1))
    play "$place/killed"
    grep -q '^going on from' "$place/said" && resumed=$((resumed + 1))
    diff -r "$place/whole" "$place/killed"
    if [[ -e $place/killed.units ]]; then
        echo "try $try: records are left" >&2
        exit 1
    fi
    rm -r "$place/killed"
done
echo "$hit runs were killed, $resumed went on from records: always the same bytes"
