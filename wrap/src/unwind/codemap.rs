//! What lies at a code address: its rule, its id, its module. The slow path
//! behind every thread's cache: what all know and what the tables of a known
//! module say is read without a lock (`asking`, `published`), the rest under one
//! bounded lock.
#![allow(unsafe_code)]
//! # Safety
//! The insides lie in one zeroed mapping made at start, and zeros are a valid
//! beginning of all of them.

mod asking;
mod bytes;
mod framed;
mod fully;
mod hosted;
mod proven;
mod regions;
mod switched;

pub use asking::Asking;
use bytes::{called_by, code_at, trampoline_of, undescribed, unless_trampoline};
use proven::Proven;
use regions::Regions;

use super::Process;
use crate::platform::arch;
use crate::platform::bounds::Bounds;
use crate::platform::maps::region_of;
use crate::platform::rules::Back;
use crate::platform::sys::{Os, Sys};
use crate::unwind::cfi::{self, Description, FrameIndexes};
use crate::unwind::full::Registers;
use crate::unwind::jit::Registered;
use crate::unwind::kept::Far;
use crate::unwind::modules::{Found, Module, Modules};
use crate::unwind::row::Machine;
use crate::unwind::rule::{Kind, Rule};
use crate::unwind::walk::{Known, Pc, WalkState};
use core::marker::PhantomData;
use memlog_format::counter::Counter;
use memlog_format::table::{Code, StackId};

/// The map; empty until start gives it memory.
pub struct CodeMap<H>(*mut Inside<H>);

// SAFETY: the pointer is memory of the process, used under the lock.
unsafe impl<H> Send for CodeMap<H> {}

/// What is behind the pointer. Zeros are a valid beginning of all of it: no
/// modules, no tables, empty rows (`Unset` and `Gone` are the first variants).
struct Inside<H> {
    host: PhantomData<H>,
    modules: Modules,
    registered: Registered,
    indexes: FrameIndexes,
    machine: Machine,
    /// Of the code that no table describes.
    proven: Proven,
    /// The description that was found last.
    found: Description,
    /// Of the frame that a full walk is at.
    registers: Registers,
    /// Whether it crossed code without tables.
    crossed: bool,
    /// When the maps were last read for an address that nobody knew.
    read_at_ns: u64,
    unknown: Bounds,
    /// Code of no module.
    executable: Regions,
}

impl<H: Process> CodeMap<H> {
    /// Without memory.
    pub const fn new() -> Self {
        Self(core::ptr::null_mut())
    }

    /// Takes memory; false if there is none.
    pub fn take_memory(&mut self) -> bool {
        if self.0.is_null() {
            let bytes = size_of::<Inside<H>>().next_multiple_of(4096);
            let memory = Os::memory(bytes).cast::<Inside<H>>();
            if memory.is_null() || !H::published().take_memory(H::ground()) {
                return false;
            }
            self.0 = memory;
            H::ground().note_own((size_of::<Inside<H>>() / 4) as u64);
        }
        true
    }

    /// Reads the modules; false if there is no memory for them.
    pub fn begin(&mut self) -> bool {
        match self.inside() {
            Some(inside) => {
                inside.modules.tell_again();
                H::published().forget_modules();
                inside.refresh();
                true
            }
            None => false,
        }
    }

    fn inside(&mut self) -> Option<&mut Inside<H>> {
        // SAFETY: null, or the mapping of `begin`, which stays for ever; the
        // lock around this map makes the borrow the only one.
        unsafe { self.0.as_mut() }
    }

    /// A module's destructors ran: what lies there next is another.
    pub fn leaving(&mut self, address: u64) {
        let id = self
            .inside()
            .and_then(|inside| inside.modules.leaving(address));
        // Once more, for somebody may have seen it since it was given up.
        if let Some(id) = id {
            H::published().lose(id);
        }
    }

    /// Does what must be done by system calls now, while they are allowed.
    pub fn settle(&mut self) {
        H::published().renew(H::ground(), H::generation());
    }

    /// The modules may have changed.
    pub fn refresh(&mut self) {
        if let Some(inside) = self.inside() {
            inside.refresh();
        }
    }

    /// The program registers or drops unwind tables of its own.
    pub fn register(&mut self, table: u64, add: bool) {
        if let Some(inside) = self.inside() {
            match add {
                true => inside.registered.add(table),
                false => inside.registered.remove(table),
            }
        }
    }

    /// The mapped region around an address.
    pub fn region(&mut self, address: u64) -> Bounds {
        self.inside().map_or(Bounds::default(), |inside| {
            let region = region_of(H::ground(), address, inside.modules.buffer());
            Bounds {
                low: region.low,
                high: region.high,
            }
        })
    }
}

impl<H: Process> Default for CodeMap<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a frame's rules are.
enum RuleSource {
    /// In a module (0: in a table registered at run time); the description
    /// lies in `found`.
    Described(u32),
    /// A return trampoline, and the rule of its frame.
    SignalReturn(u32, Rule),
    /// Where a function begins, or code that is known for it: nobody called
    /// from there, somebody put the address at the bottom of a hand-made stack
    /// (makecontext does).
    Outermost(u32),
    /// The ABI chains the frames: no table is needed.
    Chained(u32),
    NoTables(u32),
    /// The same in a C library without any, which keeps no frame pointers
    /// either; whether that is all that will ever be known.
    Bare(u32, bool),
    /// There, and the row is the reader's.
    Proven(u32),
    /// In a function that has left the stack that it was called on.
    Switched(u32, Back),
}

impl<H: Process> Inside<H> {
    fn refresh(&mut self) {
        self.unknown = Bounds::default();
        H::ground().counters.add(Counter::ModuleReads, 1);
        let mut loaded = false;
        self.modules.refresh(H::ground(), |found| {
            let new = match found {
                Found::Loaded { module, .. } => Some(module),
                Found::Unloaded { id } => {
                    H::published().lose(id);
                    None
                }
            };
            // First the log, or codes could name what it never comes to know.
            H::tell(found);
            if let Some(module) = new {
                loaded = true;
                H::published().add(H::ground(), module);
            }
        });
        // What was known of addresses without a module may be wrong now.
        if loaded && self.read_at_ns != 0 {
            self.executable.clear();
            H::next_generation();
        }
    }

    /// Sees to it that the list of modules holds true at an address. Apart from
    /// `rule_source`, whose frame is large: one of the two is on the stack at a time.
    #[inline(never)]
    fn look_for_module(&mut self, address: u64) {
        match self.modules.find(address).map(|module| module.id) {
            Some(id) => {
                let is_known = H::published().module(H::ground(), address).is_some();
                if H::ground().is_quiet() || is_known {
                    return;
                }
                match self.modules.is_there(id) {
                    true if H::published().saw(id) => {}
                    true => {
                        if let Some(module) = self.modules.find(address) {
                            H::published().add(H::ground(), module);
                        }
                    }
                    false => {
                        self.refresh();
                        H::next_generation();
                    }
                }
            }
            None if self.is_known_to_nobody(address) => {}
            None => {
                self.refresh();
                if self.modules.find(address).is_none() {
                    self.remember_unknown(address);
                }
            }
        }
    }

    /// Finds the rules of a frame, whose module was looked for; at a place on the
    /// stack if that is known.
    fn rule_source(&mut self, pc: Pc, frame: Option<&(WalkState, Bounds)>) -> RuleSource {
        match self.tables_of(pc) {
            RuleSource::Bare(module, _) => self.bare(pc, module, frame),
            RuleSource::NoTables(0) => self.unfiled(pc, frame),
            RuleSource::NoTables(module) => self.untabled(pc, module, frame),
            source => source,
        }
    }

    /// Finds its tables. Apart: the frames of this and of what comes next are
    /// large, and one of the two is on the stack at a time.
    #[inline(never)]
    fn tables_of(&mut self, pc: Pc) -> RuleSource {
        let address = pc.lookup();
        if let Some(module) = self.modules.find(address) {
            let id = module.id;
            let Self { indexes, found, .. } = self;
            if arch::CODE_FIRST {
                let code = code_at(H::ground(), pc.address());
                if let Some(rule) = trampoline_of(&code) {
                    return RuleSource::SignalReturn(id, rule);
                }
                if arch::BACK_CHAIN && !pc.is_exact() {
                    let is_last = arch::LAST.iter().any(|bytes| code.starts_with(bytes));
                    return match is_last && !describe::<H>(module, pc.address(), indexes, found) {
                        true => RuleSource::Outermost(id),
                        false => RuleSource::Chained(id),
                    };
                }
            }
            if describe::<H>(module, address, indexes, found) {
                // Tables say that it is a signal's frame, and not which kind.
                return match pc.address() == found.end || found.common.is_signal {
                    true => unless_trampoline(H::ground(), pc, id, RuleSource::Described(id)),
                    false => RuleSource::Described(id),
                };
            }
            if !pc.is_exact()
                && describe::<H>(module, pc.address(), indexes, found)
                && found.start == pc.address()
                && called_by(H::ground(), pc.address()).is_none()
            {
                return unless_trampoline(H::ground(), pc, id, RuleSource::Outermost(id));
            }
            let mut endings = arch::marks::endings().into_iter();
            let is_bare = endings.any(|(end, ..)| {
                module.contains(end) && !describe::<H>(module, end, indexes, found)
            });
            let entry = module.image.entry;
            return undescribed(
                H::ground(),
                pc,
                (id, entry),
                is_bare,
                &mut self.proven.reader,
            );
        }
        if !self.registered.is_empty() {
            let buffer = self.modules.buffer();
            if let Some(found) = self.registered.describe(H::ground(), address, buffer) {
                self.found = found;
                return RuleSource::Described(0);
            }
        }
        if let Some(rule) = self.trampoline_apart(pc.address()) {
            return RuleSource::SignalReturn(0, rule);
        }
        match arch::BACK_CHAIN && !pc.is_exact() {
            true => RuleSource::Chained(0),
            false => RuleSource::NoTables(0),
        }
    }

    /// The rule of a return trampoline that a kernel put here, outside of all
    /// modules.
    fn trampoline_apart(&mut self, address: u64) -> Option<Rule> {
        let is_asked = arch::HAS_TRAMPOLINES_APART && self.is_code(address);
        is_asked
            .then(|| trampoline_of(&code_at(H::ground(), address)))
            .flatten()
    }

    /// Whether an address lies where a recent look found no module, so that
    /// code without a file does not cost a reading of the maps every time.
    fn is_known_to_nobody(&self, address: u64) -> bool {
        const RECENT_NS: u64 = 100_000_000;
        let recent = Os::ticks_ns().wrapping_sub(self.read_at_ns) < RECENT_NS;
        let inside = (self.unknown.low..self.unknown.high).contains(&address);
        (recent && inside) || H::ground().is_quiet()
    }

    fn remember_unknown(&mut self, address: u64) {
        let region = region_of(H::ground(), address, self.modules.buffer());
        self.unknown = Bounds {
            low: region.low,
            high: region.high,
        };
        self.read_at_ns = Os::ticks_ns();
    }

    fn resolve(&mut self, frame: &(WalkState, Bounds)) -> Result<Known, StackId> {
        let pc = frame.0.pc;
        let generation = H::generation();
        H::published().renew(H::ground(), generation);
        self.look_for_module(pc.lookup());
        let (module, rule) = match self.rule_source(pc, Some(frame)) {
            RuleSource::Described(module) => {
                H::ground().counters.add(Counter::RulesCompiled, 1);
                let row = self.machine.run(&self.found, pc.lookup());
                let rule = match row {
                    _ if self.found.common.is_signal => Rule::plain(Kind::Signal),
                    Some(row) if !is_unsettled(pc) => row.pack(),
                    _ => Rule::plain(Kind::Complex),
                };
                (module, rule)
            }
            RuleSource::SignalReturn(module, rule) => (module, rule),
            RuleSource::Outermost(module) => (module, Rule::plain(Kind::End)),
            RuleSource::Chained(module) => (module, Rule::plain(Kind::Chain)),
            RuleSource::NoTables(module) => (module, Rule::plain(Kind::NoTables)),
            RuleSource::Bare(module, false) => (module, Rule::BARE),
            RuleSource::Bare(module, true) => (module, Rule::GIVEN_UP),
            RuleSource::Proven(module) => (module, self.proven.reader.row.pack()),
            RuleSource::Switched(module, back) => (module, back.rule()),
        };
        let code = code_id::<H>(pc, module);
        if code == 0 {
            return Err(StackId::CUT_FULL);
        }
        let known = Known { rule, code };
        // Code that belongs to nobody may belong to somebody soon, and another
        // call tell more of a bare frame.
        let is_for_ever = module != 0 || !matches!(rule.kind(), Kind::NoTables | Kind::Chain);
        if is_for_ever && rule != Rule::BARE && H::published().put(pc, known, generation) {
            H::published().grow(H::ground(), generation);
        }
        Ok(known)
    }

    fn far(&mut self, pc: Pc) -> Far {
        self.look_for_module(pc.lookup());
        let row = match self.rule_source(pc, None) {
            RuleSource::Described(_) if !self.found.common.is_signal && !is_unsettled(pc) => {
                self.machine.run(&self.found, pc.lookup())
            }
            RuleSource::Proven(_) => Some(&self.proven.reader.row),
            _ => None,
        };
        row.and_then(Far::of).unwrap_or(Far::UNKNOWN)
    }

    /// Whether an address lies in a module or in memory that can be executed.
    fn is_code(&mut self, address: u64) -> bool {
        if self.modules.find(address).is_some() || self.executable.contain(address) {
            return true;
        }
        let region = region_of(H::ground(), address, self.modules.buffer());
        if region.executable {
            self.executable.add(Bounds {
                low: region.low,
                high: region.high,
            });
        }
        region.executable
    }

    fn bounds_around(&mut self, sp: u64) -> Bounds {
        let region = region_of(H::ground(), sp, self.modules.buffer());
        Bounds {
            low: region.low,
            high: region.high,
        }
    }
}

fn code_id<H: Process>(pc: Pc, module: u32) -> u32 {
    let code = Code {
        address: pc.address(),
        module,
        exact: pc.is_exact(),
    };
    H::code_id(code)
}

/// Whether a frame may stand where the tables do not hold: ARM's know nothing of
/// what is interrupted while it makes its frame.
fn is_unsettled(pc: Pc) -> bool {
    arch::HAS_EXIDX && pc.is_exact()
}

/// Puts the description of an address into its place; false if there is none.
/// Apart, for descriptions are large and the stack is the program's.
#[inline(never)]
fn describe<H: Process>(
    module: &Module,
    address: u64,
    indexes: &mut FrameIndexes,
    found: &mut Description,
) -> bool {
    let described = cfi::describe(module, address, indexes);
    match indexes.take_new_bytes() {
        0 => {}
        bytes => H::ground().note_own(bytes),
    }
    match described {
        Some(description) => {
            *found = description;
            true
        }
        None => false,
    }
}
