#!/bin/sh
# All shards of a run under GNU parallel, here or on the hosts in a file, and their results:
#
#   ./parallel.sh 8 my.toml
#   HOSTS=hosts.txt ./parallel.sh 8 my.toml      the same folder must be there on all of them
#
# The log of jobs lets the same command repeat what failed and nothing else.
set -eu
shards=$1
shift
last=$((shards - 1))
parallel ${HOSTS:+--sshloginfile "$HOSTS" --workdir .} --joblog shards.log --resume-failed \
    herdsim run "$@" --jobs 1 --quiet --shard "{}/$shards" --out "shards/{}" ::: $(seq 0 "$last")
herdsim merge shards/* --out results
