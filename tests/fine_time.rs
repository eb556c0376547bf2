//! `record --fine-time`: each event has a time of its own, and a program that
//! knows when its calls were finds each between its own looks at the clock.

mod sites;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use sites::build::GCC;
use sites::{Folder, said};

/// Nanoseconds of a tick of a log with fine time.
const TICK_NS: u64 = 10;

/// A call as the program knows it: it was between two looks at the clock.
struct Call {
    what: String,
    /// Nothing of what has none in a dump.
    size: Option<u64>,
    address: Option<u64>,
    before_ns: u64,
    after_ns: u64,
}

/// An event as a dump tells it.
struct Event {
    what: String,
    size: Option<u64>,
    address: Option<u64>,
    ns: u64,
}

fn hex(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

fn calls(file: &Path) -> Vec<Call> {
    let text = fs::read_to_string(file).expect("what the program knows");
    let call = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, size, address, before, after] = words[..] else {
            panic!("{line}");
        };
        let number = |word: &str| word.parse::<u64>().expect("a number");
        let address = hex(address);
        Call {
            what: what.to_owned(),
            size: (!["F", "UNMAP"].contains(&what)).then(|| number(size)),
            address: address.filter(|_| what != "FAILED"),
            before_ns: number(before),
            after_ns: number(after),
        }
    };
    text.lines().map(call).collect()
}

/// Seconds with as many digits as there are.
fn ns_of(seconds: &str) -> u64 {
    let (whole, part) = seconds.split_once('.').expect("a point");
    let part = format!("{part:0<9}");
    let number = |text: &str| text.parse::<u64>().expect("digits");
    number(whole) * 1_000_000_000 + number(&part)
}

/// By thread.
fn events(folder: &Folder, log: &Path) -> HashMap<u32, Vec<Event>> {
    let words = ["dump", "--failed", "--ledger", "--no-symbols"].map(|word| word.as_ref());
    let dump = folder.says(&[&words[..], &[log.as_os_str()]].concat());
    let mut all: HashMap<u32, Vec<Event>> = HashMap::new();
    for line in dump.lines() {
        let mut columns = line.split('\t');
        let head = columns.next().expect("what it is");
        let (what, rest) = head.split_once(": ").expect("a kind");
        let rest: Vec<&str> = rest.split(' ').collect();
        let moment: Vec<&str> = columns.next().expect("when").split(' ').collect();
        let event = Event {
            what: what.to_owned(),
            size: rest[0].parse().ok(),
            address: rest.iter().find_map(|word| hex(word)),
            ns: ns_of(moment[0]),
        };
        let tid = moment[2].parse().expect("a thread");
        all.entry(tid).or_default().push(event);
    }
    all
}

/// Each call of a thread with the event that the log has of it, in their order.
fn paired(calls: Vec<Call>, events: &[Event]) -> Vec<(Call, u64)> {
    let mut events = events.iter();
    let mut last = 0;
    let pair = |call: Call| {
        let is_it = |event: &&Event| {
            event.what == call.what && event.size == call.size && event.address == call.address
        };
        let event = events.find(is_it);
        let at = format!("{} {:?} {:x?}", call.what, call.size, call.address);
        let event = event.unwrap_or_else(|| panic!("the log does not have {at}"));
        assert!(event.ns >= last, "time goes back at {at}");
        last = event.ns;
        (call, event.ns)
    };
    calls.into_iter().map(pair).collect()
}

/// All that a run's log tells and its program knows.
fn all_paired(folder: &Folder, log: &Path, stem: &Path) -> Vec<Vec<(Call, u64)>> {
    let mut threads = Vec::new();
    for (tid, events) in events(folder, log) {
        let file = PathBuf::from(format!("{}.{tid}", stem.display()));
        if file.exists() {
            threads.push(paired(calls(&file), &events));
        }
    }
    threads
}

/// When the log began by the program's clock: so much later than the least, and
/// so much earlier than the most, or an event is not between the looks around it.
fn start_bounds(threads: &[Vec<(Call, u64)>]) -> (i64, i64) {
    let (mut least, mut most) = (i64::MIN, i64::MAX);
    for (call, ns) in threads.iter().flatten() {
        // A tick may be over, but for a nanosecond.
        least = least.max(call.before_ns as i64 - *ns as i64 - (TICK_NS as i64 - 1));
        most = most.min(call.after_ns as i64 - *ns as i64);
    }
    (least, most)
}

fn record(folder: &Folder, program: &Path, options: &[&str], words: &[&str]) -> Vec<PathBuf> {
    for log in folder.logs("") {
        fs::remove_file(log).expect("remove");
    }
    let mut command = folder.memlog(&["record", "-o", "%p.memlog"]);
    command.args(options).arg(program).args(words);
    let output = command.output().expect("memlog runs");
    let told = said(&output);
    assert!(output.status.success(), "{words:?}: {told}");
    assert!(told.contains("nothing was lost"), "{words:?}: {told}");
    let logs = folder.logs("");
    logs.iter().for_each(|log| folder.holds_whole(log));
    logs
}

fn program(folder: &Folder) -> PathBuf {
    let flags = ["-O2", "-g", "-fno-builtin", "-pthread"];
    GCC.build(folder, "fine_time.c", "fine_time", &flags)
}

/// Whether this machine has a counter that programs may read; if not, that is said.
fn has_counter(folder: &Folder, log: &Path) -> bool {
    let info = folder.says(&["info".as_ref(), log.as_os_str()]);
    let note = info.lines().find(|line| line.contains("no fine time: "));
    if let Some(note) = note {
        println!("SKIPPED fine time: {note}");
    }
    note.is_none()
}

/// The judge: there is one moment at which the log can have begun, so that every
/// event of every thread lies between its program's looks at the clock.
#[test]
fn each_event_is_where_its_program_says() {
    let folder = Folder::new("fine-each");
    let (program, stem) = (program(&folder), folder.path("truth"));
    let words = |how: &'static str| [how, stem.to_str().expect("text")];
    for how in ["threads", "fork"] {
        let logs = record(&folder, &program, &["--fine-time"], &words(how));
        if !has_counter(&folder, &logs[0]) {
            return;
        }
        assert_eq!(logs.len(), 1 + usize::from(how == "fork"));
        for log in &logs {
            let threads = all_paired(&folder, log, &stem);
            let count = if how == "fork" { 1 } else { 5 };
            assert_eq!(threads.len(), count, "{how}");
            let (least, most) = start_bounds(&threads);
            assert!(least <= most, "{how}: {least} to {most} ns");
            check_lifetimes(&threads);
        }
    }
    // The same judge says no to steps of milliseconds: it can tell.
    let logs = record(&folder, &program, &[], &words("threads"));
    let threads = all_paired(&folder, &logs[0], &stem);
    let (least, most) = start_bounds(&threads);
    assert!(least > most, "{least} to {most} ns");
}

/// A block lived no longer than from before its first call to after its last, and
/// no shorter than between them, but for what a tick is.
fn check_lifetimes(threads: &[Vec<(Call, u64)>]) {
    let mut checked = 0;
    for thread in threads {
        let mut born: HashMap<u64, (&Call, u64)> = HashMap::new();
        for (call, ns) in thread {
            let Some(address) = call.address else {
                continue;
            };
            match call.what.as_str() {
                "M" => drop(born.insert(address, (call, *ns))),
                "F" => {
                    let (first, born_ns) = born.remove(&address).expect("it was born");
                    let told = ns - born_ns;
                    let least = call.before_ns.saturating_sub(first.after_ns);
                    let most = call.after_ns - first.before_ns;
                    let is_true = told + TICK_NS >= least && told <= most + TICK_NS;
                    assert!(is_true, "{told} ns, in truth {least} to {most}");
                    checked += 1;
                }
                _ => {}
            }
        }
    }
    assert!(checked > 1000 * threads.len(), "{checked}");
}

/// Where the counter is forbidden the program runs as before, and so does the log.
#[test]
fn who_may_not_read_the_counter_is_not_made_to() {
    let folder = Folder::new("fine-forbid");
    let program = program(&folder);
    for how in ["forbid", "strict"] {
        if folder
            .command(&program)
            .arg(how)
            .status()
            .expect("it")
            .code()
            == Some(77)
        {
            println!("SKIPPED fine time, {how}: this kernel has no such prctl");
            continue;
        }
        let logs = record(&folder, &program, &["--fine-time"], &[how]);
        let (parent, child): (Vec<_>, Vec<_>) = logs.iter().partition(|log| {
            let info = folder.says(&["info".as_ref(), log.as_os_str()]);
            info.contains("fine time ended: ") || !info.contains("forbade itself")
        });
        assert_eq!(parent.len(), 1, "{how}");
        let info = folder.says(&["info".as_ref(), parent[0].as_os_str()]);
        let is_told = info.contains("fine time ended: ");
        assert_eq!(is_told, has_counter(&folder, parent[0]), "{how}: {info}");
        let words = ["table", "--list"].map(OsStr::new);
        let page = folder.says(&[&words[..], &[parent[0].as_os_str()]].concat());
        let note = "fine time ended (`memlog info` says when)";
        assert_eq!(page.replace('\n', " ").contains(note), is_told, "{page}");
        assert!(
            folder.stats(parent[0]).number("allocations") >= 2000,
            "{how}"
        );
        // In its log there never was any.
        if how == "forbid" && has_counter(&folder, parent[0]) {
            assert_eq!(child.len(), 1);
            assert!(folder.stats(child[0]).number("allocations") >= 1000);
            assert!(!has_counter(&folder, child[0]));
        }
    }
}

/// What it cannot do together is refused, or said in the log.
#[test]
fn with_a_flight_recorder_there_is_no_fine_time() {
    let folder = Folder::new("fine-flight");
    let words = ["record", "--fine-time", "--flight-recorder", "true"];
    let output = folder.run(&words);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("cannot be used with"),
        "{}",
        said(&output)
    );
    let program = program(&folder);
    let mut command = folder.memlog(&["record", "-o", "it.memlog"]);
    command.env("MEMLOG_FINE_TIME", "1");
    command.args([
        "--flight-recorder".as_ref(),
        program.as_os_str(),
        "forbid".as_ref(),
    ]);
    let told = said(&command.output().expect("memlog runs"));
    let why = "no fine time: with a flight recorder there is none";
    assert!(told.contains(why), "{told}");
    let info = folder.says(&["info", "it.memlog"]);
    assert!(
        info.contains("1,000,000 ns") && !info.contains("MEMLOG_FINE_TIME"),
        "{info}"
    );
}

/// Pages say what they know: with fine time how long, without it a bracket.
#[test]
fn pages_say_how_well_they_know_a_lifetime() {
    const NOTE: &str = "record --fine-time";
    let folder = Folder::new("fine-pages");
    let (program, stem) = (program(&folder), folder.path("truth"));
    let words = ["fork", stem.to_str().expect("text")];
    for options in [&[][..], &["--fine-time"]] {
        let log = record(&folder, &program, options, &words).swap_remove(0);
        let is_fine = !options.is_empty() && has_counter(&folder, &log);
        let log = log.to_str().expect("text");
        let notes = |words: &[&str]| {
            let text = folder.says(&[words, &["--json", log]].concat());
            let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            answer["notes"].to_string()
        };
        let filtered = |filter| notes(&["table", "--by", "size", "--where", filter]);
        assert_eq!(filtered("lifetime < 1ms").contains(NOTE), !is_fine);
        assert_eq!(notes(&["histogram", "lifetime"]).contains(NOTE), !is_fine);
        for filter in ["lifetime > 10s", "size > 10", "lifetime-events < 3"] {
            assert!(!filtered(filter).contains(NOTE), "{filter}");
        }
        assert!(!notes(&["histogram", "lifetime-events"]).contains(NOTE));
        let dump = folder.says(&["dump", "--no-symbols", log]);
        let last = dump.lines().rev().find_map(|line| line.strip_prefix("F: "));
        let (address, _) = last
            .and_then(|line| line.split_once('\t'))
            .expect("a release");
        let page = folder.says(&["where", log, address]);
        let told = page
            .lines()
            .find(|line| line.contains("later, after "))
            .expect("how long");
        assert_eq!(told.contains(" by the clock"), !is_fine, "{told}");
        let seconds = told
            .split(" at ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        let (_, digits) = seconds
            .and_then(|text| text.split_once('.'))
            .expect("seconds");
        assert_eq!(digits.len(), if is_fine { 8 } else { 3 }, "{told}");
    }
}
