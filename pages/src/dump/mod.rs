//! `memlog dump`: every event of a log, one a line.
//!
//! ```text
//! M: SIZE 0xPTR<tab>SECONDS MAXRSS_KB TID ARENA_KB MMAP_KB{<tab>FRAME}
//! F: 0xPTR<tab>SECONDS MAXRSS_KB TID ARENA_KB MMAP_KB{<tab>FRAME}
//! MAP: and UNMAP: as M: and F:, for the ledger
//! THREAD: NAME<tab>SECONDS MAXRSS_KB TID ARENA_KB MMAP_KB, when it changes
//! FAILED: SIZE FUNCTION CALLS ERRNO<tab>SECONDS MAXRSS_KB TID ARENA_KB MMAP_KB{<tab>FRAME}
//! FRAME: FILE (SYMBOL+0xOFF) [0xPC (0xRELPC)], innermost first
//! ```

use std::collections::{HashMap, HashSet};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use memlog_analysis::{ModuleKey, Options, Site, Tables, Tally};
use memlog_format::counter::Counter;
use memlog_format::ext::{Ledger, Mapping, Rss, RssSource};
use memlog_format::failure::Failure;
use memlog_format::table::{Code, StackId};
use memlog_read::{Flight, Item, Kind, Log};

use crate::choose::chosen;
use crate::names::{NameStore, Names, SymbolFiles, symbol_options};
use crate::open::{Files, LogTables, Watch, at_of};
use crate::screen::Out;
use crate::words::clean;

/// Print every event of a log.
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    file: PathBuf,
    /// Leave the functions' names out, which is faster
    #[arg(long)]
    no_symbols: bool,
    /// Print mmap, munmap, mremap and brk as well, as MAP: and UNMAP: lines
    #[arg(long)]
    ledger: bool,
    /// Print THREAD: lines as well, where a thread comes or has another name
    #[arg(long)]
    threads: bool,
    /// Print FAILED: lines as well, where a call got no memory
    #[arg(long)]
    failed: bool,
    #[command(flatten)]
    symbol_files: SymbolFiles,
}

/// Prints the events in order.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options = symbol_options(&args.symbol_files)?;
    let file = chosen(&args.file)?;
    // On a terminal the lines themselves say how far it is.
    let watch = match std::io::stdout().is_terminal() {
        true => Watch::silent(),
        false => Watch::begin(),
    };
    let files = Files::load(&file)?;
    let family = files.family()?;
    let log = family.own();
    let store = NameStore::default();
    let names = (!args.no_symbols).then(|| Names::new(&store, &options, log, &file));
    let out = BufWriter::with_capacity(1 << 18, Out::new());
    let mut dump = Dump::new(out, log, names, args.ledger);
    dump.thread_names = args.threads.then(HashMap::new);
    dump.with_failed = args.failed;
    dump.blocks_of_before()?;
    let mut events = watch.events(log);
    while let Some(item) = events.next()
        && watch.goes_on(&events)
    {
        dump.item(&item)?;
    }
    dump.out.flush()?;
    watch.end();
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
    /// Addresses of reallocs that the log does not finish.
    unfinished: HashSet<u64>,
    ledger: Tally,
    maxrss_kb: u64,
    floor_kb: u64,
    with_ledger: bool,
    /// By which name each thread was told of last, if that is wanted.
    thread_names: Option<HashMap<u32, Vec<u8>>>,
    with_failed: bool,
}

impl<'l, 'a, 's, W: Write> Dump<'l, 'a, 's, W> {
    fn new(out: W, log: &'l Log<'a>, names: Option<Names<'s>>, with_ledger: bool) -> Self {
        Self {
            out,
            log,
            tables: LogTables::new(log),
            names,
            frames: HashMap::new(),
            unfinished: HashSet::new(),
            ledger: Tally::new(Options::default()),
            maxrss_kb: 0,
            floor_kb: log.counter(Counter::MaxRssFloorKb),
            with_ledger,
            thread_names: None,
            with_failed: false,
        }
    }

    /// What overwritten events left live, as if it came now.
    fn blocks_of_before(&mut self) -> std::io::Result<()> {
        let blocks = self.log.flight().into_iter().flat_map(Flight::live);
        let mut blocks: Vec<_> = blocks.collect();
        blocks.sort_unstable_by_key(|entry| (entry.tick, entry.address));
        for entry in blocks {
            let item = Item {
                stream: 0,
                tid: entry.tid,
                tick: entry.tick.into(),
                kind: Kind::Mark(b""),
            };
            self.came("M", &item, entry.size, entry.address, entry.stack)?;
        }
        Ok(())
    }

    fn item(&mut self, item: &Item) -> std::io::Result<()> {
        match &item.kind {
            // What comes of it stands among the blocks of before.
            Kind::PriorAlloc(_) | Kind::PriorRelease(_) => Ok(()),
            Kind::Alloc(alloc) => {
                // Given out again: the realloc that the end cut off had
                // released it.
                if self.unfinished.remove(&alloc.address) {
                    self.went("F", item, alloc.address, None)?;
                }
                self.came("M", item, alloc.size, alloc.address, alloc.stack)
            }
            Kind::Release(release) => self.went("F", item, release.address, release.stack),
            Kind::Unfinished(release) => {
                self.unfinished.insert(release.address);
                Ok(())
            }
            Kind::Ledger(entry) => {
                self.ledger.ledger(at_of(item), entry, &self.tables);
                match self.with_ledger {
                    true => self.entry(item, entry),
                    false => Ok(()),
                }
            }
            Kind::Failed(failure) if self.with_failed => self.failed(item, failure),
            Kind::Thread { tid, name } => self.thread(item, *tid, name),
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
        tag: &str,
        item: &Item,
        size: u64,
        address: u64,
        stack: StackId,
    ) -> std::io::Result<()> {
        write!(self.out, "{tag}: {size} {address:#x}\t")?;
        self.moment(item)?;
        self.stack(stack)?;
        self.out.write_all(b"\n")
    }

    fn went(
        &mut self,
        tag: &str,
        item: &Item,
        address: u64,
        stack: Option<StackId>,
    ) -> std::io::Result<()> {
        write!(self.out, "{tag}: {address:#x}\t")?;
        self.moment(item)?;
        if let Some(stack) = stack {
            self.stack(stack)?;
        }
        self.out.write_all(b"\n")
    }

    fn thread(&mut self, item: &Item, tid: u32, name: &[u8]) -> std::io::Result<()> {
        let Some(names) = &mut self.thread_names else {
            return Ok(());
        };
        if names.insert(tid, name.to_vec()).as_deref() == Some(name) {
            return Ok(());
        }
        write!(self.out, "THREAD: {}\t", clean(name))?;
        self.moment(&Item { tid, ..*item })?;
        self.out.write_all(b"\n")
    }

    fn failed(&mut self, item: &Item, failure: &Failure) -> std::io::Result<()> {
        let name = failure.api.name();
        let (size, calls, errno) = (failure.size, failure.calls, failure.errno);
        write!(self.out, "FAILED: {size} {name} {calls} {errno}\t")?;
        self.moment(item)?;
        self.stack(failure.stack)?;
        self.out.write_all(b"\n")
    }

    fn stack(&mut self, stack: StackId) -> std::io::Result<()> {
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
        Ok(())
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
        let stack = entry.stack;
        match entry.mapping {
            Mapping::Map {
                address, length, ..
            } => self.came("MAP", item, length, address, stack),
            Mapping::Unmap { address, .. } => self.went("UNMAP", item, address, Some(stack)),
            // Of a call that did nothing.
            Mapping::Leave { length: 0, .. } => Ok(()),
            Mapping::Leave { address, .. } => self.went("UNMAP", item, address, None),
            Mapping::Remap {
                old_address,
                old_length,
                address,
                length,
            } => {
                if old_length > 0 {
                    self.went("UNMAP", item, old_address, None)?;
                }
                self.came("MAP", item, length, address, stack)
            }
            Mapping::Break { old_end, end } if end > old_end => {
                self.came("MAP", item, end - old_end, old_end, stack)
            }
            Mapping::Break { end, .. } => self.went("UNMAP", item, end, Some(stack)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use memlog_format::api::Api;
    use memlog_format::chunk::{CHUNK_SIZE, Header, Kind as ChunkKind};
    use memlog_format::counter::AREA_COUNT;
    use memlog_format::event::{Alloc, Deltas, Release};
    use memlog_format::ext::Ext;
    use memlog_format::meta::{Module, Record, Start};
    use memlog_format::table::{CodeId, Node};
    use memlog_format::varint::Writer;

    fn chunk(kind: ChunkKind, body: &[u8]) -> Vec<u8> {
        let mut header = Header::new(kind, 0, 0);
        header.committed += body.len() as u32;
        header.thread = 42;
        let mut out = header.encode().to_vec();
        out.extend_from_slice(body);
        out.resize(CHUNK_SIZE, 0);
        out
    }

    fn metas() -> Vec<u8> {
        let start = Start {
            pointer_bytes: 8,
            big_endian: false,
            machine: 62,
            pid: 1,
            parent_pid: 0,
            wall_ns: 0,
            tick_ns: 1_000_000,
            page_bytes: 4096,
            cell_bits: 16,
            has_usable: false,
        };
        let module = Module {
            id: 1,
            bias: 0x5000_0000,
            low: 0x5000_0000,
            high: 0x5001_0000,
            build_id: b"",
            path: b"/no/such/file",
        };
        let mut body = vec![0; 8 * AREA_COUNT];
        for record in [Record::Start(start), Record::Module(module)] {
            let mut bytes = [0; 256];
            let length = record.encode(&mut bytes).unwrap();
            body.extend_from_slice(&bytes[..length]);
        }
        chunk(ChunkKind::Meta, &body)
    }

    fn events() -> Vec<u8> {
        let mut body = [0; 256];
        let mut out = Writer::new(&mut body);
        let mut deltas = Deltas::at_start(0, 0);
        let alloc = Alloc {
            api: Api::Malloc,
            address: 0x6000,
            size: 77,
            usable: 88,
            alignment_log2: 0,
            stack: StackId(8),
            order: None,
        };
        let release = Release {
            api: Api::Free,
            address: 0x6000,
            announced: false,
            stack: None,
            order: None,
        };
        let rss = Rss {
            source: RssSource::VmHwm,
            peak_kb: 1234,
            now_kb: 0,
            own_kb: 0,
            stamp: 0,
        };
        deltas.put_alloc(&mut out, &alloc);
        deltas.put_ext(&mut out, &Ext::Rss(rss));
        deltas.put_tick(&mut out, 1500);
        deltas.put_release(&mut out, &release);
        deltas.put_alloc(&mut out, &alloc);
        let stack = Some(alloc.stack);
        deltas.put_release(&mut out, &Release { stack, ..release });
        let length = out.finish().unwrap();
        chunk(ChunkKind::Events, &body[..length])
    }

    #[test]
    fn events_are_printed_in_the_originals_grammar() {
        let node = Node {
            parent: StackId::COMPLETE,
            code: CodeId(4),
        };
        let code = Code {
            address: 0x5000_1234,
            module: 1,
            exact: false,
        };
        let code = [code.address, code.to_tail_word()].map(u64::to_le_bytes);
        let mut bytes = [metas(), events()].concat();
        bytes.extend(chunk(ChunkKind::Nodes, &node.to_word().to_le_bytes()));
        bytes.extend(chunk(ChunkKind::Codes, &code.concat()));
        let log = Log::open(&bytes).unwrap();
        let mut dump = Dump::new(Vec::new(), &log, None, false);
        for item in log.events() {
            dump.item(&item).unwrap();
        }
        let expected = "M: 77 0x6000\t0.000000 0 42 0 0\t\
            /no/such/file (?+0x1234) [0x50001234 (0x1234)]\n\
            F: 0x6000\t1.500000 1234 42 0 0\n\
            M: 77 0x6000\t1.500000 1234 42 0 0\t\
            /no/such/file (?+0x1234) [0x50001234 (0x1234)]\n\
            F: 0x6000\t1.500000 1234 42 0 0\t\
            /no/such/file (?+0x1234) [0x50001234 (0x1234)]\n";
        assert_eq!(String::from_utf8(dump.out).unwrap(), expected);
    }
}
