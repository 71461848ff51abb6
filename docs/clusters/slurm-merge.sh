#!/bin/sh
# The results of the shards of slurm-shard.sh.
#
#SBATCH --job-name=herdsim-merge
#SBATCH --output=merge.log
set -eu
exec herdsim merge shards/* --out results
