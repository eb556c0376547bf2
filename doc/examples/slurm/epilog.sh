#!/bin/sh
# What: brings the logs of a job home from the disk of a node, to LOGS/JOB.
# Why:  what lies on a node's disk is gone when the job is.
# Run:  srun --ntasks-per-node=1 PATH/epilog.sh     or by the site, as Epilog= in slurm.conf, where root becomes the job's user
#
# NODE_DISK is the disk, else /tmp; LOGS is memlog-logs where the job was
# submitted, or at the user's home where that is not known. A log is copied under
# another name and then given its own, so that what has a name is whole; only then
# is it removed here. Nothing is written over.
set -u
# Whatever the job preloads: copying its logs is none of its work.
unset LD_PRELOAD
# Slurm gives its own scripts none.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
job=${SLURM_JOB_ID:?} disk=${NODE_DISK:-/tmp}
if [ "$(id -u)" = 0 ] && [ "${SLURM_JOB_USER:-root}" != root ]; then
    # Slurm takes a node out of service whose epilog fails or hangs, and a user's
    # full home must not do that.
    HOME=$(getent passwd "$SLURM_JOB_USER" | cut -d: -f6) timeout 600 runuser -u "$SLURM_JOB_USER" -- sh -s <"$0" ||
        echo "memlog: logs of job $job stay on $(uname -n)" >&2
    exit 0
fi
logs=${LOGS:-${SLURM_SUBMIT_DIR:-$HOME}/memlog-logs}/$job
umask 077

bring() { # LOG NAME
    part=$logs/.$2.$(uname -n).$$
    # Holes stay holes: a log takes less than its length.
    if cp --sparse=always "$1" "$part" && ln "$part" "$logs/$2"; then
        rm -f "$1" "$part"
    else
        echo "memlog: $1 stays on $(uname -n)" >&2
        rm -f "$part"
        return 1
    fi
}

status=0
for folder in "$disk/memlog.$job".*; do
    # Another's folder of that name is left alone.
    if [ ! -d "$folder" ] || [ -L "$folder" ] || [ ! -O "$folder" ]; then
        continue
    fi
    step=${folder##*.}
    mkdir -p "$logs" || exit 1
    for log in "$folder"/*.memlog; do
        [ -f "$log" ] || continue
        name=$(basename "$log")
        # Each step of a job has a rank 0.
        [ ! -e "$logs/$name" ] || name=step$step.$name
        bring "$log" "$name" || status=1
    done
    rmdir "$folder" 2>/dev/null
done
exit $status
