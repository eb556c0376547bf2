#!/bin/sh
# What: a Slurm task prolog: has the tasks of a step recorded, with their logs on the disk of the node.
# Why:  a parallel file system is slow at many files that grow at once; the node's disk is not.
# Run:  RECORDER=DIR/lib/libmemlog.so srun --task-prolog=PATH/prolog.sh ./solver     NODE_DISK: the disk, else /tmp
#
# What it prints is done to the task: `export` sets a variable, `print` says a
# line. Set here, LD_PRELOAD is in the tasks alone: neither srun nor this script
# is recorded. Each step has a folder of its own, which the recorder makes.
recorder=${RECORDER:?the libmemlog.so of memlog\'s installation} disk=${NODE_DISK:-/tmp}
if [ ! -r "$recorder" ]; then
    echo "print memlog: $(uname -n) cannot read $recorder: nothing is recorded"
    exit 0
fi
echo "export LD_PRELOAD=$recorder${LD_PRELOAD:+:$LD_PRELOAD}"
echo "export MEMLOG_OUTPUT=%j.%r.memlog"
if [ -d "$disk" ] && [ -w "$disk" ]; then
    echo "export MEMLOG_DIR=$disk/memlog.${SLURM_JOB_ID:?}.${SLURM_STEP_ID:-0}"
else
    echo "print memlog: $disk on $(uname -n) cannot be written to: the logs stay in the job's folder"
fi
