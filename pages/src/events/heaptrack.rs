//! The form of heaptrack's own files, as its recorder leaves them behind its interpreter:
//! heaptrack_print and heaptrack_gui read it. A line each, numbers in hex:
//!
//! ```text
//! s STRING                                            1, 2, ...
//! i ADDRESS MODULE FUNCTION FILE LINE{ FUNCTION FILE LINE}   a place, with what is inlined
//! t PLACE CALLER                                      a stack
//! a SIZE STACK                                        0, 1, ... blocks of one size and stack
//! + A, - A                                            such a block comes, or goes
//! c MILLISECONDS, R PAGES                             time, resident memory
//! ```
//!
//! Two habits of its readers. heaptrack_gui dies of an `a` that is first come to out of turn,
//! so each is written when its first block comes. And all readers take number 0 for the block
//! that has just come whenever one has just gone: released then, it counts as temporary. So
//! number 0 is of the first block alone, and no other is miscounted.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use memlog_analysis::{AddressMap, Frame, Name, StackTable};
use memlog_answers::Picked;
use memlog_export::forms::file_and_line;
use memlog_format::event::{Alloc, Release};
use memlog_format::meta::{Key, Lack};
use memlog_read::{Item, Kind, Log, Place, Taker};

use crate::facts::command_line;
use crate::names::{NameStore, Names, SymbolFiles, symbol_options};
use crate::open::{Before, Family, Files, LogTables, Watch, hand_out};
use crate::rests::Rests;
use crate::words::clean;

/// The number of the stack of no place.
const NO_STACK: u32 = 1;
/// So much is written at a time.
const FULL: usize = 1 << 18;
/// heaptrack writes the time so often, and its charts have a point for each.
const EVERY_MS: u64 = 10;
/// What readers of 2018 and later understand: release 1.4.0, the second form.
const VERSION: &str = "v 10400 2";

/// Writes the log in that form, all of it or the blocks that were picked. What there is to
/// know besides is said to the terminal.
pub fn heaptrack(
    file: &Path,
    symbol_files: &SymbolFiles,
    picked: Option<&Picked>,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let watch = Watch::interruptible();
    let remarks = heaptrack_told((file, symbol_files), picked, &watch, out)?;
    let is_part = watch.is_over();
    watch.end();
    if is_part {
        writeln!(
            io::stderr(),
            "memlog: note: ended by Ctrl-C: the rest of the log is not in it"
        )?;
    }
    for remark in remarks {
        writeln!(io::stderr(), "memlog: note: {remark}")?;
    }
    Ok(match is_part {
        true => ExitCode::from(crate::open::INTERRUPTED),
        false => ExitCode::SUCCESS,
    })
}

/// The same for who looks after the reading, and is told what there is to know of the names.
pub fn heaptrack_told(
    (file, symbol_files): (&Path, &SymbolFiles),
    picked: Option<&Picked>,
    watch: &Watch,
    out: &mut dyn Write,
) -> anyhow::Result<Vec<String>> {
    let options = symbol_options(symbol_files)?;
    let files = Files::load(file, watch)?;
    let family = files.family()?;
    let rests = [Lack::Order, Lack::Sizes, Lack::Gone];
    Rests::default()
        .on(&rests)
        .on_events()
        .check(family.own())?;
    let log = family.own();
    let store = NameStore::default();
    let mut names = Names::new(&store, &options, log, file);
    if picked.is_none() {
        names.expect_log(log);
    }
    let mut form = Form::new((out, picked), log, names);
    form.head();
    form.inherit(&family, watch);
    hand_out(&mut watch.events(log), &mut form, |form, events, bytes| {
        watch.goes_on_after(events, bytes) && form.is_written.is_ok() && form.goes_on()
    });
    form.end();
    form.is_written?;
    Ok(form.names.remarks().map(str::to_owned).collect())
}

struct Form<'l, 'a, 's, 'o> {
    out: &'o mut dyn Write,
    /// Which blocks; without it all.
    picked: Option<&'o Picked>,
    /// How many allocations and releases there were, as a table counts them.
    event: u64,
    /// What is not written yet.
    text: String,
    /// The first failure to write; nothing is written after it.
    is_written: io::Result<()>,
    log: &'l Log<'a>,
    tables: LogTables<'l, 'a>,
    names: Names<'s>,
    stacks: StackTable,
    page_bytes: u64,
    strings: HashMap<String, u32>,
    /// By sites.
    places: HashMap<u32, u32>,
    /// By stacks; 0 where there is none yet.
    traces: Vec<u32>,
    /// By sizes and traces.
    infos: HashMap<(u64, u32), u32>,
    info_count: u32,
    /// Of live blocks one more than what they are.
    live: AddressMap<u32>,
    place_count: u32,
    trace_count: u32,
    ms: u64,
}

impl<'a> Taker<'a> for Form<'_, 'a, '_, '_> {
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        if !self.next_event() {
            return;
        }
        self.come_to(place.tick);
        let is_picked = self.picked.is_none_or(|picked| picked.has(self.event));
        let info = is_picked.then(|| {
            let stack = self.stacks.stack(alloc.stack, &self.tables);
            self.info(alloc.size, stack)
        });
        // What was there went unseen.
        let other = match info {
            Some(info) => self.live.insert(alloc.address, info + 1),
            None => self.live.remove(alloc.address),
        };
        if let Some(other) = other {
            self.line('-', other - 1);
        }
        if let Some(info) = info {
            self.line('+', info);
        }
    }

    fn release(&mut self, place: Place, release: &Release) {
        if !self.next_event() {
            return;
        }
        self.come_to(place.tick);
        // What was not seen to come is not seen to go.
        if let Some(info) = self.live.remove(release.address) {
            self.line('-', info - 1);
        }
    }

    fn item(&mut self, item: &Item<'a>) {
        match &item.kind {
            Kind::Alloc(alloc) => self.alloc(item.place(), alloc),
            Kind::Release(release) => self.release(item.place(), release),
            Kind::Switch(switch) if switch.on && self.next_event() => {
                self.come_to(item.tick);
                for info in self.live.take_all() {
                    self.line('-', info - 1);
                }
            }
            Kind::Rss(rss) => {
                self.come_to(item.place().tick);
                // Not every system says how much it is now.
                let kb = if rss.now_kb > 0 {
                    rss.now_kb
                } else {
                    rss.peak_kb
                };
                let pages = kb.saturating_mul(1024) / self.page_bytes;
                if pages > 0 {
                    self.put(format_args!("R {pages:x}"));
                }
            }
            _ => {}
        }
    }
}

impl<'l, 'a, 's, 'o> Form<'l, 'a, 's, 'o> {
    fn new(
        (out, picked): (&'o mut dyn Write, Option<&'o Picked>),
        log: &'l Log<'a>,
        names: Names<'s>,
    ) -> Self {
        let page_bytes = log.start().map_or(4096, |start| start.page_bytes.into());
        Self {
            out,
            picked,
            event: 0,
            text: String::with_capacity(2 * FULL),
            is_written: Ok(()),
            log,
            tables: LogTables::new(log),
            names,
            stacks: StackTable::default(),
            page_bytes: u64::max(page_bytes, 1),
            strings: HashMap::new(),
            places: HashMap::new(),
            traces: Vec::new(),
            infos: HashMap::new(),
            info_count: 0,
            live: AddressMap::default(),
            place_count: 0,
            trace_count: 0,
            ms: 0,
        }
    }

    fn head(&mut self) {
        let words = self.log.text(Key::CommandLine);
        let words = words.or(self.log.text(Key::Executable)).unwrap_or_default();
        self.put(format_args!("{VERSION}"));
        self.put(format_args!("X {}", command_line(words)));
        // How much memory the machine has no log says.
        let page_bytes = self.page_bytes;
        self.put(format_args!("I {page_bytes:x} 0"));
        let function = self.string("(no stack)");
        self.put(format_args!("i 0 0 {function:x}"));
        self.put(format_args!("t 1 0"));
        (self.place_count, self.trace_count) = (1, NO_STACK);
    }

    /// What came before the log's own events counts as if it came at once.
    fn inherit(&mut self, family: &Family, watch: &Watch) {
        let mut all: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
        family.before(watch, |tables, step| match step {
            Before::Log => self.stacks.change_log(),
            Before::Came(alloc) => {
                let stack = self.stacks.stack(alloc.stack, tables);
                all.insert(alloc.address, (alloc.size, stack));
            }
            Before::Went(address) => drop(all.remove(&address)),
            Before::Forgot => all.clear(),
        });
        let is_picked = |address| {
            self.picked
                .is_none_or(|picked| picked.has_inherited(address))
        };
        all.retain(|&address, _| is_picked(address));
        for (address, (size, stack)) in all {
            let info = self.info(size, stack);
            self.live.insert(address, info + 1);
            self.line('+', info);
        }
    }

    /// Whether it counts: after Ctrl-C a table has only a part of the log.
    fn next_event(&mut self) -> bool {
        self.event += 1;
        self.goes_on()
    }

    fn goes_on(&self) -> bool {
        self.picked.is_none_or(|picked| self.event <= picked.end())
    }

    fn come_to(&mut self, tick: u64) {
        let ms = (self.log.seconds(tick) * 1000.0) as u64;
        if ms >= self.ms.saturating_add(EVERY_MS) {
            self.ms = ms;
            self.put(format_args!("c {ms:x}"));
        }
    }

    fn end(&mut self) {
        let end = self.log.end().map_or(0, |end| end.tick);
        let ms = (self.log.seconds(end) * 1000.0) as u64;
        let ms = ms.max(self.ms);
        self.put(format_args!("c {ms:x}"));
        self.flush();
    }

    /// The number of blocks of this size and stack, for one that comes now.
    fn info(&mut self, size: u64, stack: u32) -> u32 {
        let trace = self.trace(stack);
        if let Some(&info) = self.infos.get(&(size, trace)) {
            return info;
        }
        let info = self.info_count;
        self.info_count += 1;
        // The first stays alone.
        if info > 0 {
            self.infos.insert((size, trace), info);
        }
        self.put(format_args!("a {size:x} {trace:x}"));
        info
    }

    /// The number of a stack; its callers have theirs first. Of no stack it is the first.
    fn trace(&mut self, stack: u32) -> u32 {
        let known = |traces: &[u32], stack: u32| {
            let trace = traces.get(stack as usize).copied();
            trace.filter(|&trace| trace > 0)
        };
        let (mut path, mut next) = (Vec::new(), stack);
        let mut trace = loop {
            if let Some(trace) = known(&self.traces, next) {
                break trace;
            }
            let Some((frame, outer)) = self.stacks.split(next) else {
                break 0;
            };
            path.push((next, frame));
            next = outer;
        };
        if path.is_empty() && trace == 0 {
            return NO_STACK;
        }
        for (stack, frame) in path.into_iter().rev() {
            let place = self.place(frame);
            self.put(format_args!("t {place:x} {trace:x}"));
            self.trace_count += 1;
            trace = self.trace_count;
            let at = stack as usize;
            if at >= self.traces.len() {
                self.traces.resize(at + 1, 0);
            }
            self.traces[at] = trace;
        }
        trace
    }

    fn place(&mut self, frame: Frame) -> u32 {
        if let Some(&place) = self.places.get(&frame.index) {
            return place;
        }
        let module = frame.site.module;
        let module = module.and_then(|module| self.stacks.modules().get(module as usize));
        let path = module.map(|module| clean(&module.path));
        let names = self.names.of(&frame.site, module);
        let module = path.map_or(0, |path| self.string(&path));
        let mut line = format!("i {:x} {module:x}", frame.site.address);
        match &names[..] {
            // Without a file it ends there.
            [name] if name.location.is_none() => {
                let function = self.string(&name.function);
                line.push_str(&format!(" {function:x}"));
            }
            names => names.iter().for_each(|name| self.put_name(&mut line, name)),
        }
        self.put(format_args!("{line}"));
        self.place_count += 1;
        self.places.insert(frame.index, self.place_count);
        self.place_count
    }

    fn put_name(&mut self, line: &mut String, name: &Name) {
        let function = self.string(&name.function);
        let (file, number) = match name.location.as_deref().map(file_and_line) {
            Some((file, number)) => (self.string(file), number.unwrap_or(0)),
            None => (0, 0),
        };
        line.push_str(&format!(" {function:x} {file:x} {number:x}"));
    }

    /// The number of a text, which is on one line.
    fn string(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.strings.get(text) {
            return number;
        }
        let number = self.strings.len() as u32 + 1;
        self.strings.insert(text.to_owned(), number);
        self.put(format_args!("s {text}"));
        number
    }

    #[inline]
    fn line(&mut self, tag: char, info: u32) {
        self.put(format_args!("{tag} {info:x}"));
    }

    fn put(&mut self, line: std::fmt::Arguments) {
        // A String takes everything.
        let _ = std::fmt::Write::write_fmt(&mut self.text, line);
        self.text.push('\n');
        if self.text.len() >= FULL {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.is_written.is_ok() {
            self.is_written = self.out.write_all(self.text.as_bytes());
        }
        self.text.clear();
    }
}
