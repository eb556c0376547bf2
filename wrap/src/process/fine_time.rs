//! Fine time: whether the log has it, why not, and when it has to end.

use crate::platform::clock;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::platform::text::Text;
use crate::process::recorder::RECORDER;
use crate::process::settings::Settings;
use core::sync::atomic::Ordering;
use memlog_format::meta::{Key, Record};

const FORBIDDEN: &[u8] = b"the program forbade itself to read the processor's counter";

/// Times are fine from the first event on, if that was asked for and can be.
pub(super) fn begin(settings: &mut Settings) {
    if settings.fine_time {
        match check(settings) {
            Ok(()) => clock::be_fine(),
            Err(why) => settings.no_fine_time = why,
        }
    }
}

fn check(settings: &Settings) -> Result<(), &'static [u8]> {
    if settings.flight_recorder > 0 {
        // A table of it has 32 bits for a time.
        return Err(b"with a flight recorder there is none");
    }
    Os::fine_clock()
}

/// What the log says of it at its beginning. A forked child's says no more than
/// what is known: a filter may be there by now.
pub(super) fn tell(settings: &Settings, text: &mut impl FnMut(Key, &[u8])) {
    if clock::is_fine() {
        text(Key::Setting, b"MEMLOG_FINE_TIME=1");
    } else if settings.fine_time {
        let why = match settings.no_fine_time {
            [] => FORBIDDEN,
            why => why,
        };
        let mut line = Text::<128>::new();
        line.push(b"no fine time: ");
        line.push(why);
        text(Key::Note, line.get());
    }
}

/// The program is about to forbid itself to read the processor's counter, or to
/// make any call that the kernel might be asked for instead.
#[cold]
pub fn end() {
    // The log may be that of who has forked or lent this memory.
    let is_own = || {
        let pid = RECORDER.ground.pid.load(Ordering::Relaxed);
        !RECORDER.ground.is_parted() && !RECORDER.ground.is_quiet() && Os::pid() == pid
    };
    if clock::be_coarse() && is_own() {
        let mut line = Text::<128>::new();
        line.push(b"fine time ended: ");
        line.push(FORBIDDEN);
        RECORDER.note(Patience::Bounded, &Record::Text(Key::Note, line.get()));
    }
}
