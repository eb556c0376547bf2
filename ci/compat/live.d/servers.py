"""Servers of Debian's that are started here, by themselves or under memlog, and clients that check each answer.

* `Load`, `Bench`: clients, until they are told to end
* `Server` and what is below it: one server in a folder of its own

`bench/attach` uses them as well.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
LONGEST_SECONDS = 60
PAGE = b"a page of this server\n" * 200


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(what, is_so):
    end = time.monotonic() + LONGEST_SECONDS
    while not (got := is_so()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {LONGEST_SECONDS} s")
        time.sleep(0.02)
    return got


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def environment():
    """Ours, without what is said to memlog here."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MEMLOG", "LD_PRELOAD"))}


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


class Load(threading.Thread):
    """Clients that check each answer, until they are told to end."""

    def __init__(self, port, ask, clients=4):
        super().__init__(daemon=True)
        self.port, self.ask, self.is_over = port, ask, False
        self.answers, self.errors, self.said = [0] * clients, 0, []
        self.threads = [threading.Thread(target=self.client, args=(at,), daemon=True) for at in range(clients)]

    def client(self, at):
        while not self.is_over:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 5) as link:
                    link.settimeout(5)
                    stream = link.makefile("rwb")
                    number = 0
                    is_open = True
                    while is_open and not self.is_over:
                        is_open = self.ask(stream, at, number)
                        self.answers[at] += 1
                        number += 1
            except (OSError, AssertionError, ValueError) as error:
                if not self.is_over:
                    self.errors += 1
                    self.said.append(repr(error))

    def start(self):
        for thread in self.threads:
            thread.start()

    def count(self):
        return sum(self.answers)

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()


class Bench:
    """pgbench, which counts its transactions and complains of each that fails."""

    def __init__(self, folder, port):
        self.line = [shutil.which("pgbench"), "-h", folder, "-p", str(port), "-U", "memlog", "-n", "-c", "2", "-P", "1",
                     "-T", "100000", "postgres"]
        self.errors, self.said, self.transactions, self.is_over = 0, [], 0, False

    def start(self):
        self.process = subprocess.Popen(self.line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        time.sleep(1)

    def read(self):
        for line in self.process.stderr:
            progress = re.match(r"progress: .*?, ([0-9.]+) tps.*, (\d+) failed", line)
            if progress:
                self.transactions += float(progress[1])
                self.errors += int(progress[2])
                if int(progress[2]):
                    self.said.append(line)
            elif not line.startswith("pgbench ("):
                self.errors += 1
                self.said.append(line)

    def count(self):
        return int(self.transactions)

    def end(self):
        if self.is_over:
            return
        self.is_over = True
        if self.process.poll() is not None:
            self.errors += 1
            self.said.append("pgbench has ended")
        self.process.terminate()
        self.process.wait()


def http(keep):
    def ask(stream, at, number):
        link = b"keep-alive" if keep else b"close"
        stream.write(b"GET /page HTTP/1.1\r\nHost: here\r\nConnection: " + link + b"\r\n\r\n")
        stream.flush()
        assert b" 200 " in stream.readline(), "no 200"
        length = 0
        while (line := stream.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert stream.read(length) == PAGE, "another page"
        return keep
    return ask


def redis_words(words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def ask_redis(stream, at, number):
    key, value = b"k%d-%d" % (at, number % 1000), b"v%d-" % number * (1 + number % 50)
    for words, answer in (((b"SET", key, value), None), ((b"GET", key), value), ((b"DEL", key), None)):
        stream.write(redis_words(words))
        stream.flush()
        line = stream.readline()
        assert line[:1] in b"+:$", line
        if answer is not None:
            assert stream.read(len(answer) + 2) == answer + b"\r\n", "another value"
    return True


def ask_memcached(stream, at, number):
    key, value = b"k%d-%d" % (at, number % 1000), b"v%d-" % number * (1 + number % 50)
    stream.write(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value))
    stream.flush()
    assert stream.readline() == b"STORED\r\n", "not stored"
    stream.write(b"get %s\r\n" % key)
    stream.flush()
    assert stream.readline().startswith(b"VALUE"), "no value"
    assert stream.read(len(value) + 2) == value + b"\r\n", "another value"
    assert stream.readline() == b"END\r\n", "no end"
    # Values lie in slabs that it keeps; for its figures it asks malloc.
    if number % 20 == 0:
        stream.write(b"stats\r\n")
        stream.flush()
        while (line := stream.readline()) != b"END\r\n":
            assert line.startswith(b"STAT "), line
    return True


class Server:
    """One that runs in a folder of its own.

    Before its command stands a recorder, or nothing: then `main` is a child of that.
    """

    # A program without which it cannot be run.
    needs = "python3"
    # Where commands are run, and as whom.
    become = ()

    def __init__(self, folder, recorder=()):
        os.chmod(folder, 0o777)
        self.folder, self.recorder, self.port = folder, list(recorder), free_port()
        self.said = open(f"{folder}/said", "w+b")
        self.prepare()
        self.process = subprocess.Popen([*self.become, *self.recorder, *self.command()], cwd=self.place(), stdin=subprocess.DEVNULL,
                                        stdout=self.said, stderr=self.said, env=environment())
        try:
            until(f"{self.needs} listens", lambda: self.is_there() and listens(self.port))
            self.main = children(self.process.pid)[0] if self.recorder else self.process.pid
            self.load = self.fill_and_load()
        except BaseException:
            self.stop()
            raise

    @classmethod
    def is_available(cls):
        return bool(shutil.which(cls.needs))

    def is_there(self):
        if self.process.poll() is not None:
            raise ChildProcessError(f"{self.needs} ends with {self.process.returncode}: {self.printed()}")
        return True

    def printed(self):
        """What it has said, it and its recorder."""
        self.said.seek(0)
        return self.said.read().decode(errors="replace")

    def place(self):
        return self.folder

    def prepare(self):
        """What it reads."""

    def fill_and_load(self):
        """Its clients, who have not begun."""

    def target(self):
        """The process whose memory it is about."""
        return self.main

    def stop(self):
        if self.process.poll() is None:
            os.kill(getattr(self, "main", self.process.pid), signal.SIGINT)
        try:
            self.process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            # Its memlog would end, and it would not.
            for pid in [*children(self.process.pid), self.process.pid]:
                os.kill(pid, signal.SIGKILL)
            self.process.wait()
        return self.process.returncode


class Nginx(Server):
    """A master and one worker."""

    needs = "nginx"
    # Of what a connection takes, if not as usual.
    sizes = {}

    def prepare(self):
        with open(f"{self.folder}/page", "wb") as file:
            file.write(PAGE)
        folder = self.folder
        sizes = " ".join(f"{name} {size};" for name, size in self.sizes.items())
        user = "user root;" if os.geteuid() == 0 else ""
        with open(f"{folder}/nginx.conf", "w", encoding="ascii") as file:
            file.write(f"daemon off; master_process on; worker_processes 1; pid {folder}/pid; error_log {folder}/error; {user}"
                       f" events {{ worker_connections 8192; }} http {{ access_log off; keepalive_requests 1000000;"
                       f" client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;"
                       f" uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e; {sizes} client_header_timeout 1000s;"
                       f" server {{ listen 127.0.0.1:{self.port} backlog=4096; root {folder}; location = /status {{ stub_status; }} }} }}\n")

    def command(self):
        return ["nginx", "-c", f"{self.folder}/nginx.conf"]

    def fill_and_load(self):
        return Load(self.port, http(True))

    def target(self):
        return children(self.main)[0]


class Python(Server):
    """Python's http.server: a thread for each request."""

    needs = "python3"

    def prepare(self):
        with open(f"{self.folder}/page", "wb") as file:
            file.write(PAGE)

    def command(self):
        return [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(self.port)]

    def fill_and_load(self):
        return Load(self.port, http(False))


class Redis(Server):
    """redis, with jemalloc."""

    needs = "redis-server"

    @staticmethod
    def words(port, folder):
        return ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", folder, "--save", "", "--enable-debug-command", "yes"]

    def command(self):
        return self.words(self.port, self.folder)

    def fill_and_load(self):
        return Load(self.port, ask_redis)


class Memcached(Server):
    """memcached, with four threads."""

    needs = "memcached"

    def command(self):
        return ["memcached", "-l", "127.0.0.1", "-p", str(self.port), "-u", "root", "-t", "4"]

    def fill_and_load(self):
        return Load(self.port, ask_memcached)


class Postgres(Server):
    """A process for each connection; root runs it as the user postgres."""

    needs = "pgbench"

    @classmethod
    def is_available(cls):
        return bool(shutil.which(cls.needs)) and os.path.isdir("/usr/lib/postgresql")

    def prepare(self):
        newest = sorted(os.listdir("/usr/lib/postgresql"))[-1]
        self.programs, self.data = f"/usr/lib/postgresql/{newest}/bin", f"{self.folder}/data"
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
            self.become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        subprocess.run([*self.become, f"{self.programs}/initdb", "-D", self.data, "-U", "memlog", "-A", "trust", "--no-sync"],
                       check=True, cwd="/", **QUIET)

    def place(self):
        return "/"

    def command(self):
        return [f"{self.programs}/postgres", "-D", self.data, "-p", str(self.port), "-k", self.folder, "-h", "127.0.0.1", "-c", "fsync=off"]

    def fill_and_load(self):
        line = ["pgbench", "-h", self.folder, "-p", str(self.port), "-U", "memlog", "-i", "-q", "postgres"]
        until("postgres takes the tables of pgbench", lambda: subprocess.run(line, check=False, **QUIET).returncode == 0)
        return Bench(self.folder, self.port)

    def target(self):
        """A process of the load."""
        backends = [pid for pid in children(self.main) if b"memlog postgres" in command_line(pid)]
        if not backends:
            raise ChildProcessError("postgres: no backend")
        return backends[0]
