//! `memlog dump`: every event of a log, one a line.
//!
//! ```text
//! M: SIZE 0xPTR<tab>SECONDS MAXRSS_KB TID ARENA_KB MMAP_KB{<tab>FRAME}
//! F: 0xPTR<tab>SECONDS MAXRSS_KB TID ARENA_KB MMAP_KB
//! FRAME: FILE (SYMBOL+0xOFF) [0xPC (0xRELPC)], innermost first
//! ```

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use memlog_analysis::{Fold, ModuleKey, Options, Site, Tables};
use memlog_format::counter::Counter;
use memlog_format::ext::{Ledger, Mapping, Rss, RssSource};
use memlog_format::table::{Code, StackId};
use memlog_read::{Item, Kind, Log};

use crate::names::{NameStore, Names};
use crate::open::{Files, LogTables, at_of, clean};

/// Print every event of a log.
#[derive(clap::Args)]
pub struct Args {
    /// The log
    file: PathBuf,
    /// Leave the functions' names out, which is faster
    #[arg(long)]
    no_symbols: bool,
    /// Print mmap, munmap, mremap and brk as well
    #[arg(long)]
    ledger: bool,
}

/// Prints the events in order.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let files = Files::load(&args.file)?;
    let family = files.family()?;
    let log = family.own();
    let store = NameStore::default();
    let names = (!args.no_symbols).then(|| Names::new(&store));
    let stdout = std::io::stdout().lock();
    let mut dump = Dump {
        out: BufWriter::with_capacity(1 << 18, stdout),
        log,
        tables: LogTables::new(log),
        names,
        frames: HashMap::new(),
        ledger: Fold::new(Options::default()),
        maxrss_kb: 0,
        floor_kb: log.counter(Counter::MaxRssFloorKb),
        with_ledger: args.ledger,
    };
    for item in log.events() {
        dump.item(&item)?;
    }
    dump.out.flush()?;
    for remark in dump.names.iter().flat_map(Names::remarks) {
        writeln!(std::io::stderr(), "memlog: note: {remark}")?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Dump<'l, 'a, 's, W> {
    out: W,
    log: &'l Log<'a>,
    tables: LogTables<'l, 'a>,
    names: Option<Names<'s>>,
    /// Each frame as it is printed.
    frames: HashMap<Code, String>,
    ledger: Fold,
    maxrss_kb: u64,
    floor_kb: u64,
    with_ledger: bool,
}

impl<W: Write> Dump<'_, '_, '_, W> {
    fn item(&mut self, item: &Item) -> std::io::Result<()> {
        match &item.kind {
            Kind::Alloc(alloc) => self.came(item, alloc.size, alloc.address, alloc.stack),
            Kind::Release(release) => self.went(item, release.address),
            Kind::Ledger(entry) => {
                self.ledger.ledger(at_of(item), entry);
                match self.with_ledger {
                    true => self.entry(item, entry),
                    false => Ok(()),
                }
            }
            Kind::Rss(rss) => {
                self.read(rss);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The high-water mark so far; one that exec inherited does not count.
    fn read(&mut self, rss: &Rss) {
        let is_own = rss.source != RssSource::MaxRss || rss.peak_kb > self.floor_kb;
        let peak_kb = if is_own { rss.peak_kb } else { 0 };
        self.maxrss_kb = self.maxrss_kb.max(peak_kb).max(rss.now_kb);
    }

    fn came(
        &mut self,
        item: &Item,
        size: u64,
        address: u64,
        stack: StackId,
    ) -> std::io::Result<()> {
        write!(self.out, "M: {size} {address:#x}\t")?;
        self.moment(item)?;
        let log = self.log;
        for code in log.frames(stack) {
            if !self.frames.contains_key(&code) {
                let text = self.frame(&code);
                self.frames.insert(code, text);
            }
            if let Some(text) = self.frames.get(&code) {
                self.out.write_all(b"\t")?;
                self.out.write_all(text.as_bytes())?;
            }
        }
        self.out.write_all(b"\n")
    }

    fn went(&mut self, item: &Item, address: u64) -> std::io::Result<()> {
        write!(self.out, "F: {address:#x}\t")?;
        self.moment(item)?;
        self.out.write_all(b"\n")
    }

    fn moment(&mut self, item: &Item) -> std::io::Result<()> {
        let mapped = self.ledger.mapped();
        let all = mapped.live_bytes.saturating_add(mapped.backing_bytes);
        let seconds = self.log.seconds(item.tick);
        let (maxrss_kb, tid) = (self.maxrss_kb, item.tid);
        let arena_kb = mapped.arena_bytes / 1024;
        let mmap_kb = all.saturating_sub(mapped.arena_bytes) / 1024;
        write!(
            self.out,
            "{seconds:.6} {maxrss_kb} {tid} {arena_kb} {mmap_kb}"
        )
    }

    /// An entry of the ledger in the same two forms.
    fn entry(&mut self, item: &Item, entry: &Ledger) -> std::io::Result<()> {
        match entry.mapping {
            Mapping::Map {
                address, length, ..
            } => self.came(item, length, address, entry.stack),
            Mapping::Unmap { address, .. } => self.went(item, address),
            Mapping::Remap {
                old_address,
                address,
                length,
                ..
            } => {
                self.went(item, old_address)?;
                self.came(item, length, address, entry.stack)
            }
            Mapping::Break { old_end, end } if end > old_end => {
                self.came(item, end - old_end, old_end, entry.stack)
            }
            Mapping::Break { end, .. } => self.went(item, end),
        }
    }

    /// `FILE (SYMBOL+0xOFF) [0xPC (0xRELPC)]`
    fn frame(&mut self, code: &Code) -> String {
        let pc = code.address;
        let Some(module) = self.tables.module(code.module) else {
            return format!("? (?+0x0) [{pc:#x} ({pc:#x})]");
        };
        let relative = pc.wrapping_sub(module.bias);
        let module = ModuleKey::from(&module);
        let site = Site {
            address: pc,
            exact: code.exact,
            module: None,
        };
        let names = self.names.as_mut();
        let symbol = names.and_then(|names| names.symbol(&site, &module));
        let (name, offset) = match symbol {
            Some(symbol) => (symbol.name, symbol.offset),
            None => ("?".into(), relative),
        };
        let file = clean(&module.path);
        format!("{file} ({name}+{offset:#x}) [{pc:#x} ({relative:#x})]")
    }
}
