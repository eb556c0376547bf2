# What: takes memlog's settings, and the names of jobs and ranks, out of the environment.
# Why:  the user's MEMLOG_OUTPUT or MEMLOG_OFF, or a job's number, would change the logs that a test looks for.
# Run:  . ppc64-cross/unset.sh     keeps MEMLOG_TOOLS and MEMLOG_CNK_MIB, which builds read
# shellcheck shell=bash
for variable in "${!MEMLOG_@}" "${!MEMORY_PROFILER_@}"; do
    case $variable in
    MEMLOG_TOOLS|MEMLOG_CNK_MIB) ;;
    *) unset "$variable" ;;
    esac
done
unset variable COBALT_JOBID PBS_JOBID SLURM_JOB_ID LSB_JOBID FLUX_JOB_ID JOB_ID OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK \
    FLUX_TASK_RANK MV2_COMM_WORLD_RANK ALPS_APP_PE PALS_RANKID SLURM_PROCID
