#!/usr/bin/env bash
# Installs a real Slurm on this machine if need be, starts it for the duration of this script, and plays a sweep
# end to end: an array of six shards, a merge that depends on it, and results that must be the bytes of one
# machine. Debian or Ubuntu, as root: a throw-away machine or container.
set -euo pipefail
cd "$(dirname "$0")"
clusters=$PWD

if ! command -v slurmctld >/dev/null || ! command -v munged >/dev/null; then
    apt-get install -y --no-install-recommends slurm-wlm munge
fi
(cd ../.. && cargo build --release --quiet)
target=$(cd ../.. && realpath "${CARGO_TARGET_DIR:-target}")
export PATH=$target/release:$PATH

place=$(mktemp -d)
started=()
stop() {
    # Only what was started here, the last first.
    for pid in $(printf '%s\n' "${started[@]}" | tac); do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$place"
}
trap stop EXIT
say() { printf '\n== %s\n' "$*"; }

say "$(slurmctld -V)"
# Without systemd and accounting; the scheduler looks every second, since it is one machine's own.
cat >"$place/slurm.conf" <<CONF
ClusterName=herdsim
SlurmctldHost=localhost
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$place/munge/socket
CryptoType=crypto/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
NodeName=localhost CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$place/slurm.conf
mkdir -p "$place"/{state,spool,sweep,munge}
chmod 755 "$place" "$place/munge"
dd if=/dev/urandom of="$place/munge.key" bs=1024 count=1 status=none
chmod 400 "$place/munge.key"
munged --foreground --force --socket="$place/munge/socket" --key-file="$place/munge.key" \
    --pid-file="$place/munge/pid" --log-file="$place/munge/log" --seed-file="$place/munge/seed" >"$place/munged.out" 2>&1 &
started+=($!)
until [[ -S $place/munge/socket ]]; do sleep 0.1; done
slurmctld -D >"$place/slurmctld.out" 2>&1 &
started+=($!)
slurmd -D -N localhost >"$place/slurmd.out" 2>&1 &
started+=($!)
until [[ $(sinfo --noheader --format=%t 2>/dev/null) == idle ]]; do sleep 0.5; done
sinfo

# A scenario of the program with a sweep of its own.
{
    cat "$clusters/../../scenarios/deriver-restart.toml"
    printf '[sweep]\nfleet.clients = [2_500, 5_000]\npooler.pool_size = [200, 400]\n'
} >"$place/sweep/sweep.toml"
sweep=(sweep.toml --replicates 2)
cd "$place/sweep"
say "an array of six shards, then the merge"
began=$SECONDS
shards=$(sbatch --parsable --array=0-5 --cpus-per-task=1 "$clusters/slurm-shard.sh" "${sweep[@]}")
merge=$(sbatch --parsable --dependency="afterok:$shards" "$clusters/slurm-merge.sh")
sleep 1
squeue
while squeue --noheader --jobs="$shards,$merge" 2>/dev/null | grep -q .; do sleep 1; done
echo "done in $((SECONDS - began)) s"
scontrol show job "$merge" | grep -E 'JobState|ExitCode' || true
head -n 4 merge.log

say "the bytes of one machine"
herdsim run "${sweep[@]}" --out whole --quiet >/dev/null
diff -r whole results
ls results
