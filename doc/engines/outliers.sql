-- Ranks of a job whose RSS peak is more than a fifth above the mean of all.
WITH of_job AS (
    SELECT rank, node, rss_peak_bytes FROM processes
    WHERE job_id = ':job' AND rank IS NOT NULL AND rank_parent_pid IS NULL
), mean AS (
    SELECT CAST(sum(rss_peak_bytes) AS DOUBLE) / count(rss_peak_bytes) AS bytes FROM of_job
)
SELECT of_job.rank, of_job.node, of_job.rss_peak_bytes,
       CAST(floor(100 * of_job.rss_peak_bytes / mean.bytes) AS BIGINT) AS percent_of_mean
FROM of_job CROSS JOIN mean
WHERE of_job.rss_peak_bytes > 1.2 * mean.bytes
ORDER BY of_job.rss_peak_bytes DESC, of_job.rank
LIMIT 100
