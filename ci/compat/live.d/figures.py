"""What a server says itself of its memory, and how it is made to take more: the other way to each figure of memlog's.

Each has `held`, the bytes that the process `target` has taken for what is asked of it, and `fill`, which has it
take some more and keep it.
"""

import functools
import re
import socket
import subprocess

import servers


class RedisClient:
    """Asks, and waits for the answer."""

    def __init__(self, port):
        self.link = socket.create_connection(("127.0.0.1", port), 5 * servers.LONGEST_SECONDS).makefile("rwb")

    def ask(self, *words):
        self.link.write(servers.redis_words([word.encode() for word in words]))
        self.link.flush()
        line = self.link.readline()
        assert line[:1] in b"+:$" and line, line
        return self.link.read(int(line[1:]) + 2).decode() if line[:1] == b"$" else line[1:].decode()

    def address(self):
        """A block, and what asked for it."""
        return re.search(r"Value at:(0x[0-9a-f]+)", self.ask("DEBUG", "OBJECT", "kept:1"))[1], "createObject"

    def ends(self):
        self.link.write(servers.redis_words([b"SHUTDOWN", b"NOSAVE"]))
        self.link.flush()
        assert self.link.readline() == b""


class Redis(servers.Redis):
    """INFO has the bytes as jemalloc rounds them."""

    is_usable = True

    @functools.cached_property
    def client(self):
        return RedisClient(self.port)

    def held(self):
        return int(re.search(r"^used_memory:(\d+)", self.client.ask("INFO", "memory"), re.M)[1])

    def fill(self, count, at=0):
        """So many values of 1,000 bytes."""
        for number in range(count):
            self.client.ask("SET", f"kept:{at + number}", "x" * 1000)
        return f"{count:,} values of 1,000 bytes"


class Nginx(servers.Nginx):
    """The status page has how many requests have begun and are not whole."""

    is_usable = False
    # Each holds these: its connection's pool and buffer, and a pool that is not grown once more.
    sizes = {"connection_pool_size": 512, "client_header_buffer_size": 1024, "request_pool_size": 16384}

    def prepare(self):
        super().prepare()
        self.open = []

    def held(self):
        with socket.create_connection(("127.0.0.1", self.port), servers.LONGEST_SECONDS) as link:
            link.sendall(b"GET /status HTTP/1.0\r\n\r\n")
            said = link.makefile("rb").read().decode()
        return int(re.search(r"Reading: (\d+)", said)[1]) * sum(self.sizes.values())

    def fill(self, count, at=0):
        """So many clients that have not said all."""
        for _ in range(count):
            link = socket.create_connection(("127.0.0.1", self.port), servers.LONGEST_SECONDS)
            link.sendall(b"GET /page HTTP/1.1\r\nHost: ")
            self.open.append(link)
        wanted = len(self.open) * sum(self.sizes.values())
        servers.until("nginx reads what clients begin", lambda: self.held() == wanted)
        return f"{count:,} requests that are not whole"

    def stop(self):
        for link in self.open:
            link.close()
        return super().stop()


class Postgres(servers.Postgres):
    """A view has the blocks of the session's own memory contexts."""

    is_usable = False
    session = None

    def ask(self, words):
        if not self.session:
            line = ["psql", "-h", self.folder, "-p", str(self.port), "-U", "memlog", "-AtqX", "postgres"]
            self.session = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.session.stdin.write(f"{words};\n\\echo the-end\n")
        self.session.stdin.flush()
        lines = []
        while (line := self.session.stdout.readline().rstrip("\n")) != "the-end":
            if not line and self.session.poll() is not None:
                raise ChildProcessError(f"psql has ended: {words[:100]}")
            lines.append(line)
        return "\n".join(lines)

    def target(self):
        """The session's."""
        return int(self.ask("SELECT pg_backend_pid()"))

    def held(self):
        return int(self.ask("SELECT sum(total_bytes) FROM pg_backend_memory_contexts"))

    def fill(self, count, at=0):
        """Each of ten statements that it keeps has a word of so many bytes, in its text and twice in its tree."""
        for number in range(10):
            self.ask(f"PREPARE kept_{at}_{number} AS SELECT '{'x' * (100 * count)}'")
        return f"10 prepared statements of {100 * count:,} bytes"

    def stop(self):
        if self.session:
            self.session.stdin.close()
            self.session.wait()
        return super().stop()


SERVERS = {"redis": Redis, "nginx": Nginx, "postgres": Postgres}


