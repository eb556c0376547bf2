-- A job's memory by node: how many processes, the sum of their RSS peaks, and the highest.
-- The peaks need not be at the same time: the sum is the most that the node can have needed.
SELECT p.node,
       count(*) AS processes,
       sum(p.rss_peak_bytes) AS rss_peaks_bytes,
       max(p.rss_peak_bytes) AS highest_bytes
FROM processes p
WHERE p.job_id = ':job'
GROUP BY p.node
ORDER BY rss_peaks_bytes DESC, p.node
