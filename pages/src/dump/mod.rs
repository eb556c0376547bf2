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

mod frames;
mod numbers;

use std::collections::{HashMap, HashSet};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use memlog_analysis::{Options, Tally};
use memlog_format::counter::Counter;
use memlog_format::event::{Alloc, Release};
use memlog_format::ext::{Ledger, Mapping, Rss, RssSource};
use memlog_format::failure::Failure;
use memlog_format::meta::Lack;
use memlog_format::table::StackId;
use memlog_read::{Flight, Item, Kind, Log, Place, Taker};

use crate::choose::chosen;
use crate::names::{NameStore, Names, SymbolFiles, symbol_options};
use crate::open::{Files, LogTables, Watch, at_of, hand_out};
use crate::rests::Rests;
use crate::screen::Out;
use crate::words::{clean, second_digits};
use frames::StackTexts;
use numbers::{put_decimal, put_hex};

/// So much is written at a time.
const FULL: usize = 1 << 18;

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
    let files = Files::load(&file, &watch)?;
    let family = files.family()?;
    let log = family.own();
    let rests = [Lack::Order, Lack::Addresses, Lack::Times, Lack::Threads];
    Rests::default().on(&rests).on_events().check(log)?;
    let store = NameStore::default();
    let names = (!args.no_symbols).then(|| Names::new(&store, &options, log, &file));
    let mut dump = Dump::new(Out::new(), log, names, args.ledger);
    dump.thread_names = args.threads.then(HashMap::new);
    dump.with_failed = args.failed;
    dump.blocks_of_before();
    hand_out(&mut watch.events(log), &mut dump, |dump, events, bytes| {
        watch.goes_on_after(events, bytes) && dump.is_written.is_ok()
    });
    dump.flush();
    dump.is_written?;
    watch.end();
    for remark in dump.stacks.names.iter().flat_map(Names::remarks) {
        writeln!(std::io::stderr(), "memlog: note: {remark}")?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Dump<'l, 'a, 's, W> {
    out: W,
    /// What is not written yet.
    text: Vec<u8>,
    /// The first failure to write; nothing is written after it.
    is_written: io::Result<()>,
    log: &'l Log<'a>,
    tables: LogTables<'l, 'a>,
    stacks: StackTexts<'l, 'a, 's>,
    /// What stands behind each event of a tick and a thread, until another of its
    /// figures changes.
    moment: Option<(u64, u32, Vec<u8>)>,
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

impl<'a, W: Write> Taker<'a> for Dump<'_, 'a, '_, W> {
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        // Given out again: the realloc that the end cut off had released it.
        if !self.unfinished.is_empty() && self.unfinished.remove(&alloc.address) {
            self.went("F", place, alloc.address, None);
        }
        self.came("M", place, alloc.size, alloc.address, alloc.stack);
    }

    fn release(&mut self, place: Place, release: &Release) {
        self.went("F", place, release.address, release.stack);
    }

    fn item(&mut self, item: &Item<'a>) {
        let place = item.place();
        match &item.kind {
            // What comes of it stands among the blocks of before.
            Kind::PriorAlloc(_) | Kind::PriorRelease(_) => {}
            Kind::Alloc(alloc) => self.alloc(place, alloc),
            Kind::Release(release) => self.release(place, release),
            Kind::Unfinished(release) => {
                self.unfinished.insert(release.address);
            }
            Kind::Ledger(entry) => {
                self.moment = None;
                self.ledger.ledger(at_of(item), entry, &self.tables);
                if self.with_ledger {
                    self.entry(place, entry);
                }
            }
            // What was mapped before is not known any more.
            Kind::Switch(switch) => {
                self.moment = None;
                self.ledger.switched(at_of(item), switch);
            }
            Kind::Failed(failure) if self.with_failed => self.failed(place, failure),
            Kind::Thread { tid, name } => self.thread(place, *tid, name),
            Kind::Rss(rss) => self.read(rss),
            _ => {}
        }
    }
}

impl<'l, 'a, 's, W: Write> Dump<'l, 'a, 's, W> {
    fn new(out: W, log: &'l Log<'a>, names: Option<Names<'s>>, with_ledger: bool) -> Self {
        Self {
            out,
            text: Vec::with_capacity(2 * FULL),
            is_written: Ok(()),
            log,
            tables: LogTables::new(log),
            stacks: StackTexts::new(log, names),
            moment: None,
            unfinished: HashSet::new(),
            ledger: Tally::new(Options::default()),
            maxrss_kb: 0,
            floor_kb: log.counter(Counter::MaxRssFloorKb),
            with_ledger,
            thread_names: None,
            with_failed: false,
        }
    }

    fn flush(&mut self) {
        if self.is_written.is_ok() {
            self.is_written = self.out.write_all(&self.text);
        }
        self.text.clear();
    }

    /// What overwritten events left live, as if it came now.
    fn blocks_of_before(&mut self) {
        let blocks = self.log.flight().into_iter().flat_map(Flight::live);
        let mut blocks: Vec<_> = blocks.collect();
        blocks.sort_unstable_by_key(|entry| (entry.tick, entry.address));
        for entry in blocks {
            let place = Place {
                stream: 0,
                tid: entry.tid,
                tick: entry.tick.into(),
            };
            self.came("M", place, entry.size, entry.address, entry.stack);
        }
    }

    /// The high-water mark so far; one that exec inherited does not count.
    fn read(&mut self, rss: &Rss) {
        let peak_kb = match rss.source {
            RssSource::VmHwm => rss.peak_kb,
            RssSource::MaxRss if rss.peak_kb > self.floor_kb => rss.peak_kb,
            _ => 0,
        };
        self.maxrss_kb = self.maxrss_kb.max(peak_kb).max(rss.now_kb);
        self.moment = None;
    }

    fn came(&mut self, tag: &str, place: Place, size: u64, address: u64, stack: StackId) {
        self.text.extend_from_slice(tag.as_bytes());
        self.text.extend_from_slice(b": ");
        put_decimal(&mut self.text, size);
        self.text.push(b' ');
        put_hex(&mut self.text, address);
        self.moment(place);
        self.end(Some(stack));
    }

    fn went(&mut self, tag: &str, place: Place, address: u64, stack: Option<StackId>) {
        self.text.extend_from_slice(tag.as_bytes());
        self.text.extend_from_slice(b": ");
        put_hex(&mut self.text, address);
        self.moment(place);
        self.end(stack);
    }

    fn thread(&mut self, place: Place, tid: u32, name: &[u8]) {
        let Some(names) = &mut self.thread_names else {
            return;
        };
        if names.insert(tid, name.to_vec()).as_deref() == Some(name) {
            return;
        }
        self.text.extend_from_slice(b"THREAD: ");
        self.text.extend_from_slice(clean(name).as_bytes());
        self.moment(Place { tid, ..place });
        self.end(None);
    }

    fn failed(&mut self, place: Place, failure: &Failure) {
        let name = failure.api.name();
        let (size, calls, errno) = (failure.size, failure.calls, failure.errno);
        let text = format!("FAILED: {size} {name} {calls} {errno}");
        self.text.extend_from_slice(text.as_bytes());
        self.moment(place);
        self.end(Some(failure.stack));
    }

    /// The frames, and the line is through.
    #[inline]
    fn end(&mut self, stack: Option<StackId>) {
        if let Some(stack) = stack {
            self.stacks.put(&mut self.text, stack);
        }
        self.text.push(b'\n');
        if self.text.len() >= FULL {
            self.flush();
        }
    }

    #[inline]
    fn moment(&mut self, place: Place) {
        let Place { tick, tid, .. } = place;
        if !matches!(&self.moment, Some(known) if (known.0, known.1) == (tick, tid)) {
            self.moment = Some((tick, tid, self.moment_text(tick, tid)));
        }
        if let Some((.., text)) = &self.moment {
            self.text.extend_from_slice(text);
        }
    }

    fn moment_text(&self, tick: u64, tid: u32) -> Vec<u8> {
        let mapped = self.ledger.mapped();
        let all = mapped.live_bytes.saturating_add(mapped.backing_bytes);
        let (seconds, digits) = (self.log.seconds(tick), second_digits(self.log.tick_ns(), 6));
        let maxrss_kb = self.maxrss_kb;
        let arena_kb = mapped.arena_bytes / 1024;
        let mmap_kb = all.saturating_sub(mapped.arena_bytes) / 1024;
        format!("\t{seconds:.digits$} {maxrss_kb} {tid} {arena_kb} {mmap_kb}").into()
    }

    /// An entry of the ledger in the same two forms.
    fn entry(&mut self, place: Place, entry: &Ledger) {
        let stack = entry.stack;
        match entry.mapping {
            Mapping::Map {
                address, length, ..
            } => self.came("MAP", place, length, address, stack),
            Mapping::Unmap { address, .. } => self.went("UNMAP", place, address, Some(stack)),
            // Of a call that did nothing.
            Mapping::Leave { length: 0, .. } => {}
            Mapping::Leave { address, .. } => self.went("UNMAP", place, address, None),
            Mapping::Remap {
                old_address,
                old_length,
                address,
                length,
            } => {
                if old_length > 0 {
                    self.went("UNMAP", place, old_address, None);
                }
                self.came("MAP", place, length, address, stack);
            }
            Mapping::Break { old_end, end } if end > old_end => {
                self.came("MAP", place, end - old_end, old_end, stack);
            }
            Mapping::Break { end, .. } => self.went("UNMAP", place, end, Some(stack)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memlog_format::api::Api;
    use memlog_format::chunk::{CHUNK_SIZE, Header, Kind as ChunkKind};
    use memlog_format::counter::AREA_COUNT;
    use memlog_format::event::Deltas;
    use memlog_format::ext::Ext;
    use memlog_format::meta::{Module, Record, Start};
    use memlog_format::table::{Code, CodeId, Node};
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
        let stack = StackId(9);
        deltas.put_alloc(&mut out, &Alloc { stack, ..alloc });
        let stack = Some(alloc.stack);
        deltas.put_release(&mut out, &Release { stack, ..release });
        let length = out.finish().unwrap();
        chunk(ChunkKind::Events, &body[..length])
    }

    #[test]
    fn events_are_printed_in_the_originals_grammar() {
        let node = |parent, code| {
            let node = Node {
                parent,
                code: CodeId(code),
            };
            node.to_word().to_le_bytes()
        };
        let code = |address| {
            let code = Code {
                address,
                module: 1,
                exact: false,
            };
            [code.address, code.to_tail_word()].map(u64::to_le_bytes)
        };
        let nodes = [node(StackId::COMPLETE, 4), node(StackId(8), 5)];
        let codes = [code(0x5000_1234), code(0x5000_0042)];
        let mut bytes = [metas(), events()].concat();
        bytes.extend(chunk(ChunkKind::Nodes, &nodes.concat()));
        bytes.extend(chunk(ChunkKind::Codes, &codes.concat().concat()));
        let log = Log::open(&bytes).unwrap();
        let expected = "M: 77 0x6000\t0.000000 0 42 0 0\t\
            /no/such/file (?+0x1234) [0x50001234 (0x1234)]\n\
            F: 0x6000\t1.500000 1234 42 0 0\n\
            M: 77 0x6000\t1.500000 1234 42 0 0\t\
            /no/such/file (?+0x42) [0x50000042 (0x42)]\t\
            /no/such/file (?+0x1234) [0x50001234 (0x1234)]\n\
            F: 0x6000\t1.500000 1234 42 0 0\t\
            /no/such/file (?+0x1234) [0x50001234 (0x1234)]\n";
        let usual = Dump::new(Vec::new(), &log, None, false);
        // All of them are joined anew each time.
        let mut crowded = Dump::new(Vec::new(), &log, None, false);
        crowded.stacks.room_bytes = 0;
        for mut dump in [usual, crowded] {
            log.events().hand_out(u64::MAX, &mut dump);
            dump.flush();
            assert_eq!(String::from_utf8(dump.out).unwrap(), expected);
        }
    }
}
