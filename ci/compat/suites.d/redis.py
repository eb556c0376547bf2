"""redis: its benchmark, snapshots and rewrites by forked children, a restart; the data after each must be the same."""

import re

from run import Failed, Suite, free_port

TESTS = "ping,set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset"
FILL = """
for i = 1, 20000 do
  redis.call('SET', 'key:' .. i, string.rep('v' .. i, i % 50 + 1))
  redis.call('HSET', 'hash:' .. i % 300, 'field' .. i, i)
  redis.call('ZADD', 'zset:' .. i % 50, i * 7919 % 65537, 'member' .. i)
  redis.call('RPUSH', 'list:' .. i % 20, string.rep('x', i % 200))
  redis.call('SADD', 'set:' .. i % 30, i)
  redis.call('XADD', 'stream:' .. i % 5, '1-' .. i, 'a', i)
end
for i = 1, 20000, 3 do redis.call('DEL', 'key:' .. i) end
return redis.call('DBSIZE')
"""


class Server:
    """A server on a port of its own, started in the run's folder."""

    def __init__(self, run):
        self.run, self.port = run, free_port()
        self.started = self.start()

    def start(self):
        server = self.run.start(["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                 "--dir", self.run.place, "--enable-debug-command", "yes"])
        self.run.until_true(lambda: self.is_up(server), "redis-server does not answer")
        return server

    def is_up(self, server):
        if server.poll() is not None:
            raise Failed(f"redis-server ends with {server.returncode}")
        return self.client("PING").strip() == "PONG"

    def client(self, *words):
        """redis-cli asks, never under memlog: it is asked too often."""
        return self.run.plain(["redis-cli", "-p", self.port, *words])

    def info(self, section, name):
        return re.search(rf"^{name}:(.*)$", self.client("INFO", section).replace("\r", ""), re.M).group(1)

    def data(self):
        return f"{self.client('DBSIZE').strip()} keys, {self.client('DEBUG', 'DIGEST').strip()}"

    def stop(self, *how):
        self.client("SHUTDOWN", *how)
        return str(self.run.wait(self.started, "redis-server shuts down"))


def work(requests):
    def performed(run):
        server, results = Server(run), {}
        results["filled"] = server.client("EVAL", FILL, "0").strip()
        results["data when filled"] = server.data()
        # No pipeline and no random keys: the same requests each time.
        said = run.must(["redis-benchmark", "-p", server.port, "-n", requests, "-c", 20, "-t", TESTS, "--csv"])
        results["tests of the benchmark"] = " ".join(re.findall(r'^"([A-Z_ 0-9]+)', said, re.M))
        results["data after it"] = server.data()
        said = run.must(["redis-benchmark", "-p", server.port, "-n", requests, "-c", 20, "-P", 16, "--threads", 2, "-t", "get,ping", "--csv"])
        results["with threads"] = " ".join(re.findall(r'^"([A-Z_ 0-9]+)', said, re.M))
        results["errors"] = server.info("stats", "total_error_replies")
        calls = re.findall(r"^cmdstat_(\w+):calls=(\d+)", server.client("INFO", "commandstats"), re.M)
        results.update({f"calls of {name}": count for name, count in calls if name in "set incr lpush sadd zadd mset spop lrange".split()})
        for name, command, section, running, status in [
            ("BGSAVE", "BGSAVE", "persistence", "rdb_bgsave_in_progress", "rdb_last_bgsave_status"),
            ("BGREWRITEAOF", "BGREWRITEAOF", "persistence", "aof_rewrite_in_progress", "aof_last_bgrewrite_status"),
        ]:
            server.client(command)
            # Copies of pages are made while the child writes.
            run.must(["redis-benchmark", "-p", server.port, "-n", requests, "-c", 10, "-t", "set", "-q"])
            run.until_true(lambda: server.info(section, running) == "0", f"{name} does not end")
            results[name] = server.info(section, status)
        results["data before the restart"] = server.data()
        results["exit status"] = server.stop("SAVE")
        server.started = server.start()
        results["data after the restart"] = server.data()
        results["DEBUG RELOAD"] = server.client("DEBUG", "RELOAD").strip()
        results["purge"] = server.client("MEMORY", "PURGE").strip()
        results["flushed"] = server.client("FLUSHALL").strip() + server.data()
        results["second exit status"] = server.stop("NOSAVE")
        return results
    return performed


SUITES = [
    # Two servers, a child that saves and one that rewrites; the benchmark four times.
    Suite("redis.benchmark", "suites-long", work(10_000), images={"redis-check-rdb": 4, "redis-benchmark": 4}),
]
