-- Who held memory when the ranks of a job were biggest: by stack the least, the mean and
-- the most over all ranks, and which rank had the most.
WITH ranks AS (
    SELECT count(*) AS all_ranks FROM processes
    WHERE job_id = ':job' AND rank IS NOT NULL AND rank_parent_pid IS NULL
), held AS (
    SELECT s.stack_id, p.rank, s.rss_peak_bytes AS bytes,
           row_number() OVER (PARTITION BY s.stack_id ORDER BY s.rss_peak_bytes DESC, p.rank) AS nth
    FROM sites s JOIN processes p ON p.process = s.process
    WHERE p.job_id = ':job' AND p.rank IS NOT NULL AND p.rank_parent_pid IS NULL
      AND s.rss_peak_bytes > 0
), summed AS (
    SELECT stack_id,
           count(*) AS ranks,
           min(bytes) AS least_of_those,
           sum(bytes) AS bytes,
           max(bytes) AS most_bytes,
           max(CASE WHEN nth = 1 THEN rank END) AS most_rank
    FROM held GROUP BY stack_id
), askers AS (
    SELECT DISTINCT stack_id, function, file, line FROM stacks WHERE place = 0
)
SELECT a.function, a.file, a.line, summed.stack_id,
       summed.ranks,
       CASE WHEN summed.ranks < ranks.all_ranks THEN 0 ELSE summed.least_of_those END AS least_bytes,
       CAST(floor(CAST(summed.bytes AS DOUBLE) / ranks.all_ranks) AS BIGINT) AS mean_bytes,
       summed.most_bytes,
       summed.most_rank
FROM summed CROSS JOIN ranks JOIN askers a ON a.stack_id = summed.stack_id
ORDER BY summed.bytes DESC, summed.stack_id
LIMIT 20
