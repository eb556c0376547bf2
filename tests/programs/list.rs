//! The programs, each with the work it is given.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program, or why it is not run.
type Prepared = Result<(PathBuf, Vec<OsString>), String>;

/// A program with its work.
pub struct Program {
    pub name: &'static str,
    /// Writes into the folder that the program will work in; `stdin` there is
    /// its input.
    pub prepare: fn(&Path) -> Prepared,
    pub environment: &'static [(&'static str, &'static str)],
    /// One stack in so many events is compared.
    pub every: u32,
}

const fn program(name: &'static str, every: u32, prepare: fn(&Path) -> Prepared) -> Program {
    Program {
        name,
        prepare,
        environment: &[],
        every,
    }
}

pub const PROGRAMS: &[Program] = &[
    program("sqlite3", 32, sqlite3),
    Program {
        environment: &[("PYTHONMALLOC", "malloc"), ("OPENBLAS_NUM_THREADS", "2")],
        ..program("python3", 128, python3)
    },
    program("cc1plus", 128, cc1plus),
    program("git", 16, git),
    program("perl", 64, perl),
    program("node", 16, node),
    program("jq", 128, jq),
    program("xmllint", 16, xmllint),
    program("xz", 1, xz),
    program("gdb", 128, gdb),
    Program {
        environment: &[("GOLD_STACKS_EXE", "hello")],
        ..program("mpi", 1, mpi)
    },
];

/// In the places where Debian has its programs.
fn find(name: &str) -> Result<PathBuf, String> {
    let mut paths = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
    let found = paths.iter_mut().find(|path| path.exists());
    found
        .map(std::mem::take)
        .ok_or(format!("{name} is not installed"))
}

fn write(place: &Path, name: &str, content: &str) {
    std::fs::write(place.join(name), content).expect("a file for the program");
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn sqlite3(place: &Path) -> Prepared {
    let program = find("sqlite3")?;
    let sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT, number REAL);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
        INSERT INTO t SELECT i, printf('%x-%d', i * 7919 % 65537, i), i * 0.5 FROM n;
        CREATE INDEX by_word ON t(word);
        SELECT substr(word, 1, 2) AS head, count(*), group_concat(id) FROM t GROUP BY head;
        SELECT a.word FROM t a JOIN t b ON a.id = b.id + 1 WHERE b.word LIKE '1%' ORDER BY a.number DESC;
        UPDATE t SET word = upper(word) || hex(randomblob(8)) WHERE id % 3 = 0;
        DELETE FROM t WHERE id % 5 = 0;
        SELECT json_group_array(json_object('id', id, 'word', word)) FROM t WHERE id < 5000;
        VACUUM;\n";
    write(place, "stdin", sql);
    Ok((program, words(&[":memory:"])))
}

fn python3(place: &Path) -> Prepared {
    let script = "
import collections, json, re, sqlite3, threading, zlib
def work(seed):
    rows = [{'id': i, 'name': 'n%d' % (i * seed), 'tags': [str(j) for j in range(i % 7)]} for i in range(20000)]
    again = json.loads(json.dumps(rows))
    words = collections.Counter(re.findall(r'n\\d+', json.dumps(again)))
    return len(words), zlib.crc32(zlib.compress(repr(words.most_common(50)).encode()))
threads = [threading.Thread(target=work, args=(seed,)) for seed in (3, 5)]
[t.start() for t in threads]; [t.join() for t in threads]
db = sqlite3.connect(':memory:')
db.execute('create table t(a, b)')
db.executemany('insert into t values (?, ?)', ((i, str(i)) for i in range(20000)))
print(db.execute('select sum(a), max(b) from t').fetchone())
try:
    import numpy
    a = numpy.arange(300 * 300, dtype=float).reshape(300, 300)
    for i in range(20):
        a = numpy.tanh(a @ a.T / 1e9 + i)
    names = numpy.array(['x%d' % i for i in range(20000)], dtype=object)
    print(numpy.linalg.svd(a)[1][:3], len(numpy.unique(names)))
except ImportError:
    print('no numpy')
";
    write(place, "work.py", script);
    Ok((find("python3")?, words(&["work.py"])))
}

fn cc1plus(place: &Path) -> Prepared {
    let program = find("g++")?;
    let mut source = String::from(
        "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n\
         #include <regex>\n#include <string>\n#include <unordered_map>\n#include <vector>\n",
    );
    for n in 0..12 {
        let _ = writeln!(
            source,
            "struct K{n} {{ int a; std::string b; bool operator<(const K{n} &o) const {{ return b < o.b; }} }};\n\
             int work{n}(std::vector<K{n}> v) {{\n\
             \u{20}   std::map<K{n}, std::vector<std::string>> m;\n\
             \u{20}   std::sort(v.begin(), v.end());\n\
             \u{20}   for (auto &k : v) m[k].push_back(k.b + \"{n}\");\n\
             \u{20}   std::function<int(int)> f = [&](int i) {{ return i ? f(i - 1) + {n} : 0; }};\n\
             \u{20}   return f(m.size()) + std::regex_match(v[0].b, std::regex(\"[a-z]*{n}\"));\n}}"
        );
    }
    write(place, "big.cpp", &source);
    Ok((program, words(&["-O2", "-c", "big.cpp", "-o", "big.o"])))
}

fn git(place: &Path) -> Prepared {
    find("git")?;
    let script = "set -e
        export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        /usr/bin/git init -q repository
        cd repository
        {
            n=0
            while [ $n -lt 3000 ]; do
                n=$((n + 1))
                printf 'commit refs/heads/main\\ncommitter a <a@b> %d +0000\\ndata 6\\nchange\\n' $((1600000000 + n))
                printf 'M 644 inline d%d/f%d\\ndata <<END\\nline %d\\nmore\\nEND\\n\\n' $((n % 17)) $((n % 201)) $n
            done
        } | /usr/bin/git fast-import --quiet
        /usr/bin/git checkout -q main
        /usr/bin/git log --stat -n 400 main
        /usr/bin/git log --oneline --graph main
        echo more >> d1/f1
        /usr/bin/git commit -q -a -m more
        /usr/bin/git gc -q
        /usr/bin/git fsck
        /usr/bin/git blame d1/f1\n";
    write(place, "work.sh", script);
    Ok((find("sh")?, words(&["work.sh"])))
}

fn perl(place: &Path) -> Prepared {
    let script = r#"
use strict; use warnings; use List::Util qw(sum); use Data::Dumper; use Storable qw(dclone);
my %words;
for my $i (1 .. 60000) { my $w = sprintf '%x', $i * 7919 % 65537; push @{ $words{substr $w, 0, 3} }, { word => $w, at => $i }; }
my $copy = dclone(\%words);
my @sorted = sort { $a->{word} cmp $b->{word} } map { @$_ } values %$copy;
my $text = join ',', map { $_->{word} } @sorted;
my $count = 0; $count++ while $text =~ /([a-f]+)(\d*)/g;
sub deep { my ($n) = @_; return $n ? [ deep($n - 1) ] : 'leaf' }
local $Data::Dumper::Indent = 0;
print $count, ' ', length(Dumper(deep(90))), ' ', sum(map { $_->{at} } @sorted), "\n";
"#;
    write(place, "work.pl", script);
    Ok((find("perl")?, words(&["work.pl"])))
}

fn node(place: &Path) -> Prepared {
    let script = "
const zlib = require('zlib'), crypto = require('crypto');
const rows = [];
for (let i = 0; i < 60000; i++) rows.push({ id: i, word: crypto.createHash('md5').update(String(i)).digest('hex') });
const text = JSON.stringify(rows);
const again = JSON.parse(zlib.gunzipSync(zlib.gzipSync(text)).toString());
const buffers = [];
for (let i = 0; i < 5000; i++) buffers.push(Buffer.alloc(10000, i % 256));
again.sort((a, b) => (a.word < b.word ? -1 : 1));
zlib.gzip(text, (error, packed) => console.log(again[0].word, packed.length, buffers.length));
";
    write(place, "work.js", script);
    Ok((find("node")?, words(&["work.js"])))
}

fn jq(place: &Path) -> Prepared {
    let program = find("jq")?;
    let mut json = String::from("[");
    let mut n = 0;
    while json.len() < 10 << 20 {
        let comma = if n == 0 { "" } else { "," };
        let _ = write!(
            json,
            "{comma}{{\"id\":{n},\"name\":\"name {}\",\"tags\":[\"a{}\",\"b\"],\"at\":{{\"x\":{}.5,\"y\":null}}}}",
            n * 7919 % 65537,
            n % 100,
            n % 1000,
        );
        n += 1;
    }
    json.push(']');
    write(place, "big.json", &json);
    let filter =
        "group_by(.tags[0]) | map({tag: .[0].tags[0], names: map(.name) | unique | length})";
    Ok((program, words(&[filter, "big.json"])))
}

fn xmllint(place: &Path) -> Prepared {
    let program = find("xmllint")?;
    let mut xml = String::from("<?xml version=\"1.0\"?>\n<list xmlns:x=\"urn:x\">\n");
    for n in 0..400 {
        let _ = writeln!(
            xml,
            "<x:item id=\"i{n}\" kind=\"k{}\"><name>name {n}</name><![CDATA[a < {n}]]></x:item>",
            n % 7
        );
    }
    xml.push_str("</list>\n");
    write(place, "list.xml", &xml);
    let path = "//*[@kind='k3'][position() mod 2 = 1]/name";
    Ok((program, words(&["--xpath", path, "list.xml"])))
}

/// Four blocks, two threads.
fn xz(place: &Path) -> Prepared {
    let program = find("xz")?;
    let lines = (0..200_000u32).map(|n| format!("{:x} {n}\n", n.wrapping_mul(2_654_435_761)));
    write(place, "stdin", &lines.collect::<String>());
    Ok((program, words(&["-1", "-T2", "--block-size=1MiB", "-c"])))
}

/// It reads the symbols of a library, and says what it found.
fn gdb(place: &Path) -> Prepared {
    let program = find("gdb")?;
    write(
        place,
        "work.gdb",
        "info functions alloc\ninfo line malloc\nx/50i malloc\n",
    );
    let libraries = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"];
    let library = libraries.into_iter().find(|path| Path::new(path).exists());
    let library = library.ok_or("there is no libc.so.6")?;
    Ok((
        program,
        words(&["-nx", "-batch", "-x", "work.gdb", library]),
    ))
}

fn mpi(place: &Path) -> Prepared {
    let (launcher, compiler) = match (find("mpiexec.mpich"), find("mpicc.mpich")) {
        (Ok(launcher), Ok(compiler)) => (launcher, compiler),
        _ => return Err("mpich is not installed".to_owned()),
    };
    let source = "#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int rank, ranks, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < 2000; i++) {
        char *p = malloc(i * 50);
        memset(p, rank, i * 50);
        MPI_Bcast(p, i * 50, MPI_CHAR, i % ranks, MPI_COMM_WORLD);
        sum += p[i];
        free(p);
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return ranks != 2;
}
";
    write(place, "hello.c", source);
    let mut build = Command::new(compiler);
    build
        .args(["-O2", "-g", "hello.c", "-o", "hello"])
        .current_dir(place);
    match build.stderr(Stdio::null()).status() {
        Ok(status) if status.success() => {}
        _ => return Err("mpicc.mpich cannot compile".to_owned()),
    }
    Ok((launcher, words(&["-n", "2", "./hello"])))
}
