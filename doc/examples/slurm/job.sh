#!/bin/sh
#SBATCH --job-name=solver
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --time=01:00:00
# What: a batch script: records a parallel program on the disks of its nodes, and gathers the logs in memlog-logs/JOB.
# Why:  two lines more than the job has anyhow, and nothing to relink.
# Run:  EXAMPLES=FOLDER_OF_THESE_SCRIPTS RECORDER=DIR/lib/libmemlog.so sbatch job.sh ./solver ITS ARGUMENTS
set -u
: "${EXAMPLES:?the folder of prolog.sh and epilog.sh}" "${RECORDER:?the libmemlog.so of memlog\'s installation}"
export RECORDER

# Where the site has the prolog for all (TaskProlog=), leave it out here: the
# second would be recorded itself.
srun --task-prolog="$EXAMPLES/prolog.sh" "$@"
status=$?
# Once on each node, also where the program failed: that is when one wants to know.
# Nobody wants a log of it, which a site's prolog would have made.
env -u RECORDER -u LD_PRELOAD srun --nodes="${SLURM_JOB_NUM_NODES:-1}" --ntasks="${SLURM_JOB_NUM_NODES:-1}" --ntasks-per-node=1 "$EXAMPLES/epilog.sh"
exit $status
