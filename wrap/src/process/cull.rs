//! Whether blocks that live shortly are left out of the log, and what the log says of it.

use crate::log::sink::Mode;
use crate::platform::clock;
use crate::platform::text::Text;
use crate::process::recorder::RECORDER;
use crate::process::settings::Settings;
use memlog_format::meta::Key;

/// Begins with a new log.
pub(super) fn begin(settings: &Settings, text: &mut impl FnMut(Key, &[u8])) {
    let tick_ns = clock::tick_ns().max(1);
    let below_ticks = settings.cull_ns / tick_ns;
    let cull = &RECORDER.log.cull;
    cull.begin(0);
    if settings.cull_ns == 0 {
        return;
    }
    if settings.flight_recorder > 0 {
        text(
            Key::Note,
            b"MEMLOG_CULL does nothing: a flight recorder's log is bounded as it is",
        );
    } else if RECORDER.log.sink.mode() == Mode::Written {
        text(
            Key::Note,
            b"MEMLOG_CULL does nothing: it needs a log that is mapped; memlog strip makes one \
              that is written smaller",
        );
    } else if below_ticks == 0 {
        text(
            Key::Note,
            b"MEMLOG_CULL does nothing: the clock has steps of 1 ms; MEMLOG_FINE_TIME=1 has \
              finer ones",
        );
    } else {
        let mut value = Text::<20>::new();
        value.push_number(below_ticks * tick_ns);
        text(Key::Culled, value.get());
        cull.begin(below_ticks);
    }
}
