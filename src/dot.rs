//! `memlog dot`, and memlog started as memlog2dot or memlog_analyze: opens and
//! names what the crate of that name then draws.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_analysis::{Frame, ModuleKey, StackTable};
use memlog_export::{CallGraph, Named, Place, Subject, When, legend};
use memlog_format::meta::Key;
use memlog_symbols::Options;
use memlog2dot::{Logs, Page, Trouble, Wanted};

use crate::advice::Advice;
use crate::elsewhere;
use crate::names::{NameStore, Names};
use crate::open::{Analysis, Family, Files, Glance, Watch, clean};
use crate::ranks;
use crate::record::has_magic;
use crate::report::{check_moment, notes};

/// The names under which the one binary is the old command.
const NAMES: [&str; 2] = ["memlog2dot", "memlog_analyze"];

/// Whether the command was started under one of its old names.
pub fn is_name(started_as: &Path) -> bool {
    let name = started_as.file_name();
    NAMES.iter().any(|old| name == Some(old.as_ref()))
}

/// Writes the files.
pub fn run(args: &memlog2dot::Args) -> anyhow::Result<ExitCode> {
    let names = elsewhere::options(&args.elsewhere)?;
    memlog2dot::run(args, &Opened { names }).map_err(advice)?;
    Ok(ExitCode::SUCCESS)
}

/// The log that a name stands for. Where it is a folder or a pattern it is said
/// which one that is.
pub fn chosen(name: &Path) -> anyhow::Result<PathBuf> {
    let say = |line: &str| {
        // Where stderr is gone nobody can be told.
        let _ = writeln!(std::io::stderr().lock(), "memlog: {line}");
    };
    memlog2dot::choose(name, &Opened::default(), say).map_err(advice)
}

/// All logs that a name stands for. Of a pattern what matches: not all of it
/// need be logs.
pub fn all(name: &Path) -> anyhow::Result<Vec<PathBuf>> {
    memlog2dot::all(name, &Opened::default()).map_err(advice)
}

fn advice(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Trouble>() {
        Ok(Trouble { wrong, hint }) => Advice::error(wrong, hint),
        Err(error) => error,
    }
}

/// Logs as files.
#[derive(Default)]
struct Opened {
    /// Where the names are.
    names: Options,
}

impl Logs for Opened {
    fn is_log(&self, file: &Path) -> bool {
        has_magic(file)
    }

    fn check(&self, log: &Path) -> anyhow::Result<()> {
        Files::load(log)?.family().map(drop)
    }

    fn rss_peak_bytes(&self, log: &Path) -> anyhow::Result<u64> {
        Glance::take(log)?.rss_peak_bytes()
    }

    fn rss_peak_bound(&self, log: &Path) -> anyhow::Result<u64> {
        Glance::take(log)?.rss_peak_bound()
    }

    fn page(&self, log: &Path, wanted: &Wanted) -> anyhow::Result<Page> {
        let when = wanted.when;
        let watch = Watch::new();
        let files = Files::load(log)?;
        let family = files.family()?;
        let chosen = when.chosen_tick(family.own().tick_ns());
        let analysis = family.analyse(chosen, &watch);
        check_moment(when, family.own(), &analysis)?;
        let store = NameStore::default();
        let mut names = Names::new(&store, &self.names, family.own(), log);
        let stacks = analysis.fold.stacks();
        let held = analysis.fold.held(when.moment());
        let mapped = analysis.fold.held_mapped(when.moment());
        let mapped = mapped.filter(|_| wanted.with_mapped);
        let calls = CallGraph::build(stacks, held, mapped, |frame| {
            named(&mut names, stacks, frame, wanted.with_symbols)
        });
        let remarks = names.remarks().map(str::to_owned);
        let remarks = notes(&family, &analysis).into_iter().chain(remarks);
        Ok(Page {
            legend: heading(&family, &analysis, when, &calls),
            calls,
            remarks: remarks.collect(),
        })
    }
}

fn heading(family: &Family, analysis: &Analysis, when: When, calls: &CallGraph) -> Vec<String> {
    let log = family.own();
    let program = log.text(Key::Executable).map(clean);
    let host = log.text(Key::Host).map(clean);
    let host = host.map_or(String::new(), |host| format!(" on {host}"));
    let process = log
        .start()
        .map(|start| format!("process {}{host}", start.pid));
    let process = match (ranks::place(log), process) {
        (Some(place), Some(process)) => Some(format!("{place}, {process}")),
        (place, process) => place.or(process),
    };
    let tick = analysis.tick_of(when, log.tick_ns());
    let subject = Subject {
        program: program.unwrap_or_else(|| "unknown program".into()),
        process,
        tick_ns: log.tick_ns(),
        has_ended: log.end().is_some(),
        mapped: calls.mapped,
        reserved_bytes: analysis.mapped.reserved_at(tick),
    };
    let mut lines = legend(&subject, &analysis.summary, when, calls.heap());
    if family.missing_parent.is_some() {
        lines.push("missing: the parent's log, and what was inherited from it".into());
    }
    if analysis.damages() > 0 {
        lines.push("missing: a part of the log, which is damaged; see memlog info".into());
    }
    lines
}

fn named(names: &mut Names, stacks: &StackTable, frame: &Frame, with_symbols: bool) -> Named {
    let site = &frame.site;
    let module = site
        .module
        .and_then(|module| stacks.modules().get(module as usize));
    let places = names.of(site, module).into_iter().map(|name| Place {
        function: name.function,
        location: name.location,
        module: name.module,
    });
    let symbol = module.filter(|_| with_symbols);
    let symbol = symbol.and_then(|module| names.symbol(site, module));
    Named {
        places: places.collect(),
        address: address(site.address, module),
        symbol: symbol.map(|symbol| format!("{}+{:#x}", symbol.name, symbol.offset)),
    }
}

/// `0x55d0c0de1189 (/usr/bin/sites+0x1189)`
fn address(address: u64, module: Option<&ModuleKey>) -> String {
    match module {
        None => format!("{address:#x}"),
        Some(module) => {
            let offset = address.wrapping_sub(module.bias);
            format!("{address:#x} ({}+{offset:#x})", clean(&module.path))
        }
    }
}
