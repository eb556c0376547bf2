//! What a log says about itself, for programs.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use memlog_format::counter::Counter;
use memlog_format::meta::Key;
use memlog_read::Log;
use serde_json::{Map, Value, json};

use super::Events;
use super::mallopts::Mallopt;
use super::sections::{build_id, unloaded_seconds};
use crate::facts::{is_running, note, threads_at_once};
use crate::figures::{counters, found_wrong, identity};
use crate::heading::{failed_figures, lacking};
use crate::names::machine;
use crate::open::{Family, extent_of};
use crate::page::Page;
use crate::words::{clean, typed};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-info-1";

/// All of it.
pub fn figures(
    family: &Family,
    file: &Path,
    events: &Events,
) -> anyhow::Result<Map<String, Value>> {
    let log = family.own();
    let text = |key: Key| -> Value { log.text(key).map(clean).into() };
    let texts = |key: Key| -> Value { log.texts(key).map(clean).collect() };
    let named = log.text(Key::ParentLog).map(OsStr::from_bytes);
    let parent = family.parent.or(named.map(Path::new)).map(typed);
    let size = log.size();
    let extent = File::open(file).and_then(|file| extent_of(&file))?;
    let start = log.start();
    let quiet = log.counter(Counter::QuietSince);
    let notes = log.texts(Key::Note).map(note);
    let notes = notes.chain(lacking(log).map(str::to_owned));
    let findings = &events.findings;
    let threads = events.threads.list();
    let mallopts = Mallopt::all(log, file)?;
    let own = [
        ("schema", SCHEMA.into()),
        (
            "started_by_pid",
            start
                .map(|start| start.parent_pid)
                .filter(|&pid| pid != 0)
                .into(),
        ),
        ("end_how", log.end().map(|end| how(end.how)).into()),
        ("is_running", is_running(log).into()),
        ("working_directory", text(Key::WorkingDirectory)),
        ("recorder", text(Key::Recorder)),
        ("made_as", text(Key::LogPath)),
        ("machine", start.map(|start| machine(start).name()).into()),
        ("elf_machine", start.map(|start| start.machine).into()),
        ("is_big_endian", start.map(|start| start.big_endian).into()),
        (
            "pointer_bytes",
            start.map(|start| start.pointer_bytes).into(),
        ),
        ("page_bytes", start.map(|start| start.page_bytes).into()),
        ("tick_ns", start.map(|start| start.tick_ns).into()),
        (
            "has_usable_sizes",
            start.map(|start| start.has_usable).into(),
        ),
        (
            "end_seconds",
            log.end().map(|end| log.seconds(end.tick)).into(),
        ),
        (
            "killed_by_signal",
            log.death().map(|death| death.signal).into(),
        ),
        ("parent_log", parent.into()),
        ("missing_parent", family.missing_parent.into()),
        (
            "quiet_since_seconds",
            quiet.checked_sub(1).map(|tick| log.seconds(tick)).into(),
        ),
        (
            "threads",
            threads
                .iter()
                .map(|thread| {
                    json!({
                        "tid": thread.tid,
                        "name": Some(clean(&thread.name)).filter(|name| !name.is_empty()),
                    })
                })
                .collect(),
        ),
        (
            "threads_at_once",
            threads_at_once(log, threads.len() as u64).into(),
        ),
        ("file_bytes", size.file_bytes.into()),
        ("seeming_bytes", extent.seeming_bytes.into()),
        ("event_bytes", size.event_bytes.into()),
        ("chunks", size.chunks.into()),
        ("streams", size.streams.into()),
        ("settings", texts(Key::Setting)),
        ("recorded_too", texts(Key::Named)),
        ("environment", texts(Key::Variable)),
        ("mallopts", mallopts.iter().map(Mallopt::figures).collect()),
        ("notes", notes.collect()),
        ("cut_stacks", events.cuts.as_slice().into()),
        ("modules", modules(log)),
        ("counters", counters(log).into()),
        ("findings", found_wrong(family, findings).into()),
        ("findings_count", findings.count().into()),
        ("order_gaps", findings.order_gaps.into()),
        ("order_breaks", findings.order_breaks.into()),
    ];
    let mut all = Page::keyed(own);
    all.extend(identity(log));
    all.extend(failed_figures(log, &events.failures, true));
    Ok(all)
}

/// How a program ended.
fn how(how: u8) -> &'static str {
    match how {
        1 => "exit",
        2 => "_exit",
        _ => "unknown",
    }
}

fn modules(log: &Log) -> Value {
    let modules = log.modules().iter().map(|module| {
        json!({
            "path": clean(module.path),
            "build_id": build_id(module),
            "low": module.low,
            "high": module.high,
            "bias": module.bias,
            "unloaded_seconds": unloaded_seconds(log, module),
        })
    });
    modules.collect()
}
