"""What builds and keeps programs: gcc and g++, make with many jobs, git, perl with forks and threads, a shell's pipelines."""

import hashlib
import re

from run import Suite

PERL = r"""
use strict; use warnings; use Config; use List::Util qw(sum); use Storable qw(dclone freeze); use Digest::SHA qw(sha256_hex); use POSIX ":sys_wait_h";
my %words;
for my $i (1 .. 60000) { my $w = sprintf '%x', $i * 7919 % 65537; push @{ $words{substr $w, 0, 3} }, { word => $w, at => $i }; }
my @sorted = sort { $a->{word} cmp $b->{word} or $a->{at} <=> $b->{at} } map { @$_ } values %{ dclone(\%words) };
my $text = join ',', map { $_->{word} } @sorted;
my $count = 0; $count++ while $text =~ /([a-f]+)(\d*)/g;
print "words $count ", sha256_hex($text), "\n";
my @said;
for my $n (1 .. 60) {
    pipe my $read, my $write; my $pid = fork // die;
    if (!$pid) { my @kept = map { 'x' x $_ } 1 .. $n * 10; print $write length(join '', @kept); close $write; exit $n % 7 }
    close $write; my $line = <$read>; waitpid $pid, 0; push @said, $line . ':' . ($? >> 8);
}
print "forks @said\n";
print "backticks ", join('', map { my $n = $_; scalar `echo $n | tr 0-9 a-j` } 1 .. 20);
$SIG{ALRM} = sub { die "alarm\n" };
print "alarms ", join(' ', map { my $said = eval { alarm 1; my @a; push @a, 'x' x 1000 while @a < 1e4; select undef, undef, undef, 3; 1 } ? 'none' : $@; chomp $said; $said } 1 .. 2), "\n";
if ($Config{useithreads}) {
    require threads; require threads::shared;
    my @threads = map { my $n = $_; threads->create(sub { my %h; $h{$_ % 100} .= 'x' for 1 .. 5000 * $n; return sum map { length } values %h }) } 1 .. 6;
    print "threads ", join(' ', map { $_->join } @threads), "\n";
}
"""

GIT = r"""set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_DATE='1600000000 +0000' GIT_COMMITTER_DATE='1600000000 +0000'
/usr/bin/git init -q -b main repository; cd repository
n=0; while [ $n -lt 3000 ]; do
    n=$((n + 1))
    printf 'commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata 6\nchange\n' $((1600000000 + n))
    printf 'M 644 inline d%d/f%d\ndata <<END\nline %d\nmore\nEND\n\n' $((n % 17)) $((n % 201)) $n
done | /usr/bin/git fast-import --quiet
/usr/bin/git checkout -q main
/usr/bin/git log --stat -n 300 main; /usr/bin/git log --oneline --graph main
/usr/bin/git checkout -q -b side HEAD~50; echo side > d1/side; /usr/bin/git add d1/side; /usr/bin/git commit -q -m side
/usr/bin/git checkout -q main; /usr/bin/git merge -q -m merged side; /usr/bin/git rebase -q main side
/usr/bin/git repack -a -d -q --threads=4; /usr/bin/git fsck --full; /usr/bin/git blame d1/side
/usr/bin/git clone -q --no-local . ../copy; /usr/bin/git -C ../copy rev-parse HEAD
/usr/bin/git grep -c line | sort; /usr/bin/git archive HEAD | sha256sum
"""

SHELL = r"""
i=0; while [ $i -lt 200 ]; do i=$((i + 1)); x=$(echo $i | sed s/1/one/ | tr a-z A-Z); printf '%s ' "$x"; done; echo
seq 1 200000 | sort -R --random-source=/etc/services | sort -n --parallel=4 -S 2M | awk '{ s += $1; k[$1 % 1000] = k[$1 % 1000] "x" } END { print s, length(k[7]) }'
(exit 7); echo $?; (kill -9 $BASHPID) 2>/dev/null; echo $?; sh -c 'kill -SEGV $$' 2>/dev/null; echo $?
cat <(seq 10) <(seq 20) | xz -9 | xz -d | sha256sum; find /usr/share/doc/b* | sort | xargs -n 5 -P 4 true; echo $?
trap 'echo ended' EXIT; ulimit -v 4000000; coproc cat; echo word >&"${COPROC[1]}"; read -r said <&"${COPROC[0]}"; echo "$said"
"""

MAKE = """all: $(patsubst %.c,%.o,$(wildcard *.c)) big.oxx
\tar rcsD lib.a $(filter %.o,$^)
\tgcc -shared -Wl,--build-id=none -o lib.so $(filter %.o,$^)
%.o: %.c
\tgcc -O2 -g -fPIC -c $< -o $@
big.oxx: big.cpp
\tg++ -O2 -flto -ffat-lto-objects -frandom-seed=1 -c $< -o $@
"""


def sources(place):
    for n in range(24):
        body = "".join(f"static int f{n}_{m}(const int *a, int k) {{ int s = {m}; for (int i = 0; i < k; i++) s += a[i] * (s ^ {n}) % ({m} + 3); return s; }}\n"
                       for m in range(60))
        calls = " + ".join(f"f{n}_{m}(a, k)" for m in range(60))
        (place / f"s{n}.c").write_text(f"#include <stdio.h>\n#include <stdlib.h>\n{body}int all{n}(const int *a, int k) {{ return {calls}; }}\n")
    kinds = "".join(
        f"struct K{n} {{ int a; std::string b; bool operator<(const K{n} &o) const {{ return b < o.b; }} }};\n"
        f"int work{n}(std::vector<K{n}> v) {{ std::map<K{n}, std::vector<std::string>> m; std::sort(v.begin(), v.end());\n"
        f"  for (auto &k : v) m[k].push_back(k.b + \"{n}\"); return m.size() + std::regex_match(v[0].b, std::regex(\"[a-z]*{n}\")); }}\n"
        for n in range(6))
    (place / "big.cpp").write_text("#include <algorithm>\n#include <map>\n#include <regex>\n#include <string>\n#include <vector>\n" + kinds)
    (place / "Makefile").write_text(MAKE)


def compilers(run):
    sources(run.place)
    run.must(["make", "-s", "-j4"])
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(run.place.iterdir()) if path.suffix in (".o", ".oxx", ".a", ".so")}


def script(name, text, *argv):
    def performed(run):
        (run.place / name).write_text(text)
        code, out, err = run.call([*argv, name])
        if code:
            run.fail(f"exit {code}: {err[-300:]}")
        results = {f"line {number}": line for number, line in enumerate(out.splitlines())}
        results["exit status"], results["errors"] = str(code), re.sub(r"\d+", "N", err)
        return results
    return performed


SUITES = [
    Suite("toolchain.gcc", "suites-long", compilers, images={"cc1": 24, "cc1plus": 1, "make": 1, "x86_64-linux-gnu-as": 25}),
    Suite("toolchain.git", "suites-long", script("work.sh", GIT, "sh"), files=("/usr/bin/git",), images={"git": 20}),
    Suite("toolchain.perl", "suites-long", script("work.pl", PERL, "perl"), images={"perl": 61}),
    Suite("toolchain.shell", "suites-long", script("work.sh", SHELL, "bash"), images={"bash": 100, "sort": 2}, kills=True),
]
