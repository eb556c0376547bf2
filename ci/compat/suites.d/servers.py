"""Servers as they are started on a machine: by root, for a user of their own, with workers; a load, and a stop."""

import os
import pwd
import re
import signal
import subprocess

from run import Failed, Suite, free_port
from steps import told

AB = r"^(?:Complete requests|Failed requests|Non-2xx responses|Document Length): +(.*)$"


def as_user(name):
    return ["setpriv", "--reuid", name, "--regid", name, "--clear-groups"]


def give_to(path, name):
    user = pwd.getpwnam(name)
    os.chown(path, user.pw_uid, user.pw_gid)


def load(run, port, page="", count=2000):
    """Requests, by a program that is not recorded."""
    said = run.plain(["ab", "-q", "-n", count, "-c", 10, f"http://127.0.0.1:{port}/{page}"])
    return " ".join(re.findall(AB, said, re.M))


def answers(port):
    return subprocess.run(["python3", "-c", f"import socket; socket.create_connection(('127.0.0.1', {port}), 1).close()"],
                          stderr=subprocess.DEVNULL).returncode == 0


def up(run, server, port):
    def asked():
        if server.poll() is not None:
            raise Failed(f"the server ends with {server.returncode}")
        return answers(port)
    run.until_true(asked, "the server does not answer")


def stop(run, server, number=signal.SIGTERM):
    os.kill(server.pid, number)
    return str(run.wait(server, "the server stops"))


def postgres(run):
    """initdb, a server and pgbench; each connection is a process of its own."""
    place, port = run.place / "data", free_port()
    place.mkdir()
    give_to(place, "postgres")
    binaries = sorted(p for p in os.listdir("/usr/lib/postgresql"))[-1]
    at = f"/usr/lib/postgresql/{binaries}/bin"
    run.must([*as_user("postgres"), f"{at}/initdb", "-D", place, "-A", "trust", "--no-sync"])
    server = run.start([*as_user("postgres"), f"{at}/postgres", "-D", place, "-p", port, "-k", place, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
    up(run, server, port)
    asked = lambda text: run.plain([f"{at}/psql", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-Atc", text])
    run.until_true(lambda: asked("select 1").strip() == "1", "postgres does not answer")
    results = {"filled": asked("create table t as select i, md5(i::text) as word from generate_series(1, 50000) i; create index on t(word); analyze t")}
    results["joined"] = asked("select count(*), max(a.word) from t a join t b on a.word = b.word where a.i % 7 = 0")
    results["sorted"] = asked("select string_agg(word, '' order by word desc) from t where i < 2000")[:200]
    run.plain([f"{at}/pgbench", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-i", "-q", "postgres"])
    said = run.plain([f"{at}/pgbench", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-n", "-c", "4", "-t", "200", "postgres"])
    results["pgbench"] = " ".join(re.findall(r"actually processed: (.*)|failed transactions: (\d+)", said)[0])
    results["exit status"] = stop(run, server, signal.SIGINT)
    return results


def mariadb(run):
    """Started by root, becomes mysql."""
    place, port = run.place / "data", free_port()
    place.mkdir()
    give_to(place, "mysql")
    # Small, without what a container may not have, and with temporary files where mysql may write.
    plain = ["--innodb-use-native-aio=0", "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=8M", f"--tmpdir={place}"]
    run.must(["mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={place}", "--auth-root-authentication-method=normal", "--skip-test-db", *plain])
    server = run.start(["mariadbd", "--no-defaults", "--user=mysql", f"--datadir={place}", f"--port={port}", f"--socket={place}/s", "--bind-address=127.0.0.1", *plain])
    up(run, server, port)
    asked = lambda text: run.plain(["mariadb", "--no-defaults", "-uroot", f"--socket={place}/s", "-NBe", text])
    results = {"filled": asked("create database d; create table d.t (i int primary key, word varchar(40), key (word)) as select seq as i, md5(seq) as word from seq_1_to_20000")}
    results["joined"] = asked("select count(*), max(a.word) from d.t a join d.t b on a.word = b.word where a.i % 7 = 0")
    results["sorted"] = told(asked("select word from d.t order by reverse(word) limit 5000"))
    for _ in range(20):
        asked("select count(*) from d.t where word like 'a%'")
    asked("shutdown")
    results["exit status"] = str(run.wait(server, "mariadbd stops"))
    return results


def apache(run):
    """Workers of www-data, with threads; the first process stays root."""
    port, www = free_port(), run.place / "www"
    www.mkdir()
    (www / "page").write_text("".join(f"line {n}\n" for n in range(2000)))
    modules = "mpm_event authz_core dir mime deflate filter"
    lines = [f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in modules.split()]
    lines += [f"Listen 127.0.0.1:{port}", f"ServerRoot {run.place}", f"PidFile {run.place}/pid", f"ErrorLog {run.place}/errors", "ServerName localhost",
              f"DocumentRoot {www}", "User www-data", "Group www-data", "TypesConfig /etc/mime.types", "StartServers 2", "SetOutputFilter DEFLATE",
              f"Mutex file:{run.place}"]
    (run.place / "conf").write_text("\n".join(lines) + "\n")
    server = run.start(["apache2", "-d", run.place, "-f", run.place / "conf", "-DFOREGROUND"])
    up(run, server, port)
    results = {"load": load(run, port, "page")}
    return {**results, "exit status": stop(run, server)}


def memcached(run):
    """Threads, started by root, becomes nobody."""
    import socket
    port = free_port()
    server = run.start(["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", port, "-t", "4", "-m", "64"])
    up(run, server, port)
    sums = []
    for client in range(8):
        with socket.create_connection(("127.0.0.1", port)) as talk:
            file = talk.makefile("rwb")
            for n in range(500):
                body = b"x" * (n * 7 % 900)
                file.write(b"set key%d-%d 0 0 %d\r\n%s\r\n" % (client, n, len(body), body))
            file.write(b"get key%d-499\r\n" % client)
            file.flush()
            sums.append(sum(file.readline() == b"STORED\r\n" for _ in range(500)))
            sums.append(file.readline().decode().strip())
    return {"answers": str(sums), "exit status": stop(run, server)}


HAPROXY = """
global
    user nobody
    group nogroup
    nbthread 2
    maxconn 200
defaults
    mode http
    timeout connect 60s
    timeout client 60s
    timeout server 60s
frontend f
    bind 127.0.0.1:{port}
    http-request set-header X-A %[rand(9),crc32]
    http-request return status 200 content-type text/plain string "hello" if { path /here }
    default_backend b
backend b
    http-request return status 404 content-type text/plain string "none"
"""


def haproxy(run):
    """Says that it wants no new rights."""
    port = free_port()
    (run.place / "conf").write_text(HAPROXY.replace("{port}", str(port)))
    server = run.start(["haproxy", "-W", "-db", "-f", run.place / "conf"])
    up(run, server, port)
    results = {"load": load(run, port, "here"), "none": load(run, port, "there", 200)}
    return {**results, "exit status": stop(run, server)}


def lighttpd(run):
    port, www = free_port(), run.place / "www"
    www.mkdir()
    (www / "page").write_text("".join(f"line {n}\n" for n in range(2000)))
    (run.place / "conf").write_text(f'server.port = {port}\nserver.bind = "127.0.0.1"\nserver.document-root = "{www}"\n'
                                    'server.username = "www-data"\nserver.groupname = "www-data"\n')
    server = run.start(["lighttpd", "-D", "-f", run.place / "conf"])
    up(run, server, port)
    results = {"load": load(run, port, "page")}
    return {**results, "exit status": stop(run, server)}


def dnsmasq(run):
    """Becomes nobody, in a group of its own, and keeps some rights."""
    port = free_port()
    hosts = "".join(f"10.0.{n // 250}.{n % 250} host{n}\n" for n in range(5000))
    (run.place / "hosts").write_text(hosts)
    server = run.start(["dnsmasq", "-k", "-u", "nobody", "-p", port, "-a", "127.0.0.1", "-z", "-R", "-h", "-H", run.place / "hosts", "-x", run.place / "pid", "-C", "/dev/null"])
    up(run, server, port)
    ask = ("import socket, struct\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(60); got = 0\n"
           "for n in range(300):\n name = f'host{n}'.encode(); s.sendto(struct.pack('>HHHHHH', n, 256, 1, 0, 0, 0) + bytes([len(name)]) + name + b'\\0\\0\\1\\0\\1', ('127.0.0.1', %d))\n"
           " got += len(s.recv(512))\nprint(got)" % port)
    return {"answers": run.plain(["python3", "-c", ask]), "exit status": stop(run, server)}


def sshd(run):
    """A process for each connection, one of them shut in a folder as another user."""
    port, key = free_port(), run.place / "host"
    os.makedirs("/run/sshd", exist_ok=True)
    run.build(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key])
    (run.place / "conf").write_text(f"Port {port}\nListenAddress 127.0.0.1\nHostKey {key}\nPidFile {run.place}/pid\nStrictModes no\nUsePAM no\n"
                                    f"PermitRootLogin yes\nAuthorizedKeysFile {key}.pub\n")
    server = run.start(["/usr/sbin/sshd", "-D", "-e", "-f", run.place / "conf"])
    up(run, server, port)
    words = ["ssh", "-F", "none", "-i", key, "-p", port, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "root@127.0.0.1"]
    said = [told(run.plain([*words, f"seq {n}00 | sha256sum"])) for n in range(1, 6)]
    return {"answers": str(said), "exit status": stop(run, server)}


def slapd(run):
    """Becomes openldap; threads."""
    port, place = free_port(), run.place / "ldap"
    place.mkdir()
    give_to(place, "openldap")
    (run.place / "conf").write_text("include /etc/ldap/schema/core.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\n"
                                    f"pidfile {place}/pid\ndatabase mdb\nmaxsize 67108864\nsuffix dc=a\nrootdn cn=r,dc=a\nrootpw s\ndirectory {place}\n")
    server = run.start(["slapd", "-d", "0", "-u", "openldap", "-g", "openldap", "-h", f"ldap://127.0.0.1:{port}", "-f", run.place / "conf"])
    up(run, server, port)
    entries = "dn: dc=a\nobjectClass: dcObject\nobjectClass: organization\ndc: a\no: a\n\n"
    entries += "".join(f"dn: cn=p{n},dc=a\nobjectClass: person\ncn: p{n}\nsn: s{n * 7919 % 1000}\n\n" for n in range(500))
    (run.place / "entries").write_text(entries)
    bind = ["-x", "-H", f"ldap://127.0.0.1:{port}", "-D", "cn=r,dc=a", "-w", "s"]
    results = {"added": told(run.plain(["ldapadd", *bind, "-f", run.place / "entries"]))}
    results["found"] = told(run.plain(["ldapsearch", *bind, "-LLL", "-b", "dc=a", "(sn=s1*)", "cn"]))
    return {**results, "exit status": stop(run, server)}


PHP_FPM = """
[global]
error_log = {place}/errors
[www]
user = www-data
group = www-data
listen = {place}/s
listen.mode = 0666
pm = static
pm.max_children = 2
"""


def php_fpm(run):
    """Workers of www-data, asked by a web server."""
    port, www = free_port(), run.place / "www"
    www.mkdir()
    (www / "page.php").write_text("<?php $a = []; for ($i = 0; $i < 20000; $i++) $a[] = md5((string)$i); sort($a); echo count($a), ' ', $a[77], json_encode(array_slice($a, 0, 20));")
    (run.place / "fpm").write_text(PHP_FPM.format(place=run.place))
    (run.place / "conf").write_text(f'server.port = {port}\nserver.bind = "127.0.0.1"\nserver.document-root = "{www}"\nserver.modules = ("mod_fastcgi")\n'
                                    f'fastcgi.server = (".php" => (("socket" => "{run.place}/s")))\n')
    binary = sorted(name for name in os.listdir("/usr/sbin") if name.startswith("php-fpm"))[-1]
    fpm = run.start([binary, "-F", "-y", run.place / "fpm", "-R"])
    run.until_true(lambda: (run.place / "s").exists(), "php-fpm does not start")
    server = run.start(["lighttpd", "-D", "-f", run.place / "conf"])
    up(run, server, port)
    results = {"load": load(run, port, "page.php", 100), "of lighttpd": stop(run, server)}
    return {**results, "exit status": stop(run, fpm, signal.SIGQUIT)}


def of(name, work, needs, images, version):
    return Suite(f"servers.{name}", "others-servers", work, files=tuple(needs), images=images, version=tuple(version), is_roots=True)


SUITES = [
    of("postgres", postgres, ["/usr/lib/postgresql", "setpriv"], {"postgres": 8, "initdb": 1}, ["psql", "--version"]),
    of("mariadb", mariadb, ["mariadbd"], {"mariadbd": 2}, ["mariadbd", "--version"]),
    of("apache", apache, ["apache2"], {"apache2": 3}, ["apache2", "-v"]),
    of("memcached", memcached, ["memcached"], {"memcached": 1}, ["memcached", "-V"]),
    of("haproxy", haproxy, ["haproxy"], {"haproxy": 2}, ["haproxy", "-v"]),
    of("lighttpd", lighttpd, ["lighttpd"], {"lighttpd": 1}, ["lighttpd", "-v"]),
    of("dnsmasq", dnsmasq, ["dnsmasq"], {"dnsmasq": 1}, ["dnsmasq", "-v"]),
    of("sshd", sshd, ["/usr/sbin/sshd"], {"sshd": 6}, ["ssh", "-V"]),
    of("slapd", slapd, ["slapd", "ldapadd"], {"slapd": 1}, ["slapd", "-VV"]),
    of("php-fpm", php_fpm, ["lighttpd"], {}, ["php", "--version"]),
]
