//! Why events are missing from a log, in words, as far as the log knows it.

use memlog_format::counter::Counter;

/// What bounds a log, as its settings say.
#[derive(Clone, Copy, Default)]
pub struct Bounds {
    /// It has a MEMLOG_MAX_LOG.
    pub has_size: bool,
    /// It has a MEMLOG_FLIGHT_RECORDER.
    pub has_flight: bool,
}

impl Bounds {
    /// Of a log with these settings.
    pub fn of<'a>(settings: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut bounds = Self::default();
        settings.into_iter().for_each(|text| bounds.take(text));
        bounds
    }

    /// Takes a setting.
    pub fn take(&mut self, setting: &[u8]) {
        self.has_size |= setting.starts_with(b"MEMLOG_MAX_LOG=");
        self.has_flight |= setting.starts_with(b"MEMLOG_FLIGHT_RECORDER=");
    }

    /// What was in the way of events that found no room. Which of them it was
    /// the recorder does not write down.
    fn in_the_way(self) -> &'static str {
        match (self.has_size, self.has_flight) {
            (true, _) => ", which had reached MEMLOG_MAX_LOG or filled the disk",
            (false, true) => ": the flight recorder's table of what is live or the disk was full",
            (false, false) => ": the disk was full, or a quota or a limit on files was reached",
        }
    }
}

/// What happened to events that are counted so: `found no room in the log, ...`.
pub fn fate(counter: Counter, bounds: Bounds) -> String {
    let words = match counter {
        Counter::LostNoRoom => {
            return format!("found no room in the log{}", bounds.in_the_way());
        }
        Counter::LostNotReady => "came while the recorder could not take them",
        Counter::LostNoStream => "came on threads that the recorder had no room for",
        _ => "ended in a jump out of the recorder",
    };
    words.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memlog_format::counter::ALL;

    #[test]
    fn a_bound_is_named_only_where_there_is_one() {
        let said = |settings: &[&str]| {
            let settings = settings.iter().map(|text| text.as_bytes());
            fate(Counter::LostNoRoom, Bounds::of(settings))
        };
        assert!(said(&["MEMLOG_MAX_LOG=300"]).contains("MEMLOG_MAX_LOG or filled the disk"));
        assert!(said(&["MEMLOG_FLIGHT_RECORDER=9"]).contains("flight recorder"));
        let disk = "found no room in the log: the disk was full";
        assert!(said(&["MEMLOG_SINK=written"]).starts_with(disk));
    }

    #[test]
    fn each_loss_has_words_of_its_own() {
        let losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
        let mut words: Vec<_> = losses
            .map(|(counter, _)| fate(*counter, Bounds::default()))
            .collect();
        let count = words.len();
        words.sort();
        words.dedup();
        assert_eq!((words.len(), count), (4, 4));
    }
}
