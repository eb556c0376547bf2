//! bytehound's files: what its recorder writes, and what its `postprocess` and `strip`
//! leave of that.
//!
//! They are pieces of LZ4 ([`packed`]), and unpacked events one behind the other
//! ([`event`]). Threads hand their events over in batches, so an event may stand behind
//! later ones: they are put in order by their times ([`order`]), as bytehound does.

mod event;
mod order;
mod packed;

use std::collections::HashMap;
use std::io::BufRead;

use memlog_format::api::Api;
use memlog_format::meta::{Key, Lack};
use memlog_format::table::{CodeId, StackId};

use self::event::{Block, BlockId, DEEPEST, DEEPEST_SAID, Event, Frame, Header};
use self::order::{Operation, Ordered, What};
use self::packed::Packed;
use super::bytes::{Bytes, Stop};
use super::maps::{Frames, Maps, is_own};
use crate::error::Error;
use crate::places::Given;
use crate::writer::{LogWriter, ModuleId};

pub(super) use self::packed::is;

/// Bit 31 of a block's flags: calloc made it.
const BY_CALLOC: u32 = 1 << 31;
const LITTLE_ENDIAN: u64 = 1;

pub(super) fn read(input: &mut dyn BufRead, log: &mut LogWriter) -> Result<(), Error> {
    log.lacks(Lack::Functions);
    let mut packed = Packed::new(input);
    let mut file = File::default();
    let mut events = 0;
    let read = file.events(Bytes::new(&mut packed), log, &mut events);
    file.operations(log, true);
    match read {
        Ok(()) if packed.is_cut() => {
            log.cut_off("the file ends in the middle of a piece, which is left out".to_owned());
        }
        Ok(()) => {}
        Err(Stop::End) => log.cut_off(format!(
            "the file ends in the middle of event {events}, which is left out"
        )),
        Err(Stop::Error(error)) => return Err(error),
    }
    Ok(())
}

#[derive(Default)]
struct File {
    header: Option<Header>,
    maps: Maps,
    /// By the number that the file gives a stack.
    stacks: HashMap<u64, StackId>,
    /// The last stack of each thread: the next may be written as what differs.
    last: HashMap<u32, Frames>,
    /// Frames of the deepest of those.
    deepest: u64,
    decoded: Decoded,
    queue: Ordered,
    blocks: Blocks,
    thread: Option<u32>,
}

impl File {
    fn events(
        &mut self,
        mut bytes: Bytes,
        log: &mut LogWriter,
        events: &mut u64,
    ) -> Result<(), Stop> {
        while !log.has_failed() && !bytes.is_at_end()? {
            *events += 1;
            let event = Event::read(&mut bytes)?;
            match (&self.header, event) {
                (None, Event::Header(header)) => {
                    header.write(log);
                    self.header = Some(header);
                }
                (None, _) => return Err(bytes.malformed("a header", b"another event")),
                (Some(_), event) => self.event(event, log),
            }
            if self.deepest > DEEPEST {
                let found = self.deepest.to_string();
                return Err(bytes.malformed(DEEPEST_SAID, found.as_bytes()));
            }
            self.operations(log, false);
        }
        Ok(())
    }

    fn event(&mut self, event: Event, log: &mut LogWriter) {
        match event {
            Event::Maps(text) => {
                self.maps.renew(text.split(|&byte| byte == b'\n'));
            }
            Event::Backtrace { id, addresses } => {
                let stack = self.maps.stack(log, &addresses);
                self.stacks.insert(id, stack);
            }
            Event::PartialBacktrace {
                id,
                thread,
                replaced,
                addresses,
            } => {
                let last = self.last.entry(thread).or_default();
                let replaced = replaced.map_or(usize::MAX, |replaced| replaced as usize);
                last.replace(log, &mut self.maps, replaced, &addresses);
                self.deepest = self.deepest.max(last.count() as u64);
                self.stacks.insert(id, last.id());
            }
            Event::Text { id, text } => {
                self.decoded.texts.insert(id, text);
            }
            Event::Frame(frame) => self.decoded.frames.push(frame),
            Event::DecodedBacktrace(frames) => {
                let stack = self.decoded.stack(log, &mut self.maps, &frames);
                // They are numbered in their order.
                self.stacks.insert(self.decoded.stacks, stack);
                self.decoded.stacks += 1;
            }
            Event::CameAndWent {
                backtrace,
                blocks,
                bytes,
            } => {
                let stack = self.stack_of(backtrace);
                log.came_and_went(stack, blocks, bytes);
            }
            Event::Operation { time, thread, what } => {
                self.queue.push(Operation { time, thread, what })
            }
            Event::Header(_) | Event::Other => {}
        }
    }

    fn stack_of(&self, backtrace: u64) -> StackId {
        self.stacks
            .get(&backtrace)
            .copied()
            .unwrap_or(StackId::NONE)
    }

    /// Writes those that nothing earlier can come before; at the end all.
    fn operations(&mut self, log: &mut LogWriter, is_end: bool) {
        while !log.has_failed()
            && let Some(operation) = self.queue.pop(is_end)
        {
            let start = self.header.as_ref().map_or(0, |header| header.initial_us);
            log.time(operation.time.saturating_sub(start).saturating_mul(1000));
            if self.thread != Some(operation.thread) {
                log.thread(operation.thread, b"");
                self.thread = Some(operation.thread);
            }
            match operation.what {
                What::Came { id, block } => {
                    let stack = self.stack_of(block.backtrace);
                    self.blocks.came(log, id, &block, stack);
                }
                What::Resized { id, old, block } => {
                    let stack = self.stack_of(block.backtrace);
                    self.blocks.resized(log, (id, old), &block, stack);
                }
                What::Went {
                    id,
                    pointer,
                    backtrace,
                } => {
                    let stack = self.stacks.get(&backtrace).copied();
                    self.blocks.went(log, id, pointer, stack);
                }
            }
        }
    }
}

impl Header {
    fn write(&self, log: &mut LogWriter) {
        let start = log.start();
        start.pid = self.pid;
        start.pointer_bytes = self.pointer_bytes;
        start.big_endian = self.flags & LITTLE_ENDIAN == 0;
        start.tick_ns = 1000;
        let wall = self.wall_s.saturating_mul(1_000_000_000);
        let since = self.wall_at_us.saturating_sub(self.initial_us);
        let wall = wall.saturating_add(self.wall_ns);
        start.wall_ns = wall.saturating_sub(since.saturating_mul(1000));
        log.text(Key::Executable, &self.executable);
        log.text(Key::CommandLine, &self.command);
    }
}

/// Which block lies where. Two that lay at one place in turn may overlap by their times,
/// for the times are coarse.
#[derive(Default)]
struct Blocks {
    at: HashMap<BlockId, u64>,
    owner: HashMap<u64, BlockId>,
}

impl Blocks {
    fn came(&mut self, log: &mut LogWriter, id: BlockId, block: &Block, stack: StackId) {
        let id = id.or_at(block.pointer);
        let api = match block.flags & BY_CALLOC {
            0 => Api::Malloc,
            _ => Api::Calloc,
        };
        log.allocate(block.pointer, block.size, block.usable(), stack, api);
        self.own(id, block.pointer);
    }

    fn resized(
        &mut self,
        log: &mut LogWriter,
        (id, old): (BlockId, u64),
        block: &Block,
        stack: StackId,
    ) {
        let before = self.disown(id.or_at(old));
        let (pointer, size, usable) = (block.pointer, block.size, block.usable());
        match before {
            Some(before) => log.resize(before, pointer, size, usable, stack, Api::Realloc),
            None => log.allocate(pointer, size, usable, stack, Api::Realloc),
        }
        self.own(id.or_at(pointer), pointer);
    }

    fn went(&mut self, log: &mut LogWriter, id: BlockId, pointer: u64, stack: Option<StackId>) {
        match self.disown(id.or_at(pointer)) {
            Some(pointer) => log.release(pointer, stack, Api::Free),
            // Nothing of the file's is there: the log counts it.
            None if !self.owner.contains_key(&pointer) => log.release(pointer, stack, Api::Free),
            None => {}
        }
    }

    fn own(&mut self, id: BlockId, pointer: u64) {
        self.at.insert(id, pointer);
        self.owner.insert(pointer, id);
    }

    /// Where the block is, if nothing came there meanwhile.
    fn disown(&mut self, id: BlockId) -> Option<u64> {
        let pointer = self.at.remove(&id)?;
        let is_there = self.owner.get(&pointer) == Some(&id);
        is_there.then(|| {
            self.owner.remove(&pointer);
            pointer
        })
    }
}

/// Frames that have their names already.
#[derive(Default)]
struct Decoded {
    texts: HashMap<u32, Vec<u8>>,
    frames: Vec<Frame>,
    stacks: u64,
    modules: HashMap<u32, ModuleId>,
}

impl Decoded {
    /// A stack of frames, the innermost first. An inlined function stands before the one
    /// that it is inlined into.
    fn stack(&mut self, log: &mut LogWriter, maps: &mut Maps, frames: &[u32]) -> StackId {
        let frames = frames.iter().filter_map(|&at| self.frames.get(at as usize));
        let frames: Vec<Frame> = frames.copied().collect();
        let own = frames.iter().take_while(|frame| self.is_own(frame)).count();
        let own = own.min(frames.len().saturating_sub(1));
        let frames = &frames[own..];
        let groups = frames.chunk_by(|frame, _| frame.is_inline);
        groups.rev().fold(StackId::COMPLETE, |caller, group| {
            let place = self.place(log, maps, group);
            log.stack(caller, place)
        })
    }

    /// Whether it is of bytehound, which stands in for malloc.
    fn is_own(&self, frame: &Frame) -> bool {
        let library = self.texts.get(&frame.library);
        library.is_some_and(|library| is_own(library))
    }

    /// The place of a function and of those that are inlined there. An address is that of
    /// the call, one below where it returns to.
    fn place(&mut self, log: &mut LogWriter, maps: &mut Maps, group: &[Frame]) -> CodeId {
        let outer = group.last().copied();
        let address = outer
            .map(|frame| frame.address)
            .filter(|&address| address != 0);
        let module = outer.and_then(|frame| self.module(log, frame.library));
        let names: Vec<Given> = group.iter().filter_map(|frame| self.given(frame)).collect();
        match (&names[..], address) {
            ([], Some(address)) => maps.place(log, address.wrapping_add(1)),
            (names, address) => log.place(address, true, module, names),
        }
    }

    fn given(&self, frame: &Frame) -> Option<Given<'_>> {
        let text = |id: u32| self.texts.get(&id).map(Vec::as_slice);
        let file = text(frame.source).unwrap_or_default();
        Some(Given {
            function: text(frame.mangled).or_else(|| text(frame.function))?,
            file,
            line: match (file, frame.line) {
                (b"", _) | (_, u32::MAX) => 0,
                (_, line) => line,
            },
        })
    }

    fn module(&mut self, log: &mut LogWriter, library: u32) -> Option<ModuleId> {
        let path = self.texts.get(&library)?;
        let add = || log.module(path, b"", 0, 0..0);
        Some(*self.modules.entry(library).or_insert_with(add))
    }
}
