"""`memlog who` in gdb: of a server that runs, of a core file, and of one that gdb started."""

import re
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import figures
import memlog
import servers
from memlog import Under, all_whole, expect, log_of, whole

COMMANDS = Path(__file__).resolve().parents[3] / "include/debugger/memlog_debugger.py"
# No names are fetched, and nothing is asked.
SETTINGS = ["set confirm off", "set pagination off", "set debuginfod enabled off", "set breakpoint pending on", f"source {COMMANDS}"]


def gdb(words, lines, meanwhile=lambda: None):
    """What gdb says to these lines; meanwhile something is done, again and again."""
    line = ["gdb", "-q", "--nx", "-batch", *words]
    for one in [*SETTINGS, *lines]:
        line += ["-ex", one]
    child = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                             env={**servers.environment(), "MEMLOG": memlog.COMMAND})

    def again():
        while child.poll() is None:
            meanwhile()
            time.sleep(0.1)
    threading.Thread(target=again, daemon=True).start()
    try:
        return child.communicate(timeout=2 * servers.LONGEST_SECONDS)[0]
    except subprocess.TimeoutExpired:
        child.kill()
        raise memlog.Wrong(f"gdb does not end: {child.communicate()[0][-800:]}") from None


def answers(said, wanted):
    """The block that was found, with the function that is somewhere in its stack."""
    found = re.search(r"^([\d.,]+ (?:bytes|KiB|MiB)) at 0x[0-9a-f]+ \((?:it begins there|[\d,]+ bytes into it).*", said, re.M)
    expect(found and wanted in said, f"gdb says not who: {said[max(said.find('program: '), 0):][:1500]}")
    return found[1]


def asked(name, server):
    """Lines that bring gdb to a block and ask of it, what must be in its stack, and what is done meanwhile."""
    if name == "redis":
        address, function = server.client.address()
        return [f"memlog who {address}"], function, lambda: None
    if name == "nginx":
        # The first argument is the request: its own first block.
        page = f"http://127.0.0.1:{server.port}/page"
        return (["break ngx_http_finalize_request", "continue", "memlog who $rdi", "delete"], "ngx_create_pool",
                lambda: urllib.request.urlopen(page, timeout=300).read())
    return ["memlog who (long)MessageContext"], "AllocSetContextCreateInternal", lambda: None


def who(name, kind):
    """The clients are away: who waits for gdb would see an error."""
    with Under(kind, []) as under:
        server, core = under.server, under.folder / "core"
        server.fill(50)
        pid = server.target()
        log_of(pid)
        servers.until("clients have answers", server.load.count)
        server.load.end()
        lines, function, meanwhile = asked(name, server)
        said = gdb(["-p", str(pid)], [*lines, f"generate-core-file {core}", "memlog top", "detach"], meanwhile)
        block = answers(said, function)
        expect("live at end" in said, f"memlog top: {said[-800:]}")
        server.held()
        under.stop()
        all_whole(under.logs)
        expect(core.exists(), f"there is no core file: {said[-800:]}")
        again = gdb([program(name, server), str(core)], [line for line in lines if line.startswith("memlog")])
        expect(answers(again, function) == block, f"of the core file gdb says: {again[-800:]}")
        return f"memlog who in gdb: {block}, by {function}; the same of its core file and the log"


def program(name, server):
    return {"redis": "/usr/bin/redis-server", "nginx": "/usr/sbin/nginx"}.get(name) or f"{server.programs}/postgres"


def started(name, kind):
    """`record --gdb`: redis stands still amid a command, and gdb is asked of a block that redis has named itself."""
    port = servers.free_port()
    with tempfile.TemporaryDirectory(prefix="live-") as folder:
        log = Path(folder) / "it.memlog"
        line = [memlog.COMMAND, "record", "--gdb", "-o", log, *kind.words(port, folder)]
        with open(f"{folder}/said", "w+", encoding="utf-8", errors="replace") as said:
            child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=said, stderr=said, text=True, env={**servers.environment(), "MEMLOG": memlog.COMMAND})

            def types(*lines):
                child.stdin.write("".join(f"{line}\n" for line in lines))
                child.stdin.flush()
            try:
                # The first time it only says the address.
                types(*SETTINGS, "break debugCommand", "ignore 1 1", "run")
                servers.until("redis listens", lambda: child.poll() is None and servers.listens(port))
                client = figures.RedisClient(port)
                client.ask("SET", "kept:1", "x" * 1000)
                address, function = client.address()
                types(f"memlog who {address}", "memlog top", "delete", "continue")
                expect(client.address()[0] == address, "redis does not go on as before")
                client.ends()
                types("quit")
                code = child.wait(servers.LONGEST_SECONDS)
            finally:
                if child.poll() is None:
                    child.kill()
                    child.wait()
            said.seek(0)
            text = said.read()
        block = answers(text, function)
        expect("live at end" in text, f"memlog top: {text[-800:]}")
        expect(code == 0, f"memlog record --gdb ends with {code}: {text[-800:]}")
        whole(log)
        return f"record --gdb, break, memlog who, memlog top, continue: {block}, by {function}; redis went on and ended"


ROWS, ONLY = [("who", who)], {"redis": [("started", started)]}
