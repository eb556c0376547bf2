#!/bin/sh
# What: a Slurm task prolog: has the tasks of a step recorded, with their logs on the disk of the node.
# Why:  a parallel file system is slow at many files that grow at once; the node's disk is not.
# Run:  RECORDER=DIR/lib/libmemlog.so srun --task-prolog=PATH/prolog.sh ./solver     NODE_DISK: the disk, else /tmp
#
# What it prints is done to the task: `export` sets a variable, `print` says a
# line. Set here, LD_PRELOAD is in the tasks alone: neither srun nor this script
# is recorded. Each step has a folder of its own. Without RECORDER nothing is
# recorded, so that a site can have this for all its users (TaskProlog=).
[ -n "${RECORDER:-}" ] || exit 0
disk=${NODE_DISK:-/tmp}
case $RECORDER in
*[[:space:]:]*) echo "print memlog: the loader cuts names at blanks and colons, $RECORDER too: nothing is recorded"; exit 0 ;;
esac
if [ ! -r "$RECORDER" ]; then
    echo "print memlog: $(uname -n) cannot read $RECORDER: nothing is recorded"
    exit 0
fi
echo "export LD_PRELOAD=$RECORDER${LD_PRELOAD:+:$LD_PRELOAD}"
echo "export MEMLOG_OUTPUT=%j.%r.memlog"
# Others can guess this name: it must be a folder of one's own.
folder=$disk/memlog.${SLURM_JOB_ID:?}.${SLURM_STEP_ID:-0}
mkdir -m 700 "$folder" 2>/dev/null
if [ -d "$folder" ] && [ ! -L "$folder" ] && [ -O "$folder" ] && [ -w "$folder" ]; then
    echo "export MEMLOG_DIR=$folder"
else
    echo "print memlog: $folder on $(uname -n) cannot be made: the logs stay in the job's folder"
fi
