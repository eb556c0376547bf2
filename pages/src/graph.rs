//! The page that `memlog dot` draws: who held the memory, as a call graph.

use std::path::Path;

use memlog_analysis::{Frame, ModuleKey, StackTable};
use memlog_export::{CallGraph, Named, Place, Subject, When, legend};
use memlog_format::meta::{Key, Lack};

use crate::calls::counted;
use crate::facts::{Imported, is_unknown, rank};
use crate::heading::notes;
use crate::moment::{At, Span, check as check_moment};
use crate::names::{NameStore, Names, SymbolFiles, symbol_options};
use crate::open::{Analysis, Family, Files, Watch, form_of};
use crate::page::tree::By;
use crate::rests::Rests;
use crate::screen;
use crate::words::clean;
use crate::world::{Reading, Where, analyse};

/// What a page is to hold.
pub struct Wanted<'w> {
    /// The moment.
    pub at: &'w At,
    /// Whether the linker's symbols are shown.
    pub with_symbols: bool,
    /// Whether what the program mapped itself counts.
    pub with_mapped: bool,
    /// Which blocks count.
    pub blocks: &'w Where,
}

/// A log at a moment.
pub struct Page {
    /// The heading; the first line is the title.
    pub legend: Vec<String>,
    /// Who held what.
    pub calls: CallGraph,
    /// What is wrong with the log and with the names, in sentences.
    pub remarks: Vec<String>,
    /// Whether it is known how many blocks there were.
    pub has_counts: bool,
}

/// Whether it is a log that can be read, or a file that is read as one.
pub fn check(log: &Path) -> anyhow::Result<()> {
    if form_of(log).is_some() {
        return Ok(());
    }
    Files::load(log, &Watch::silent())?.family().map(drop)
}

/// What was live at a moment.
pub fn page(log: &Path, wanted: &Wanted, symbol_files: &SymbolFiles) -> anyhow::Result<Page> {
    let options = &symbol_options(symbol_files)?;
    let watch = Watch::begin();
    let files = Files::load(log, &watch)?;
    let family = files.family()?;
    let rests = Rests::default().filtered(wanted.blocks.filter());
    rests.check(family.own())?;
    let when = wanted.at.look(&family, &watch)?;
    let store = NameStore::default();
    let reading = Reading {
        file: log,
        symbol_files,
        options,
        store: &store,
        counted: wanted.blocks.into(),
    };
    let analysis = analyse(&family, &reading, (Some(when), None), &watch)?;
    check_moment(when, &Span::of(family.own(), &analysis))?;
    let mut names = Names::new(&store, options, family.own(), log);
    let stacks = analysis.tally.stacks();
    let held = counted(&analysis, when, By::Live);
    let mut mapped = counted(&analysis, when, By::Mapped);
    if !wanted.with_mapped {
        mapped.clear();
    }
    names.expect(stacks, held.iter().chain(&mapped).map(|(stack, _)| *stack));
    let (held, mapped) = (held.into_iter(), mapped.into_iter());
    let calls = CallGraph::build(stacks, held, mapped, |frame| {
        named(&mut names, stacks, frame, wanted.with_symbols)
    });
    let remarks = names.remarks().map(str::to_owned);
    let remarks = notes(&family, &analysis).into_iter().chain(remarks);
    Ok(Page {
        legend: heading(&family, &analysis, when, &calls),
        calls,
        remarks: remarks.collect(),
        has_counts: !is_unknown(family.own(), Lack::Counts),
    })
}

fn heading(family: &Family, analysis: &Analysis, when: When, calls: &CallGraph) -> Vec<String> {
    let log = family.own();
    let program = log.text(Key::Executable).map(clean);
    let host = log.text(Key::Host).map(clean);
    let host = host.map_or(String::new(), |host| format!(" on {host}"));
    let start = log.start().filter(|start| start.pid > 0);
    let process = start.map(|start| format!("process {}{host}", start.pid));
    let process = match (rank(log), process) {
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
        lacks_counts: is_unknown(log, Lack::Counts),
        lacks_times: is_unknown(log, Lack::Times),
        lacks_threads: is_unknown(log, Lack::Threads),
    };
    let mut lines = legend(&subject, &analysis.summary, when, calls.heap());
    if let Some(chosen) = &analysis.chosen {
        lines.push(format!("only blocks where {}", chosen.filter));
    }
    if let Some(imported) = Imported::of(log) {
        lines.extend(screen::lines(&imported.unknown().join(", ")));
    }
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
