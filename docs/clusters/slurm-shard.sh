#!/bin/sh
# One shard of a run, as a task of an array that starts at 0:
#
#   shards=$(sbatch --parsable --array=0-7 slurm-shard.sh my.toml)
#   sbatch --dependency=afterok:$shards slurm-merge.sh
#
#SBATCH --job-name=herdsim
#SBATCH --cpus-per-task=2
#SBATCH --output=shards-%a.log
# A task that is preempted or loses its node goes on from the records of its shard.
#SBATCH --requeue
set -eu
exec herdsim run "$@" --jobs "$SLURM_CPUS_PER_TASK" --quiet \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --out "shards/$SLURM_ARRAY_TASK_ID"
