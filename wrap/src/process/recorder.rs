//! The one global of the recorder: the owner of all state. Storeys below get
//! what they need of it by reference; only this one and the hooks name it.
//!
//! ```text
//! ground     life, counters, whether a filter is there; any thread
//! log        streams, chunks, tables, the file; any thread, see `log`
//! code       slow path, bounded lock                codemap.rs
//! published  what is read of it without             published.rs
//! settings   written by the starter, read after On
//! ```

use crate::log::Log;
use crate::log::stream::Slot;
use crate::log::streams::{MAX_STREAMS, Slots};
use crate::log::tables::CodeMemory;
use crate::platform::ground::Ground;
use crate::platform::lock::{Bounded, Patience};
use crate::process::census::Censuses;
use crate::process::census::taking::Place;
use crate::process::child;
use crate::process::control::Control;
use crate::process::deep::Deep;
use crate::process::fork::Fork;
use crate::process::guard::Guard;
use crate::process::real::Reals;
use crate::process::rss::Shared;
use crate::process::settings::Settings;
use crate::process::start::Began;
use crate::process::usable::Usable;
use crate::unwind::codemap::CodeMap;
use crate::unwind::modules::Found;
use crate::unwind::published::Published;
use crate::unwind::{Process, codemap};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use memlog_format::control::{State, Word};
use memlog_format::counter::Counter;
use memlog_format::meta::{self, Record};
use memlog_format::table::Code;
use memlog_format::tuned::MAX_TUNED;
use memlog_lockfree::life::Life;

/// In a generation: every capture is verified, so none takes the short way.
pub const VERIFYING: u64 = 1 << 63;

/// Everything.
pub struct Recorder {
    /// What all storeys stand on.
    pub ground: Ground,
    /// The log.
    pub log: Log,
    /// Modules and rules.
    pub code: Bounded<CodeMap<Here>>,
    /// What is read of those without a lock.
    pub published: Published,
    /// What the user wants.
    pub settings: Bounded<Settings>,
    /// The generation of the rules; a change empties every cache. With
    /// [`VERIFYING`], that of no stream.
    pub generation: AtomicU64,
    /// How it began.
    pub start: Began,
    /// What a child knows of the fork.
    pub fork: Fork,
    /// The functions behind the hooks.
    pub reals: Reals,
    /// What a block really has.
    pub usable: Usable,
    /// Libraries that are bound past us.
    pub deep: Bounded<Deep>,
    /// Held by whoever looks for C++'s operators.
    pub looking: Bounded<()>,
    /// The second ledger's order numbers.
    pub ledger: AtomicU64,
    /// Calls of mallopt that were written.
    tuned: AtomicU32,
    /// Snapshots that the program took.
    snapshots: AtomicU32,
    /// Resident memory, as last seen.
    pub rss: Shared,
    /// What was resident in which mapping.
    pub census: Censuses,
    /// How near the limits of memory are.
    pub guard: Guard,
    /// Whether to record now.
    pub control: Control,
}

/// The streams' places. Apart from the recorder: what begins as zeros takes no
/// room in the library's file.
static SLOTS: Slots = [const { AtomicPtr::<Slot>::new(core::ptr::null_mut()) }; MAX_STREAMS];

/// What censuses take of memory, apart for the same reason.
static CENSUS: Place = Place::new();

/// The recorder of this process.
pub static RECORDER: Recorder = Recorder {
    ground: Ground::new(),
    log: Log::new(
        &RECORDER.ground,
        &RECORDER.log.room,
        &SLOTS,
        child::materialize,
    ),
    code: Bounded::new(CodeMap::new(), &RECORDER.ground),
    published: Published::new(),
    settings: Bounded::new(Settings::new(), &RECORDER.ground),
    generation: AtomicU64::new(1),
    start: Began::new(&RECORDER.ground),
    fork: Fork::new(&RECORDER.ground),
    reals: Reals::new(),
    usable: Usable::new(),
    deep: Bounded::new(Deep::new(), &RECORDER.ground),
    looking: Bounded::new((), &RECORDER.ground),
    ledger: AtomicU64::new(0),
    tuned: AtomicU32::new(0),
    snapshots: AtomicU32::new(0),
    rss: Shared::new(),
    census: Censuses::new(&CENSUS),
    guard: Guard::new(&RECORDER.ground),
    control: Control::new(&RECORDER.ground),
};

impl Recorder {
    /// Stops recording for good.
    #[cold]
    pub fn stop(&self) {
        self.ground.counters.set(Counter::Stopped, 1);
        self.ground.life().turn(Life::Stopped);
        self.ground
            .counters
            .set_control(Word::State, State::Stopped as u64);
    }

    /// A call that may set a filter is about to be made: whoever makes the log
    /// longer has done so when this returns.
    pub fn expect_filter(&self) {
        self.ground.expect_filter();
        self.log.sink.heed_quiet();
    }

    /// That call is through.
    pub fn end_expecting(&self, is_there: bool) {
        self.ground.end_expecting(is_there);
        self.log.sink.heed_quiet();
    }

    /// In a forked child: a call of the parent's other threads is none of its.
    pub fn expect_no_filter(&self) {
        if self.ground.expect_no_filter() {
            self.log.sink.heed_quiet();
        }
    }

    /// Writes a record of the rarer kind.
    pub fn note(&self, patience: Patience, record: &Record) {
        let meta = &self.log.meta;
        meta.with(patience, |meta| meta.append(&self.log, record));
    }

    /// Whether one more call of mallopt is written: a loop of them shall not fill the log.
    pub fn may_note_tuned(&self) -> bool {
        let one_more = |count: u32| (count < MAX_TUNED).then_some(count + 1);
        let order = Ordering::Relaxed;
        self.tuned.fetch_update(order, order, one_more).is_ok()
    }

    /// The number of a snapshot that is taken now, from 1.
    pub fn next_snapshot(&self) -> u32 {
        self.snapshots
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_add(1)
    }

    /// Whether somebody was at work on what several threads share.
    pub fn has_held_lock(&self) -> bool {
        self.code.is_held() || self.settings.is_held() || self.log.has_held_lock()
    }

    /// From here on every capture is verified.
    pub fn verify(&self) {
        self.generation.fetch_or(VERIFYING, Ordering::AcqRel);
    }

    /// Rules have changed: every cache is to be emptied.
    pub fn next_generation(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// A forked child's: nothing of the parent's recording is its own.
    ///
    /// # Safety
    /// The caller is the only thread of the process.
    #[allow(unsafe_code)]
    pub unsafe fn reset_in_child(&self) {
        self.ground.reset_in_child();
        // SAFETY: by the caller, for each.
        unsafe {
            self.log.reset_in_child();
            self.code.force_open();
            self.settings.force_open();
            self.guard.reset_in_child();
            self.control.reset_in_child();
        }
        self.rss.reset();
        self.census.reset();
        self.ledger.store(0, Ordering::Relaxed);
        self.tuned.store(0, Ordering::Relaxed);
        self.snapshots.store(0, Ordering::Relaxed);
        self.next_generation();
    }
}

/// This process, as the unwinder asks for it.
pub struct Here;

impl Process for Here {
    fn ground() -> &'static Ground {
        &RECORDER.ground
    }

    fn code_map() -> &'static Bounded<codemap::CodeMap<Self>> {
        &RECORDER.code
    }

    fn published() -> &'static Published {
        &RECORDER.published
    }

    fn generation() -> u64 {
        RECORDER.generation.load(Ordering::Acquire)
    }

    fn next_generation() {
        RECORDER.next_generation();
    }

    fn code_id(code: Code) -> u32 {
        let key = [code.address, code.to_tail_word()];
        let memory = CodeMemory(&RECORDER.log, Patience::Bounded);
        RECORDER.log.codes.intern(&key, &memory)
    }

    fn tell(found: Found) {
        let record = match found {
            Found::Loaded { module, path } => Record::Module(meta::Module {
                id: module.id,
                bias: module.image.bias,
                low: module.low,
                high: module.image.high,
                build_id: module.image.build_id.get(),
                path,
            }),
            Found::Unloaded { id } => Record::Unload {
                id,
                tick: crate::platform::clock::tick(),
            },
        };
        RECORDER.note(Patience::Bounded, &record);
    }
}
