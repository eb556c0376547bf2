//! What stands at the end of the help of each command: more about it, and
//! examples.

pub const FIRST_STEPS: &str = "\
First steps:
  memlog record ./program args      record it; the log's name is said at the end
  memlog summary HOST.PID.memlog    then see what held its memory";

pub const RECORD: &str = "\
The program runs with its own input, output and exit status, and a recorder that is preloaded writes \
every allocation and its stack into a log. Each process that it starts has a log of its own. At the \
end memlog says where the log is, what it lacks, and what to do next.

Examples:
  memlog record ./program args       the log is HOST.PID.memlog in this folder
  memlog record -o logs/ make -j4    a log for each process, in logs/
  memlog record --cull 10ms --max-log 2G ./server    only sums of what lived less than 10 ms
  memlog record --alloc-func 'pool_get(size)=pool_put(ptr)' ./program";

pub const ATTACH: &str = "\
The program needs no preparation, and calls nothing for it: memlog stops it for some milliseconds, maps \
the recorder into it, and leads its calls of malloc there. What was allocated before is inherited: it is \
no part of the figures, and its releases are no errors. memlog refuses with the reason where that \
cannot be safe: static programs, seccomp filters, another C library than glibc, other processors than \
x86_64. Programs that it executes later are not recorded. In a container, the log goes to its /tmp. \
memlog ctl PID works as with record.

Examples:
  memlog attach 5912                       until memlog detach 5912, or until it ends
  memlog attach 5912 --for 30s             wait for 30 s, then detach
  memlog attach 5912 -o /var/tmp/%e.%p.memlog";

pub const DETACH: &str = "\
Its calls go to its allocator again as if memlog had never been there, and it runs as fast as before. \
The recorder stays in its memory, asleep: a thread may still be on its way through. memlog attach begins \
again, in the same log.

Examples:
  memlog detach 5912
  memlog detach 5912 --wait 1m             it loads libraries all the time";

pub const CTL: &str = "\
The program does it when it allocates or frees next, and says so: the command waits for that. Off \
costs the program next to nothing. What is allocated while recording is off is not known, nor what \
became of the blocks of before when it is on again; every page says from when to when that was. Only \
who may write the log may ask.

Examples:
  memlog record --start-disabled ./server &
  memlog ctl 5912 start              record from now on
  memlog ctl 5912 mark 'phase 3'     give this moment a name: memlog table --at 'mark \"phase 3\"'
  memlog ctl -r 5912 stop            it, and the programs that it has started";

pub const TOP: &str = "\
It reads the log, which grows, and not the program: nothing stops or slows down for it, and it can \
begin at any time. Of a folder it shows each process with a line, and Enter goes into one. Keys: \
s sorts by the next column, / filters, Tab shows threads, Enter shows the stacks of a line and p \
pauses; ? shows all of them. Without a terminal it prints one frame, as --batch does.

Examples:
  memlog top 5912                     a process that is recorded
  memlog top vm.5912.memlog           its log, on this machine or another one
  memlog top logs/                    all processes of a job
  memlog top --batch -n 3 5912        three frames as plain text";

pub const FOLLOW: &str = "\
It reads the log, which grows, and ends when the program does, with a last snapshot, or at Ctrl-C. A \
snapshot has the stacks that did something since the one before and hold memory: live bytes, and what \
came and went since that one and since the beginning. That is the form of pmem, with bytes. --top \
writes the stacks that hold most, with inlined functions and lines. With --every-churn and --every a \
snapshot comes when either is due. The file of --prometheus is for the textfile collector of \
node_exporter.

Examples:
  memlog follow 5912                                   a snapshot at each MiB of churn
  memlog follow --every 30s --top 10 -o top.txt vm.5912.memlog
  memlog follow --wait --every-churn 64MiB server.memlog
  memlog follow --prometheus /var/lib/node_exporter/server.prom 5912";

pub const SUMMARY: &str = "\
It shows the peaks of resident memory and of the heap, what the first consists of, how both went over \
time, which threads and scopes the heap is of, and the places that held most, that mapped most and that allocated most often. A place is a function and line that called the allocator; report and tree say who called it.

Examples:
  memlog summary vm.5912.memlog
  memlog summary --json vm.5912.memlog | jq '.held[0]'
  memlog summary --debug-symbols build/ vm.5912.memlog    it ran on another machine";

pub const REPORT: &str = "\
The roots of a tree are the functions that called the allocator, their children are the callers: \
behind <- those by which all of it came, on lines of their own those by which a part came. A line has \
its share, bytes and blocks. Without an option it is of the moment of the largest resident set, as the \
kernel counts it. Snapshots have numbers from 0; a realloc frees and allocates, so it counts twice in \
what came and went. --output-graphs writes the trees for gprof2dot, LOG.snapshot-3.json and so on.

Examples:
  memlog report --show-leaks vm.5912.memlog    what was not released
  memlog report --mapped vm.5912.memlog        what the program mapped itself
  memlog report --at 50% --where 'size >= 1MiB' vm.5912.memlog
  memlog report --every 2s --show-snapshot-deltas vm.5912.memlog    what grew, and when";

pub const TREE: &str = "\
From the bottom up it is the tree of `memlog report`. From the top down it begins at main, and each \
function has all that was allocated below it; behind -> stand callees by which all of it came; --times \
adds when the first and the last of it came. --by freed is of who freed; with --where 'died in 1s..2s', of what went between two moments.

Examples:
  memlog tree --top-down vm.5912.memlog    from main down to who allocated
  memlog tree --at end --top-down --exclude-module libc vm.5912.memlog
  memlog tree --top-down --times --where leaked vm.5912.memlog
  memlog tree --debug-symbols build/ vm.5912.memlog    it ran on another machine";

pub const TABLE: &str = "\
It counts all blocks of the run, each once; --at counts those that were live at a moment, --where \
those for which an expression holds. A block belongs to the function that asked for it. The column \
`with callees` has the same with what the functions that it called asked for. --by freed-by says which \
thread freed, --by freed-function which function, if it was recorded with --free-stacks. --list has \
single blocks; what moved in a realloc has the number of its chain's first block and its place behind \
that.

Examples:
  memlog table vm.5912.memlog                      by function, all blocks of the run
  memlog table --at rss-peak --by line --curve vm.5912.memlog    and what each held over the run
  memlog table --where static-init --by static-init vm.5912.memlog    before main
  memlog table --list --sort lifetime --where 'size >= 1MiB' vm.5912.memlog    single blocks";

pub const LEAKS: &str = "\
A block that was never freed may still have been of use: much of a program's memory is left to the \
kernel at the end on purpose. What a server loses is found by what grows: --between and --growing show \
what was live of a group before and after. --suppressions takes the file of LeakSanitizer, and tells \
what each of its lines covers.

Examples:
  memlog leaks --by stack --top 5 vm.5912.memlog
  memlog leaks --growing vm.5912.memlog               grew in every tenth of the run
  memlog leaks --between 20% 80% vm.5912.memlog       came between, and still live at 80%
  memlog leaks --older-than 50% --suppressions lsan.supp vm.5912.memlog";

pub const DIFF: &str = "\
The logs may be of two builds of a program: functions are the same by their names, without hashes, \
numbers of closures and versions of libraries, wherever their code and their lines lie. A stack that \
lacks functions that the other build has not inlined is the same stack. A row has what was live \
before and after, and what changed; what did not change has none. Of two moments of one log it is \
what grew meanwhile. --tree shows who called for it; -o draws both as one flame graph, in red what grew \
and in blue what shrank.

Examples:
  memlog diff old.memlog new.memlog                 at the RSS peak of each
  memlog diff --by stack --top 5 old.memlog new.memlog
  memlog diff -o diff.html old.memlog new.memlog    to click in; .svg: a picture
  memlog diff --at 20% --at end vm.5912.memlog      what grew in one run";

pub const RANKS: &str = "\
Of each rank its own process counts, not what it started; of several processes of a rank the one that \
was biggest; of several jobs the one of --job. Least and mean are over all ranks: where some do not \
have a row, the least is 0. `of rank` has the most; of equals the first. An outlier is a rank whose \
RSS peak is more than a fifth above the mean. Each rank's moment is its own, so sums are no \
measurement of a node. Where one machine is too slow, each node answers for its ranks with -o, and \
these answers are merged to the same figures. --by stack has the stacks of `memlog export parquet`.

Examples:
  memlog ranks jobs/77/
  memlog ranks --by line --at heap-peak 'jobs/77/*.memlog'
  memlog ranks jobs/78/ --against jobs/77/    what grew from job 77 to job 78
  memlog ranks -o n12.ranks jobs/77/          a node's answer; memlog ranks *.ranks merges them";

pub const TEMPORARY: &str = "\
A temporary block is freed before its thread asks for another: often it need not have come at all.

Examples:
  memlog temporary vm.5912.memlog
  memlog temporary --by stack --sort blocks vm.5912.memlog
  memlog table --where 'lifetime < 10ms' vm.5912.memlog    by time instead";

pub const HISTOGRAM: &str = "\
Each class is twice as wide as the one before. Lifetimes are known in steps of the log's clock: of \
some milliseconds, unless it was recorded with --fine-time. lifetime-events counts exactly in any log.

Examples:
  memlog histogram size vm.5912.memlog
  memlog histogram lifetime --where 'size >= 1MiB' vm.5912.memlog
  memlog histogram lifetime-events vm.5912.memlog    how many events passed meanwhile?
  memlog histogram size-lifetime vm.5912.memlog    do large blocks live long?";

pub const TIMELINE: &str = "\
The heap is what was asked for and not yet freed. Resident memory is what the kernel said last, which \
on some systems is the most so far. A line stands for a stretch of time, and is the largest heap in it; \
the peaks have lines of their own.

Examples:
  memlog timeline vm.5912.memlog
  memlog timeline -o vm.svg vm.5912.memlog    as a picture, without a script
  memlog timeline --where 'function ~ \"parse\"' vm.5912.memlog
  memlog timeline --json vm.5912.memlog | jq '.points | max_by(.heap_bytes)'";

pub const CHAINS: &str = "\
The blocks that realloc made of each other are one chain. What it outgrew may have been copied: to \
reserve the last size at first saves that. A row has the chains whose last block it asked for.

Examples:
  memlog chains vm.5912.memlog
  memlog chains --by line vm.5912.memlog
  memlog chains --where 'chain-length >= 10' vm.5912.memlog";

pub const THREADS: &str = "\
What one thread allocates and another frees often waits for a lock of the allocator.

Examples:
  memlog threads vm.5912.memlog
  memlog threads --at rss-peak vm.5912.memlog
  memlog table --where 'thread = reader and freed-by = writer' vm.5912.memlog    which functions";

pub const FUNCTION: &str = "\
The share is of all that was allocated in and below the function. A function that calls itself counts \
once.

Examples:
  memlog function parse_headers vm.5912.memlog
  memlog function 'cache_.*' --at rss-peak vm.5912.memlog";

pub const ANNOTATE: &str = "\
The source is read where the debug information says that it is. Callees of a line are all functions \
that were called from it.

Examples:
  memlog annotate vm.5912.memlog server.c
  memlog annotate vm.5912.memlog server.c:parse_headers --at rss-peak
  memlog annotate --json vm.5912.memlog server.c | jq '.files[0].rows[0]'";

pub const FRAGMENTATION: &str = "\
An allocator gives a page back to the kernel only when no block is left in it. Without --at it is of \
the RSS peak.

Examples:
  memlog fragmentation vm.5912.memlog
  memlog fragmentation --at end --by line vm.5912.memlog";

pub const RSS: &str = "\
The recorder reads now and then what is resident in which mapping, near each new peak and at the end; \
`memlog record --rss-detail` chooses how often. Shown is the reading with most, or with --at the last \
one up to that moment. --where chooses whose blocks are listed, the first table is always of all.

Examples:
  memlog rss vm.5912.memlog
  memlog rss --at end --by line vm.5912.memlog
  memlog rss --json vm.5912.memlog | jq '.purposes'";

pub const MAPS: &str = "\
It is about what the program mapped itself with mmap, mremap, brk and sbrk, which is never part of the \
heap. Without --at it is of the RSS peak, or rather of the most that was mapped about then. The \
columns from `in the run` on are of the whole run. Which pages of a mapping were touched is not known.

Examples:
  memlog maps vm.5912.memlog
  memlog maps --at end --by stack vm.5912.memlog    what was never unmapped
  memlog maps --list --where 'size >= 1MiB' vm.5912.memlog
  memlog maps --json vm.5912.memlog | jq '.list[0]'";

pub const WHERE: &str = "\
The address may be within a block. Other blocks may have had it before: it says how many, and tells \
the last ten in full.

Examples:
  memlog where vm.5912.memlog 0x7f3a5c000b20
  memlog where --json vm.5912.memlog 0x7f3a5c000b20 | jq '.rows[-1].stack'";

pub const DOT: &str = "\
A box of the call graph is a function with what was allocated in and below it, an arrow a call with \
what came by it; the blue box is what the program mapped itself, which is no heap. The text has \
every place. Without an option it is of the moment of the largest resident set.

Examples:
  memlog dot vm.5912.memlog                 vm.5912.memlog.dot, .txt, .ps, .pdf and .svg here
  memlog dot --leaks vm.5912.memlog pics    what was not released, drawn into pics/
  memlog dot 'logs/*.memlog'                the log of the highest RSS peak
  memlog dot --debug-symbols build/ vm.5912.memlog    it ran on another machine";

pub const SERVER: &str = "\
Only this machine reaches it, at 127.0.0.1, and only with the token in the link: keep the link to yourself. \
It asks no other machine for anything. On a cluster, ssh -L brings the port or the socket to your \
desk. A log that still grows is read again as it grows. The page's questions are those of the command line, and \
each page shows the command that says the same. Scripts ask with curl: `api/1/logs` has the logs, \
`api/1/logs/1/table?by=line` is `memlog table --json --by line`.

Examples:
  memlog server vm.5912.memlog
  memlog server logs/                              all of a folder, and those that come
  memlog server --socket own.sock '*.memlog'       then: ssh -L 8080:PATH/own.sock HOST
  memlog server --open --port 8080 vm.5912.memlog";

pub const HTML: &str = "\
The file has the overview, the largest places, flame graphs and leaks, and needs a browser and nothing else: no \
server, no network. It stays below 10 MB unless names are very long: of a large log it has the largest rows, and says so. \
It tells paths and names of the program; `memlog pack --anonymize full` makes a log without them.

Examples:
  memlog html vm.5912.memlog                       vm.5912.memlog.html here
  memlog html -o report.html logs/                 of the run with the highest RSS peak
  memlog html --open vm.5912.memlog";

pub const FLAMEGRAPH: &str = "\
A function stands on its caller and is as wide as what was allocated in and below it. The page needs \
a browser and nothing else: it has every moment and what was allocated in the whole run, and compares \
two of them; click to zoom, search by a regular expression, and look from the other end, at who called \
the functions that allocate. The picture has one of them, and needs no script.

Examples:
  memlog flamegraph vm.5912.memlog                 vm.5912.memlog.flame.html here
  memlog flamegraph --where 'leaked and size < 64' -o leaks.svg vm.5912.memlog
  memlog flamegraph --by temporary --reverse --open vm.5912.memlog
  memlog flamegraph --debug-symbols build/ vm.5912.memlog    it ran on another machine";

pub const EXPORT: &str = "\
heaptrack's form has every event, massif's and Perfetto's the heap over time, DHAT's how long blocks \
lived: of these blocks are chosen by --where, and nothing else. The others have stacks, of what was live at the RSS peak if \
nothing else is asked for; --at, --by, --where and the filters are those of flamegraph. pprof has what \
the whole run allocated beside what was live, as Go's profiles do, and scopes as labels. parquet's tables go into a folder that \
many may write to at once; sqlite has the same as statements (doc/DATASET.md).

Examples:
  memlog export heaptrack vm.5912.memlog    then: heaptrack_gui heaptrack.vm.5912.memlog
  memlog export pprof vm.5912.memlog    then: go tool pprof -http=: vm.5912.memlog.pb.gz
  memlog export sqlite vm.5912.memlog    then: sqlite3 logs.db <vm.5912.memlog.sql
  memlog export folded -o - --by allocated vm.5912.memlog | sort -k 2 | head";

pub const PACK: &str = "\
The names of all functions, files and lines that the stacks need are looked up here and put behind the \
log, so the packed file needs no program, no library and no debug information where it is read. Every \
command takes it as it takes a log. The logs of the processes that a process was forked by come along. \
What is not in it: source files, which annotate shows, and names that were not found here; it says \
whose. doc/PACK.md has what --anonymize leaves out.

Examples:
  memlog pack vm.5912.memlog    writes vm.5912.memlog.tar.zst
  memlog pack --debug-symbols build/ -o run.tar.zst vm.5912.memlog
  memlog pack --anonymize full -o for_others.tar.zst vm.5912.memlog";

pub const EXTRACT: &str = "\
A log that comes out has all its names in it and is read as any other. tar -xf does the same where \
there is no memlog.

Examples:
  memlog extract -o logs/ vm.5912.memlog.tar.zst
  memlog extract --force vm.5912.memlog.tar.zst    a log of that name here is replaced";

pub const REPLAY: &str = "\
Each call is made again, in the order of the log and by as many threads, under each allocator. RSS is \
what the allocator holds, without what the replay takes by itself. The first row is the program's own \
allocator: the lines below the table say how far it is from what was recorded, and a difference is only \
told where it is larger. What the program mapped itself is not replayed. What `memlog export replay` \
writes has sizes and an order of calls alone, and is replayed as well.

Examples:
  memlog replay vm.5912.memlog
  memlog replay --allocator glibc:MALLOC_ARENA_MAX=1 vm.5912.memlog    settings of one
  memlog replay --json vm.5912.memlog | jq '.allocators[].rss_peak_bytes'
  memlog export replay vm.5912.memlog    its calls alone, to be replayed elsewhere";

pub const SCRIPT: &str = "\
The language is Rhai, and the words are bytehound's: allocations(), maps(), graph() and so on. A list \
is what chooses blocks, and is looked at once a number or a picture is asked for; .filter('...') takes \
the language of --where. What goes wrong is said with its line, and ends with 2; exit(3) ends with 3. \
doc/SCRIPTS.md has all words.

Examples:
  memlog script leaks.rhai vm.5912.memlog           what it prints, and Graph #1.svg
  memlog script --output pictures leaks.rhai vm.5912.memlog fast    argv()[0] is fast
  memlog script --data vm.5912.memlog - < leaks.rhai";

pub const POSTMORTEM: &str = "\
How it died is told by the log, by `memlog record` if that had started it, and by the kernel's log \
where that may be read.

Examples:
  memlog postmortem vm.5912.memlog
  memlog postmortem --last 60 vm.5912.memlog    what grew in the last minute
  memlog postmortem --json vm.5912.memlog | jq .death";

pub const IMPORT: &str = "\
What a file is its content tells, packed or not: what heaptrack, bytehound, memtrail, massif or DHAT \
wrote, heap profiles in pprof's form or of jemalloc or gperftools, the text of the memlog of 2015, and \
what `memlog dump` prints. Every other command reads such a file as well, by its name, without a \
log. What the file does not know, the log does not know either, and the pages say so. doc/IMPORT.md \
says what becomes of each form.

Examples:
  memlog import heaptrack.server.4711.zst
  memlog import -o vm.memlog vm.2015.txt
  memlog summary heaptrack.server.4711.zst    reads it without making a log";

pub const CHECK: &str = "\
It exits with 0 if all is within its limits, with 1 if not or if the program that it ran failed, and \
with 2 if nothing could be checked. What is above a limit is told with who had it. A limit that may have \
been kept only because events are missing counts as broken. Of a program that starts others its own \
process is checked, or all of them with --children. doc/CHECK.md has budgets in a file, the test that \
decides against a baseline, and forms for continuous integration.

Examples:
  memlog check --max-peak 64MiB --max-leaked 1MiB -- ./server 1000
  memlog check --max-leaked 9M --where 'not module ~ \"ssl\"' --suppressions lsan.supp vm.5912.memlog
  memlog check --write-baseline base.json --repeat 5 -- ./server 1000
  memlog check --baseline base.json --repeat 5 --format junit -o check.xml -- ./server 1000";

pub const DUMP: &str = "\
All threads are merged; events on one address stand in their true order. A realloc is an F: and an \
M: line.

Lines:
  M: SIZE ADDRESS<tab>SECONDS RSS_PEAK_KB THREAD BRK_KB MMAP_KB{<tab>FRAME}    it came
  F: ADDRESS<tab>the same five columns    it went; with frames if recorded with --free-stacks
  MAP: and UNMAP: are like M: and F:, if asked for by --ledger
  FAILED: SIZE FUNCTION CALLS ERRNO<tab>as M:, if asked for by --failed    it got no memory
  THREAD: NAME<tab>as F:, if asked for by --threads    its name from here on

Columns:
  SIZE         bytes asked for
  ADDRESS      where the block or the mapping begins
  SECONDS      since recording began, in steps of the log's tick, which memlog info tells: 6 digits,
               or 8 if it was recorded with --fine-time
  RSS_PEAK_KB  the most that was resident up to the last reading before this line, which may be some
               time ago; 0 before the first. What is resident at the line is not known
  THREAD       the kernel's number of the thread; from 2147483648 on one of memlog's
  BRK_KB       how far brk and sbrk have moved the end of the data segment, by calls that memlog
               sees: not by those within the C library, as of glibc's malloc
  MMAP_KB      what mmap and mremap hold by calls that memlog sees, touched or not
  CALLS ERRNO  this call and others of its stack that have no line of their own; its errno, 0 if not
               known
  FRAME        FILE (SYMBOL+0xOFFSET) [0xADDRESS (0xADDRESS within FILE)], innermost first; ? for a
               symbol that is not known or not asked for

Examples:
  memlog dump vm.5912.memlog | grep '^M: 4096 '
  memlog dump --no-symbols --ledger vm.5912.memlog > events.txt
  memlog dump --debug-symbols build/ vm.5912.memlog > events.txt";

pub const INFO: &str = "\
It tells of the program, its host, settings, threads and libraries, how it ended, its calls of mallopt, \
the environment if `record --keep-environment` kept it, what the recorder counted, and what is missing or \
damaged. With --list there is a line of each log. doc/STATS.md says \
what the keys of --json mean.

Examples:
  memlog info vm.5912.memlog
  memlog info vm.5912.memlog | grep '^ended'
  memlog info --list logs/ *.memlog    a line of each, ranks and their children
  memlog info --list --json logs/ | jq -r '.logs | max_by(.rss_peak_bytes) | .file'";

pub const STATS: &str = "\
A figure stands on a line, or all of them in one JSON object. doc/STATS.md says what each of them \
means; keys are only ever added to a schema.

Examples:
  memlog stats vm.5912.memlog
  memlog stats --json vm.5912.memlog | jq .rss_peak_bytes";

pub const STRIP: &str = "\
Calls and bytes of all stacks, threads and sizes stay right, and so does what was live at both peaks, at \
marks and at the end. What was live at other moments, and when and where a block lay, is not known of \
those that went. A forked process needs the log of the one that forked it: strip both in one call.

Examples:
  memlog strip vm.5912.memlog                 without all blocks that were freed
  memlog strip --threshold 10ms vm.5912.memlog -o small.memlog
  memlog strip --threshold 1s logs/ -o small/";

pub const STREAM: &str = "\
It reads the logs as any command does, and the programs know nothing of it. At each moment the other \
machine has a log that can be read, up to some tenths of a second ago; at the end it has the same bytes. \
If the connection breaks it goes on where it stopped, and if it is killed the same command does. It ends \
when the programs have ended, and with a folder at Ctrl-C or SIGTERM: what is then new is still sent. \
doc/REMOTE.md says what goes over the network.

Examples:
  memlog stream --secret gather.send 7748 collector:4711        the log of process 7748
  memlog stream --secret gather.send logs/ collector:4711       all that come, until Ctrl-C
  memlog stream --once --ssh me@login --dir runs logs/          no port, no secret
  memlog stream --once --ssh login --ssh-option Port=2222 --ssh-option IdentityFile=key logs/";

pub const GATHER: &str = "\
Each sender's logs are written into the folder under the names that they have there, or NAME.2.memlog \
if another log has that name. They can be read while they grow: `memlog server FOLDER` follows them. A \
sender that is gone may come back and go on. Without --secret only programs of your own on this machine \
may connect.

Examples:
  memlog gather --new-secret gather      once: gather stays here, gather.send goes to the senders
  memlog gather --secret gather --listen 0.0.0.0:4711 -o gathered/
  memlog gather -o gathered/             on this machine only; it prints its port";

pub const LDFLAGS: &str = "\
A program that is linked with them writes a log whenever it runs, without `memlog record` and without \
LD_PRELOAD. Static programs can be recorded in this way only.

Examples:
  cc -o program *.o $(memlog ldflags --dynamic)
  cc -static -o program *.o $(memlog ldflags --static)
  cc -o program *.o $(memlog ldflags --dynamic --alloc-func 'pool_get(size)=pool_put(ptr)')";
