"""nginx with two workers under load: files, compression, a proxy to itself, reloads meanwhile, a graceful stop."""

import gzip
import os
import re
import signal
import urllib.error
import urllib.request

from run import Failed, Suite, free_port

CONFIG = """
daemon {daemon};
{user}
worker_processes 2;
pid {place}/nginx.pid;
error_log {place}/error.log warn;
events {{ worker_connections 256; }}
http {{
    access_log {place}/access.log;
    client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
    default_type application/octet-stream;
    proxy_cache_path {place}/cache keys_zone=kept:1m max_size=4m;
    limit_req_zone $binary_remote_addr zone=slow:1m rate=1000r/s;
    server {{
        listen 127.0.0.1:{port} backlog=256;
        root {place}/www;
        gzip on; gzip_min_length 100; gzip_types *;
        location /sub/ {{ sub_filter_types *; sub_filter_once off; sub_filter line LINE; }}
        location /ssi/ {{ ssi on; ssi_types *; }}
        location /proxy/ {{ proxy_pass http://127.0.0.1:{port}/; proxy_buffers 4 4k; }}
        location /cached/ {{ proxy_pass http://127.0.0.1:{port}/; proxy_cache kept; proxy_cache_valid 200 1m; }}
        location ~ ^/match/(?<name>[a-z]+)/(\\d+)$ {{ return 200 "$name and $2\\n"; }}
        location /moved {{ return 301 /small.txt; }}
    }}
}}
"""


def write_files(place):
    www = place / "www"
    for folder in ("", "sub", "ssi"):
        (www / folder).mkdir(parents=True)
    (www / "small.txt").write_text("small\n")
    (www / "empty").write_text("")
    (www / "large.bin").write_bytes(bytes(n * 7919 >> 3 & 255 for n in range(1 << 20)))
    (www / "text.txt").write_text("".join(f"line {n} {n * n}\n" for n in range(20_000)))
    (www / "sub/text.txt").write_text((www / "text.txt").read_text())
    (www / "ssi/page").write_text('<!--#set var="a" value="b" --><!--#echo var="a" --> <!--#include virtual="/small.txt" -->\n')


PAGES = ["small.txt", "empty", "large.bin", "text.txt", "sub/text.txt", "ssi/page", "proxy/text.txt", "proxy/large.bin",
         "cached/text.txt", "match/abc/17", "match/abc/x", "moved", "nothing", "../outside", "proxy/proxy/proxy/small.txt"]


def fetch(port, page, headers):
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/{page}", headers=headers)
    try:
        with urllib.request.urlopen(asked, timeout=300) as answer:
            body = answer.read()
            packed = answer.headers.get("Content-Encoding") == "gzip"
            return f"{answer.status} {'packed ' if packed else ''}{digest(gzip.decompress(body) if packed else body)}"
    except urllib.error.HTTPError as error:
        return f"{error.code} {digest(error.read())}"


def own_user():
    """Workers of root's nginx become another user unless told not to be."""
    return "user root root;" if os.geteuid() == 0 else ""


def digest(body):
    import hashlib
    return f"{len(body)} {hashlib.sha256(body).hexdigest()}"


class Server:
    """nginx in the foreground, or as the daemon it makes of itself."""

    def __init__(self, run, daemon, gives_up_rights):
        self.run, self.port, self.pid_file = run, free_port(), run.place / "nginx.pid"
        (run.place / "nginx.conf").write_text(CONFIG.format(place=run.place, port=self.port, daemon="on" if daemon else "off",
                                                           user="" if gives_up_rights else own_user()))
        self.argv = ["nginx", "-p", run.place, "-c", run.place / "nginx.conf", "-e", run.place / "error.log"]
        run.must([*self.argv, "-t"])
        self.started = run.start(self.argv)
        run.until_true(lambda: self.pid_file.exists() and self.pid_file.read_text().strip(), "nginx does not start")
        self.pid = int(self.pid_file.read_text())

    def children(self):
        try:
            with open(f"/proc/{self.pid}/task/{self.pid}/children") as file:
                return file.read().split()
        except FileNotFoundError:
            return []

    def reload(self):
        """New workers take over; the old ones close what they still have open, and end."""
        before = set(self.children())
        os.kill(self.pid, signal.SIGHUP)
        self.run.until_true(lambda: len(set(self.children()) - before) >= 2 and not before & set(self.children()),
                            "no new workers after SIGHUP")

    def stop(self):
        os.kill(self.pid, signal.SIGQUIT)
        self.run.until_true(lambda: not self.pid_file.exists(), "nginx does not stop")
        return str(self.run.wait(self.started, "nginx stops"))


def load(run, port, page, count, *options):
    said = run.must(["ab", "-q", "-n", count, "-c", 20, *options, f"http://127.0.0.1:{port}/{page}"])
    return " ".join(re.findall(r"^(?:Complete requests|Failed requests|Non-2xx responses|HTML transferred|Document Length): +(.*)$", said, re.M))


def work(daemon, requests, gives_up_rights=False):
    def performed(run):
        write_files(run.place)
        server, results = Server(run, daemon, gives_up_rights), {}
        for page in PAGES:
            results[page] = fetch(server.port, page, {})
            results[f"{page}, packed"] = fetch(server.port, page, {"Accept-Encoding": "gzip"})
            results[f"{page}, a part"] = fetch(server.port, page, {"Range": "bytes=3-1000"})
        results["ab"] = load(run, server.port, "small.txt", requests)
        for page in ("small.txt", "text.txt", "proxy/text.txt", "cached/text.txt"):
            results[f"ab -k {page}"] = load(run, server.port, page, requests // (1 if page == "small.txt" else 10), "-k", "-H", "Accept-Encoding: gzip")
            server.reload()
            results[f"{page} after a reload"] = fetch(server.port, page, {})
        os.kill(server.pid, signal.SIGUSR1)
        said = run.must(["wrk", "-t", 2, "-c", 20, "-d", "2s", f"http://127.0.0.1:{server.port}/small.txt"])
        results["wrk's errors"] = str(re.findall(r"(Socket errors.*|Non-2xx.*)", said))
        if not re.search(r"(\d+) requests in", said):
            raise Failed(f"wrk says nothing of requests: {said[-200:]}")
        results["exit status"] = server.stop()
        logged = (run.place / "error.log").read_text()
        results["errors logged"] = re.sub(r"\d+", "N", "\n".join(line[20:] for line in logged.splitlines() if "[error]" not in line and "[warn]" not in line))
        return results
    return performed


# A master, two workers, and two more after each of four reloads; a daemon's first process as well.
SUITES = [
    Suite("nginx.foreground", "suites-long", work(False, 5_000), images={"nginx": 11, "ab": 5, "wrk": 1}),
    Suite("nginx.daemon", "suites-long", work(True, 2_000), images={"nginx": 12, "ab": 5, "wrk": 1}),
    Suite("nginx.rights", "suites-long", work(False, 1_000, gives_up_rights=True), images={"nginx": 11}),
]
