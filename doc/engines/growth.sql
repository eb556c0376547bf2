-- What grew from one job to another: by stack the bytes that all ranks held at their RSS
-- peaks, in the job before, in this job, and the difference.
WITH sums AS (
    SELECT s.stack_id,
           sum(CASE WHEN p.job_id = ':before' THEN s.rss_peak_bytes ELSE 0 END) AS before_bytes,
           sum(CASE WHEN p.job_id = ':job' THEN s.rss_peak_bytes ELSE 0 END) AS after_bytes
    FROM sites s JOIN processes p ON p.process = s.process
    WHERE p.job_id IN (':before', ':job') AND p.rank IS NOT NULL AND p.rank_parent_pid IS NULL
    GROUP BY s.stack_id
), askers AS (
    SELECT DISTINCT stack_id, function, file, line FROM stacks WHERE place = 0
)
SELECT a.function, a.file, a.line, sums.stack_id,
       sums.before_bytes, sums.after_bytes,
       sums.after_bytes - sums.before_bytes AS grown_bytes
FROM sums JOIN askers a ON a.stack_id = sums.stack_id
WHERE sums.after_bytes <> sums.before_bytes
ORDER BY grown_bytes DESC, sums.stack_id
LIMIT 20
