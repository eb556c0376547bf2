//! Whether to record now: what the user asked for at the start, by time, by a signal, or
//! from outside by the words of the log that `memlog ctl` writes. Here is only what is
//! wanted; `hooks::switches` carries it out.
//!
//! ```text
//! On      looked at once in a millisecond, where the clock is looked at anyway
//! Paused  looked at by each call: two words, and the clock while recording is to begin
//! ```

use crate::log::sink::Mode;
use crate::platform::counters::Counters;
use crate::platform::ground::Ground;
use crate::platform::lock::Bounded;
use crate::platform::quick;
use crate::platform::sys::{Os, Sys};
use crate::process::attached;
use crate::process::recorder::RECORDER;
use crate::process::settings::{After, Settings};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use memlog_format::control::{Answer, Asked, State, TEXT_BYTES, Word};
use memlog_lockfree::life::Life;

/// Never, as a time.
const NEVER: u64 = u64::MAX;

/// What is wanted.
pub struct Control {
    /// Recording is off. A forked child begins as its parent was.
    is_off: AtomicBool,
    /// It was on at some time.
    was_on: AtomicBool,
    /// Held by the thread that switches.
    pub switching: Bounded<()>,
    /// The last request of chunk 0 that somebody took.
    taken: AtomicU64,
    /// What signals asked for and nobody took: bits by [`Act`].
    signalled: AtomicU32,
    /// When recording begins and ends, by the clock that does not jump.
    on_at_ns: AtomicU64,
    off_at_ns: AtomicU64,
}

/// What a signal can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Act {
    /// Record.
    Start = 0,
    /// Do not.
    Stop = 1,
    /// The one that is not.
    Toggle = 2,
    /// Give this moment a number.
    Snapshot = 3,
}

impl Act {
    /// All of them.
    pub const ALL: [Act; 4] = [Act::Start, Act::Stop, Act::Toggle, Act::Snapshot];
}

/// A request, as a whole.
pub struct Request {
    /// Its number, and what it asks for.
    pub asked: Asked,
    /// A size, or how long the text is.
    pub argument: u64,
    /// The name of a mark.
    pub text: [u8; TEXT_BYTES],
}

impl Control {
    /// Recording is on, and nobody asks for anything.
    pub const fn new(ground: &'static Ground) -> Self {
        Self {
            is_off: AtomicBool::new(false),
            was_on: AtomicBool::new(false),
            switching: Bounded::new((), ground),
            taken: AtomicU64::new(0),
            signalled: AtomicU32::new(0),
            on_at_ns: AtomicU64::new(NEVER),
            off_at_ns: AtomicU64::new(NEVER),
        }
    }

    /// Does what the settings say; false if the time to record is over already.
    pub fn obey(&self, settings: &Settings) -> bool {
        let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let now = signed(Os::ticks_ns());
        let begin = match settings.after {
            None => now,
            Some(After { ns, is_wall: false }) => now.saturating_add(signed(ns)),
            Some(After { ns, is_wall: true }) => {
                now.saturating_add(signed(ns).saturating_sub(signed(Os::wall_ns())))
            }
        };
        if begin > now {
            self.on_at_ns.store(begin as u64, Ordering::Relaxed);
        }
        if let Some(ns) = settings.for_ns {
            let end = begin.saturating_add(signed(ns));
            if end <= now {
                return false;
            }
            self.off_at_ns.store(end as u64, Ordering::Relaxed);
        }
        let is_attached = attached::is_attached();
        if is_attached && begin <= now {
            // At once, and the log says so: there are blocks of before.
            self.on_at_ns.store(begin as u64, Ordering::Relaxed);
        }
        let is_off =
            is_attached || begin > now || settings.start_disabled && settings.after.is_none();
        self.is_off.store(is_off, Ordering::Relaxed);
        true
    }

    /// The recorder was set up: it begins as it is wanted.
    pub fn begin(&self, ground: &Ground) -> Life {
        let life = match self.is_off() {
            true => Life::Paused,
            false => Life::On,
        };
        self.was_on.store(!self.is_off(), Ordering::Relaxed);
        self.tell(ground);
        ground.life().turn(life);
        life
    }

    /// Says in chunk 0 what the recorder does, where requests are heard.
    pub fn tell(&self, ground: &Ground) {
        let state = match self.is_off() {
            _ if RECORDER.log.sink.mode() == Mode::Written => State::Deaf,
            true => State::Off,
            false => State::On,
        };
        ground.counters.set_control(Word::State, state as u64);
    }

    /// Whether recording is off.
    pub fn is_off(&self) -> bool {
        self.is_off.load(Ordering::Relaxed)
    }

    /// Whether it was on at some time.
    pub fn was_on(&self) -> bool {
        self.was_on.load(Ordering::Relaxed)
    }

    /// It is now on, or off: said before the first event, or after the last. False if
    /// recording has stopped for good meanwhile. Times that are past do not come again.
    pub fn turned(&self, ground: &Ground, is_on: bool) -> bool {
        let now_ns = Os::ticks_ns();
        for at_ns in [&self.on_at_ns, &self.off_at_ns] {
            if at_ns.load(Ordering::Relaxed) <= now_ns {
                at_ns.store(NEVER, Ordering::Relaxed);
            }
        }
        let (from, to) = match is_on {
            true => (Life::Paused, Life::On),
            false => (Life::On, Life::Paused),
        };
        self.is_off.store(!is_on, Ordering::Relaxed);
        self.was_on.fetch_or(is_on, Ordering::Relaxed);
        let is_turned = ground.life().shift(from, to);
        if is_turned {
            self.tell(ground);
        }
        is_turned
    }

    /// What keeps the recorder from beginning at its time will not go.
    pub fn give_up_time(&self) {
        self.on_at_ns.store(NEVER, Ordering::Relaxed);
    }

    /// Whether somebody asks for something, or the time has come to end.
    #[inline]
    pub fn is_due(&self, counters: &Counters) -> bool {
        self.is_asked(counters) || self.is_over()
    }

    /// Whether the time to record is over.
    #[inline]
    pub fn is_over(&self) -> bool {
        let end_ns = self.off_at_ns.load(Ordering::Relaxed);
        end_ns != NEVER && Os::ticks_ns() >= end_ns
    }

    /// Whether somebody asks for something.
    #[inline]
    pub fn is_asked(&self, counters: &Counters) -> bool {
        let asked = counters.control(Word::Asked).unwrap_or(0);
        asked != self.taken.load(Ordering::Relaxed) || self.signalled.load(Ordering::Relaxed) != 0
    }

    /// Whether the time to record has come.
    #[inline]
    pub fn is_time(&self) -> bool {
        let begin_ns = self.on_at_ns.load(Ordering::Relaxed);
        begin_ns != NEVER && Os::ticks_ns() >= begin_ns
    }

    /// Lets doors hand calls on by themselves while recording is off and nobody asks, if
    /// no call has to look for the time.
    pub fn rest(&self, counters: &Counters) {
        if self.on_at_ns.load(Ordering::Relaxed) != NEVER
            || self.signalled.load(Ordering::Relaxed) != 0
        {
            return;
        }
        match counters.control_word(Word::Asked) {
            Some(word) => quick::aim(word, self.taken.load(Ordering::Relaxed)),
            None => quick::begin(),
        }
        // A signal that came since may have found nothing to clear.
        fence(Ordering::SeqCst);
        if self.signalled.load(Ordering::Relaxed) != 0 {
            quick::clear();
        }
    }

    /// Takes the request of chunk 0, if there is one: only one thread gets it.
    pub fn take(&self, counters: &Counters) -> Option<Request> {
        let asked = counters.control(Word::Asked)?;
        let taken = self.taken.load(Ordering::Relaxed);
        if asked == taken {
            return None;
        }
        let mut text = [0; TEXT_BYTES];
        counters.control_text(&mut text);
        let argument = counters.control(Word::Argument)?;
        fence(Ordering::Acquire);
        // Another one may be written over it: that one is taken by a later call.
        if counters.control(Word::Asked)? != asked {
            return None;
        }
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        let won = self.taken.compare_exchange(taken, asked, order.0, order.1);
        let asked = Asked(asked);
        (won.is_ok() && !asked.is_begun()).then_some(Request {
            asked,
            argument,
            text,
        })
    }

    /// Says what came of a request, unless another one took its place.
    pub fn answer(&self, counters: &Counters, asked: Asked, answer: Answer) {
        let Some(answered) = counters.control_word(Word::Answered) else {
            return;
        };
        let before = answered.load(Ordering::Acquire);
        if counters.control(Word::Asked) == Some(asked.0) {
            let word = answer.to_word(asked).to_le();
            let order = (Ordering::Release, Ordering::Relaxed);
            let _ = answered.compare_exchange(before, word, order.0, order.1);
        }
    }

    /// A signal came.
    pub fn signal(&self, act: Act) {
        self.signalled.fetch_or(1 << act as u8, Ordering::SeqCst);
        quick::clear();
    }

    /// Takes what signals asked for.
    pub fn take_signals(&self) -> impl Iterator<Item = Act> {
        let bits = match self.signalled.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.signalled.swap(0, Ordering::AcqRel),
        };
        Act::ALL
            .into_iter()
            .filter(move |act| bits & 1 << *act as u8 != 0)
    }

    /// A forked child's: nobody has asked it for anything.
    ///
    /// # Safety
    /// The caller is the only thread of the process.
    #[allow(unsafe_code)]
    pub unsafe fn reset_in_child(&self) {
        quick::clear();
        self.taken.store(0, Ordering::Relaxed);
        self.signalled.store(0, Ordering::Relaxed);
        // SAFETY: by the caller.
        unsafe { self.switching.force_open() };
    }
}
