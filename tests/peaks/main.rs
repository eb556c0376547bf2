//! What was live when the program was biggest: memlog's own pages must not move
//! that moment. `victims/peaks.c` knows the truth by itself; it is asked without
//! memlog, and compared with what the log of another run says. Programs that
//! nobody here wrote: [`twin`]; what the page says of it in words: [`told`].

#[path = "../programs/list.rs"]
#[allow(dead_code, reason = "what the comparison of events needs")]
mod list;
#[path = "../sites/mod.rs"]
mod sites;
mod told;
mod twin;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use sites::build::GCC;
use sites::{Folder, Stats};

/// So many random programs, and with `MEMLOG_LONG` so many.
const SEEDS: u64 = 3;
const LONG_SEEDS: u64 = 60;

/// Pages that the kernel counts late on one processor.
const KERNELS_BATCH: u64 = 32 * 4096;

/// What the program prints.
struct Said {
    peak_kb: u64,
    live_bytes: u64,
}

impl Said {
    #[track_caller]
    fn read(stdout: &str) -> Self {
        let words = stdout.split_whitespace();
        let pairs: HashMap<_, _> = words.filter_map(|word| word.split_once('=')).collect();
        let number = |key: &str| pairs[key].parse().expect("a number");
        Self {
            peak_kb: number("peak_kb"),
            live_bytes: number("live_bytes"),
        }
    }
}

/// memlog's answer beside the truth.
struct Verdict {
    line: String,
    is_right: bool,
}

impl Verdict {
    /// `live_bytes` is memlog's; it may be off by a thousandth and by `step_bytes`.
    fn new(name: &str, truth: &Said, stats: &Stats, live_bytes: u64, step_bytes: u64) -> Self {
        let own_kb = stats.number("own_rss_bytes") / 1024;
        let program_kb = (stats.number("rss_peak_bytes") / 1024).saturating_sub(own_kb);
        // 1 % and what the kernel counts late; and of memlog's own tables a
        // tenth may not have been touched, with 400 threads 2.6 to 2.9 of 21.8 MB.
        let untouched_kb = match name.starts_with("after_threads ") {
            true => own_kb / 8,
            false => own_kb / 10,
        };
        let most_kb = truth.peak_kb / 100 + 512 + untouched_kb;
        let is_live = live_bytes.abs_diff(truth.live_bytes) <= truth.live_bytes / 1000 + step_bytes;
        let is_high = program_kb.abs_diff(truth.peak_kb) <= most_kb;
        let line = format!(
            "{name}: {live_bytes} bytes live for {}, {program_kb} kB resident for {}, \
             own {own_kb} kB",
            truth.live_bytes, truth.peak_kb
        );
        println!("{line}");
        Self {
            line,
            is_right: is_live && is_high && stats.number("lost_events") == 0,
        }
    }

    fn if_wrong(self) -> Option<String> {
        (!self.is_right).then_some(self.line)
    }
}

/// A shape and its seed.
type Shape = (String, String);

struct Programs {
    folder: Folder,
    alone: PathBuf,
    recorded: PathBuf,
    is_static: bool,
}

impl Programs {
    fn new(name: &str, options: &[&str]) -> Self {
        let folder = Folder::new(name);
        let file = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
        let is_static = options.contains(&"-static");
        let alone = GCC.build(&folder, "peaks.c", "alone", options);
        let recorded = match is_static {
            true => GCC.build(
                &folder,
                "peaks.c",
                "recorded",
                &[options, &[&file]].concat(),
            ),
            false => alone.clone(),
        };
        Self {
            folder,
            alone,
            recorded,
            is_static,
        }
    }

    #[track_caller]
    fn output(&self, mut command: Command) -> String {
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{command:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn shapes(&self, seeds: u64) -> Vec<Shape> {
        let mut list = self.folder.command(&self.alone);
        list.arg("list");
        let all = self.output(list);
        let names = all.lines().filter(|name| *name != "at_random");
        let plain = names.map(|name| (name.into(), "0".into()));
        let random = (1..=seeds).map(|seed| ("at_random".into(), seed.to_string()));
        plain.chain(random).collect()
    }

    /// What is wrong with memlog's answer, if anything.
    fn wrong(&self, (shape, seed): &Shape, settings: &[(&str, &str)]) -> Option<String> {
        let mut alone = self.folder.command(&self.alone);
        alone.args([shape, seed]);
        let truth = Said::read(&self.output(alone));
        let log = self.folder.path(&format!("{shape}.{seed}.memlog"));
        let mut recorded = self.recorded(&log);
        recorded.args([shape, seed]).envs(settings.iter().copied());
        self.output(recorded);
        let stats = self.folder.stats(&log);
        std::fs::remove_file(&log).expect("the log");
        let live_bytes = stats.number("rss_peak_live_bytes");
        let name = format!("{shape} {seed}");
        // There the threads' pages made a mark as high as the peak: a batch of
        // the kernel's decides whether it rises once more.
        let step_bytes = match shape.as_str() {
            "after_threads" => KERNELS_BATCH,
            _ => 0,
        };
        Verdict::new(&name, &truth, &stats, live_bytes, step_bytes).if_wrong()
    }

    fn recorded(&self, log: &Path) -> Command {
        if self.is_static {
            let mut command = self.folder.command(&self.recorded);
            command.env("MEMLOG_OUTPUT", log);
            return command;
        }
        self.folder.memlog(&[
            "record".as_ref(),
            "-o".as_ref(),
            log.as_os_str(),
            self.recorded.as_os_str(),
        ])
    }

    #[track_caller]
    fn are_right(&self, shapes: &[Shape], settings: &[(&str, &str)]) {
        let wrong = shapes
            .iter()
            .filter_map(|shape| self.wrong(shape, settings));
        let wrong: Vec<_> = wrong.collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// Those whose log's pages move the peak farthest, each in its own way.
fn some() -> Vec<Shape> {
    let names = [
        "pinned_at_random",
        "small",
        "rounds",
        "churn_after",
        "late_touched",
        "in_threads",
    ];
    names.map(|name| (name.into(), "0".into())).to_vec()
}

#[test]
fn of_preloaded_programs() {
    let programs = Programs::new("peaks", &[]);
    let seeds = match std::env::var_os("MEMLOG_LONG") {
        Some(_) => LONG_SEEDS,
        None => SEEDS,
    };
    let shapes = programs.shapes(seeds);
    assert!(shapes.len() >= 30);
    programs.are_right(&shapes, &[]);
}

#[test]
fn of_static_programs() {
    Programs::new("peaks-static", &["-static"]).are_right(&some(), &[]);
}

/// Chunks that are written when they are full are the recorder's own as well.
#[test]
fn where_the_log_is_written() {
    Programs::new("peaks-written", &[]).are_right(&some(), &[("MEMLOG_SINK", "written")]);
}

#[test]
fn with_releases_stacks() {
    Programs::new("peaks-frees", &[]).are_right(&some(), &[("MEMLOG_FREE_STACKS", "1")]);
}
