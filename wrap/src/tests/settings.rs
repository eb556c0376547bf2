//! Settings: each name with sense and with nonsense. The recorder reads the
//! environment as the kernel keeps it, so each case is a process of its own:
//! this test program again, told to run [`told_by_a_child`] alone.

mod culled;

use crate::platform::text::decimal;
use crate::process::settings::{Settings, guard, size, switch};
use std::process::Command;

/// The settings of this process, as lines `name=value`.
fn describe() -> String {
    let mut settings = Settings::new();
    settings.read(&mut [0; 4096]);
    let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    [
        ("output", text(settings.output.get())),
        ("folder", text(settings.folder.get())),
        ("ranks", text(settings.ranks.get())),
        ("job", text(settings.job.get())),
        ("rank", text(settings.rank.get())),
        ("max_log", settings.max_log.to_string()),
        ("flight_recorder", settings.flight_recorder.to_string()),
        ("cull", settings.cull_ns.to_string()),
        ("free_stacks", settings.free_stacks.to_string()),
        ("rss_detail", format!("{:?}", settings.rss_detail)),
        ("fine_time", settings.fine_time.to_string()),
        ("keep_environment", settings.keep_environment.to_string()),
        ("off", settings.off.to_string()),
        ("start_disabled", settings.start_disabled.to_string()),
        ("after", format!("{:?}", settings.after)),
        ("for", format!("{:?}", settings.for_ns)),
        ("signals", text(settings.signals.get())),
        ("follow_exec", settings.follow_exec.to_string()),
        ("written", settings.written.to_string()),
        ("nonsense", text(settings.nonsense.get())),
    ]
    .map(|(name, value)| format!("told {name}={value}\n"))
    .concat()
}

/// Not a test of its own: what the children of the others run.
#[test]
#[ignore = "the child of other tests"]
fn told_by_a_child() {
    println!("\n{}", describe());
}

/// The settings of a process with this environment and no other.
struct Told(String);

impl Told {
    fn by(environment: &[(&str, &str)]) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--nocapture",
                "--exact",
                "tests::settings::told_by_a_child",
            ])
            .env_clear()
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        assert!(child.status.success(), "{child:?}");
        Self(String::from_utf8(child.stdout).unwrap())
    }

    fn switches(&self) -> [&str; 5] {
        ["free_stacks", "fine_time", "off", "follow_exec", "written"].map(|name| self.value(name))
    }

    fn value(&self, name: &str) -> &str {
        let start = format!("told {name}=");
        self.0
            .lines()
            .find_map(|line| line.strip_prefix(&start))
            .unwrap()
    }
}

#[test]
fn an_empty_environment_is_the_defaults() {
    let told = Told::by(&[]);
    for name in ["output", "folder", "ranks", "job", "rank", "nonsense"] {
        assert_eq!(told.value(name), "", "{name}");
    }
    assert_eq!(told.value("max_log"), u64::MAX.to_string());
    assert_eq!(
        told.switches(),
        ["false", "false", "false", "true", "false"]
    );
}

#[test]
fn sense_is_understood() {
    let told = Told::by(&[
        ("MEMLOG_OUTPUT", "/tmp/%h=%p.memlog"),
        ("MEMLOG_DIR", "logs"),
        ("MEMLOG_MAX_LOG", "2GiB"),
        ("MEMLOG_FREE_STACKS", "yes"),
        ("MEMLOG_FINE_TIME", "on"),
        ("MEMLOG_KEEP_ENVIRONMENT", "1"),
        ("MEMLOG_FOLLOW_EXEC", "0"),
        ("MEMLOG_OFF", "off"),
        ("MEMLOG_SINK", "written"),
        ("MEMLOGS", "not ours"),
    ]);
    assert_eq!(told.value("output"), "/tmp/%h=%p.memlog");
    assert_eq!(told.value("folder"), "logs");
    assert_eq!(told.value("max_log"), (2u64 << 30).to_string());
    assert_eq!(told.switches(), ["true", "true", "false", "false", "true"]);
    assert_eq!(told.value("keep_environment"), "true");
    assert_eq!(told.value("nonsense"), "");
    assert_eq!(
        Told::by(&[("MEMLOG_SINK", "mapped")]).value("written"),
        "false"
    );
}

#[test]
fn a_flight_recorder_is_a_size_or_a_switch() {
    let cases = [
        ("1", 64 << 20),
        ("yes", 64 << 20),
        ("0", 0),
        ("4M", 4 << 20),
        ("7B", 7),
    ];
    for (value, bytes) in cases {
        let told = Told::by(&[("MEMLOG_FLIGHT_RECORDER", value)]);
        let bytes: u64 = bytes;
        assert_eq!(told.value("flight_recorder"), bytes.to_string(), "{value}");
    }
}

#[test]
fn nonsense_is_left_at_the_default_and_named() {
    let cases = [
        ("MEMLOG_MAX_LOG", "much", "max_log", u64::MAX.to_string()),
        ("MEMLOG_FLIGHT_RECORDER", "x", "flight_recorder", "0".into()),
        ("MEMLOG_FREE_STACKS", "2", "free_stacks", "false".into()),
        ("MEMLOG_RSS_DETAIL", "2", "rss_detail", "Cheap".into()),
        ("MEMLOG_FINE_TIME", "10ns", "fine_time", "false".into()),
        (
            "MEMLOG_KEEP_ENVIRONMENT",
            "all",
            "keep_environment",
            "false".into(),
        ),
        ("MEMLOG_OFF", "perhaps", "off", "false".into()),
        ("MEMLOG_FOLLOW_EXEC", "-", "follow_exec", "true".into()),
        ("MEMLOG_SINK", "kitchen", "written", "false".into()),
        ("MEMLOG_OUPTUT", "x", "output", String::new()),
    ];
    for (name, value, setting, usual) in cases {
        let told = Told::by(&[(name, value)]);
        assert_eq!(told.value(setting), usual, "{name}={value}");
        assert_eq!(
            told.value("nonsense"),
            format!("not understood: {name}={value}")
        );
    }
}

#[test]
fn what_the_readers_obey_is_no_nonsense() {
    for name in ["MEMLOG_PAGER", "MEMLOG_SYSROOT", "MEMLOG_DEBUG_SYMBOLS"] {
        assert_eq!(Told::by(&[(name, "/x")]).value("nonsense"), "", "{name}");
    }
}

#[test]
fn several_are_told_apart_and_codes_are_looked_at() {
    let told = Told::by(&[("MEMLOG_OFF", "perhaps"), ("MEMLOG_OUTPUT", "a%z%y%p")]);
    let sentences = "not understood: MEMLOG_OFF=perhaps; not understood: %z in MEMLOG_OUTPUT";
    assert_eq!(
        (told.value("nonsense"), told.value("output")),
        (sentences, "a%z%y%p")
    );
    let told = Told::by(&[("MEMLOG_OUTPUT", "50%")]);
    assert_eq!(told.value("nonsense"), "not understood: % in MEMLOG_OUTPUT");
    let told = Told::by(&[("MEMLOG_OUTPUT", "%h%p%e%t%n%r%j%%")]);
    assert_eq!(told.value("nonsense"), "");
}

#[test]
fn values_of_any_length_and_content_harm_nobody() {
    let long = "x".repeat(100_000);
    let told = Told::by(&[
        ("A_LONG_ONE", &long),
        ("MEMLOG_DIR", &long[..3000]),
        ("MEMLOG_RANKS", &long[..2049]),
        ("MEMLOG_NO_SUCH", &long[..2000]),
        ("MEMLOG_OUTPUT", "after"),
    ]);
    assert_eq!(
        told.value("output"),
        "after",
        "a long entry hides none behind it"
    );
    assert_eq!(
        (told.value("folder"), told.value("ranks")),
        ("", ""),
        "half a name is none"
    );
    assert_eq!(told.value("nonsense").len(), 512);
}

#[test]
fn the_job_and_the_rank_come_from_who_started_it() {
    let jobs = [
        "COBALT_JOBID",
        "PBS_JOBID",
        "SLURM_JOB_ID",
        "LSB_JOBID",
        "FLUX_JOB_ID",
        "JOB_ID",
    ];
    for (at, job) in jobs.iter().enumerate() {
        let environment: Vec<_> = jobs[at..].iter().rev().map(|&name| (name, name)).collect();
        assert_eq!(Told::by(&environment).value("job"), *job);
    }
    let told = Told::by(&[("SLURM_PROCID", "3"), ("PMI_RANK", "2")]);
    assert_eq!(told.value("rank"), "2");
    let told = Told::by(&[
        ("PMI_RANK", "2"),
        ("MEMLOG_RANK", "1"),
        ("SLURM_PROCID", "3"),
    ]);
    assert_eq!((told.value("rank"), told.value("nonsense")), ("1", ""));
}

/// It is part of a file's name.
#[test]
fn a_job_of_no_sensible_length_is_not_obeyed() {
    let long = "7".repeat(65);
    let told = Told::by(&[("PBS_JOBID", &long), ("SLURM_JOB_ID", "5")]);
    assert_eq!(told.value("job"), "5");
    assert_eq!(
        told.value("nonsense"),
        "not understood: PBS_JOBID (too long)"
    );
    assert_eq!(Told::by(&[("JOB_ID", &long[1..])]).value("job"), &long[1..]);
}

#[test]
fn a_rank_list_names_who_records() {
    let cases = [
        ("0", "0", true),
        ("0", "1", false),
        ("0,17-20", "17", true),
        ("0,17-20", "20", true),
        ("0,17-20", "21", false),
        ("0,17-20", "16", false),
        ("5-5", "5", true),
        ("0", "", true),
        ("0", "none", true),
    ];
    for (ranks, rank, records) in cases {
        let told = Told::by(&[("MEMLOG_RANKS", ranks), ("MEMLOG_RANK", rank)]);
        assert_eq!(told.value("off"), (!records).to_string(), "{ranks} {rank}");
        assert_eq!(told.value("nonsense"), "");
    }
    // Also where the process has no rank.
    assert_eq!(
        Told::by(&[("MEMLOG_RANKS", "1-")]).value("nonsense"),
        "not understood: MEMLOG_RANKS"
    );
    for wrong in ["x", "1-", "-1", "1,,2", "20-17", "1-2-3", "1;2", ","] {
        let told = Told::by(&[("MEMLOG_RANKS", wrong), ("MEMLOG_RANK", "9")]);
        assert_eq!(told.value("off"), "false", "{wrong}: nothing is lost");
        assert_eq!(
            told.value("nonsense"),
            "not understood: MEMLOG_RANKS",
            "{wrong}"
        );
    }
}

#[test]
fn set_but_empty_is_not_set() {
    let names = [
        "OUTPUT",
        "DIR",
        "MAX_LOG",
        "FREE_STACKS",
        "RSS_DETAIL",
        "FINE_TIME",
        "KEEP_ENVIRONMENT",
        "OFF",
        "FOLLOW_EXEC",
        "SINK",
        "RANKS",
        "ONLY",
    ];
    let names = names.map(|name| format!("MEMLOG_{name}"));
    let mut environment: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    environment.extend([
        ("COBALT_JOBID", ""),
        ("SLURM_JOB_ID", "5"),
        ("PMI_RANK", ""),
    ]);
    let told = Told::by(&environment);
    assert_eq!(
        told.switches(),
        ["false", "false", "false", "true", "false"]
    );
    assert_eq!(told.value("keep_environment"), "false");
    assert_eq!((told.value("job"), told.value("nonsense")), ("5", ""));
}

#[test]
fn guards() {
    for (text, meant) in [
        ("5", (5, false)),
        ("5%", (5, false)),
        ("99,stop", (99, true)),
        ("12%,stop", (12, true)),
        ("0", (0, false)),
        ("0,stop", (0, false)),
    ] {
        assert_eq!(guard(text.as_bytes()), Some(meant), "{text:?}");
    }
    for text in [
        "",
        "%",
        "100",
        "-1",
        "5,",
        "5,halt",
        "stop",
        ",stop",
        "5 %",
        "4294967301",
    ] {
        assert_eq!(guard(text.as_bytes()), None, "{text:?}");
    }
    let told = Told::by(&[("MEMLOG_OOM_GUARD", "200")]);
    assert_eq!(
        told.value("nonsense"),
        "not understood: MEMLOG_OOM_GUARD=200"
    );
}

#[test]
fn sizes() {
    let understood = [
        ("0", 0),
        ("100", 100),
        ("7b", 7),
        ("64k", 64 << 10),
        ("64K", 64 << 10),
        ("1m", 1 << 20),
        ("2G", 2 << 30),
        ("2GB", 2 << 30),
        ("2GiB", 2 << 30),
        ("2gib", 2 << 30),
        ("3t", 3 << 40),
        ("18446744073709551615", u64::MAX),
        ("16777215T", 16_777_215 << 40),
    ];
    for (text, bytes) in understood {
        assert_eq!(size(text.as_bytes()), Some(bytes), "{text}");
    }
    let nonsense = [
        "",
        "k",
        "GiB",
        "b",
        "1.5",
        "1.5G",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1x",
        "1kk",
        "1ki",
        "1kib2",
        "1bb",
        "1bib",
        "1e3",
        "0x10",
        "18446744073709551616",
        "16777216T",
        "99999999999999999999k",
    ];
    for text in nonsense {
        assert_eq!(size(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn decimals_and_switches() {
    assert_eq!(decimal(b"0"), Some(0));
    assert_eq!(decimal(b"007"), Some(7));
    assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
    for text in [
        "",
        " ",
        "-1",
        "+1",
        "1 ",
        "a",
        "1a",
        "18446744073709551616",
        "\u{661}",
    ] {
        assert_eq!(decimal(text.as_bytes()), None, "{text:?}");
    }
    for text in ["1", "true", "yes", "on"] {
        assert_eq!(switch(text.as_bytes()), Some(true));
    }
    for text in ["0", "false", "no", "off"] {
        assert_eq!(switch(text.as_bytes()), Some(false));
    }
    for text in ["", "2", "TRUE ", "y", "on\n", "-"] {
        assert_eq!(switch(text.as_bytes()), None, "{text:?}");
    }
}

#[test]
fn synonyms_come_second() {
    const THEIRS: (&str, &str) = ("MEMORY_PROFILER_OUTPUT", "b_%p_%t.dat");
    assert_eq!(Told::by(&[THEIRS]).value("output"), "b_%p_%t.dat");
    let ours = ("MEMLOG_OUTPUT", "a");
    for both in [[ours, THEIRS], [THEIRS, ours]] {
        assert_eq!(Told::by(&both).value("output"), "a");
    }
    for (value, expected) in [
        ("1", "true"),
        ("0", "false"),
        ("maybe", "false"),
        ("", "false"),
    ] {
        let told = Told::by(&[("MEMORY_PROFILER_GRAB_BACKTRACES_ON_FREE", value)]);
        assert_eq!(told.value("free_stacks"), expected);
        assert_eq!(told.value("nonsense"), "");
    }
}

#[test]
fn when_to_record_and_by_which_signals() {
    let told = Told::by(&[
        ("MEMLOG_AFTER", "soon"),
        ("MEMLOG_FOR", "2"),
        ("MEMLOG_START_DISABLED", "1"),
    ]);
    assert_eq!(told.value("nonsense"), "not understood: MEMLOG_AFTER=soon");
    assert_eq!(told.value("for"), "Some(2000000000)");
    assert_eq!(told.value("start_disabled"), "true");
    let told = Told::by(&[
        ("MEMORY_PROFILER_REGISTER_SIGUSR1", "1"),
        ("MEMORY_PROFILER_REGISTER_SIGUSR2", "0"),
        ("MEMORY_PROFILER_DISABLE_BY_DEFAULT", "1"),
    ]);
    assert_eq!(told.value("signals"), "USR1=toggle");
    assert_eq!(told.value("start_disabled"), "true");
    assert_eq!(told.value("nonsense"), "");
}
