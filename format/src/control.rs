//! How `memlog ctl` and a recorder talk: sixteen words of chunk 0, behind the last
//! counters that there will be. Both map them; whoever may write the log may ask.
//!
//! Who asks has a lock on the file. It waits a while for the answer to an earlier request,
//! says that a new one begins, writes argument and text, and then the request with a number
//! of its own. The recorder carries it out when the program allocates next, and answers with
//! that number. A request that had no answer is dropped by the next one.

use crate::chunk::le64;
use crate::counter::{AREA_AT, AREA_END};

/// Where the words start in chunk 0.
pub const CONTROL_AT: usize = AREA_AT + 8 * 48;
/// Bytes of the text, the name of a mark.
pub const TEXT_BYTES: usize = AREA_END - CONTROL_AT - 8 * Word::Text as usize;

/// A word, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Word {
    /// A [`State`], which the recorder says.
    State = 0,
    /// An [`Asked`].
    Asked = 1,
    /// An [`Answer`].
    Answered = 2,
    /// A number that the request is about: bytes of the text, or of the log at most.
    Argument = 3,
    /// The first word of the text.
    Text = 4,
}

impl Word {
    /// Where it lies in chunk 0.
    pub const fn at(self) -> usize {
        CONTROL_AT + 8 * self as usize
    }
}

/// What the recorder does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It takes no requests: it is of an older memlog, or the log is written and not
    /// mapped, or nobody is there any more.
    Deaf = 0,
    /// Events are recorded.
    On = 1,
    /// They are not, until somebody switches recording on.
    Off = 2,
    /// They are not, for good.
    Stopped = 3,
}

impl State {
    /// What the bytes of chunk 0 say.
    pub fn read(chunk0: &[u8]) -> Self {
        Self::from_word(le64(chunk0, Word::State.at()))
    }

    /// Of the word; what is newer is as good as deaf.
    pub const fn from_word(word: u64) -> Self {
        match word {
            1 => State::On,
            2 => State::Off,
            3 => State::Stopped,
            _ => State::Deaf,
        }
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Verb {
    /// Record.
    Start = 1,
    /// Do not.
    Stop = 2,
    /// Give this moment the text as its name.
    Mark = 3,
    /// Give it a number.
    Snapshot = 4,
    /// Have all in the file.
    Flush = 5,
    /// The log takes so many bytes at most.
    Limit = 6,
}

impl Verb {
    const ALL: [Verb; 6] = [
        Verb::Start,
        Verb::Stop,
        Verb::Mark,
        Verb::Snapshot,
        Verb::Flush,
        Verb::Limit,
    ];
}

/// A request: its number, and in the lowest byte what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked(pub u64);

impl Asked {
    /// The request after this one.
    #[must_use]
    pub const fn next(self, verb: Verb) -> Self {
        Self(((self.0 >> 8) + 1) << 8 | verb as u64)
    }

    /// The same while its argument and text are being written.
    #[must_use]
    pub const fn begun(self) -> Self {
        Self(self.0 >> 8 << 8)
    }

    /// Whether it is not written to its end.
    pub const fn is_begun(self) -> bool {
        self.0 as u8 == 0
    }

    /// What it asks for; nothing if a newer memlog wrote it, or there is none.
    pub fn verb(self) -> Option<Verb> {
        let number = self.0 as u8;
        Verb::ALL.into_iter().find(|verb| *verb as u8 == number)
    }
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Answer {
    /// It was carried out.
    Done = 1,
    /// That is how it was.
    Already = 2,
    /// Recording is off, and this needs it.
    IsOff = 3,
    /// A filter of system calls keeps the recorder from it.
    Filtered = 4,
    /// A flight recorder is switched on once.
    Flight = 5,
    /// The recorder does not know such a request.
    Unknown = 6,
    /// There is no room for it in the log.
    NoRoom = 7,
}

impl Answer {
    const ALL: [Answer; 7] = [
        Answer::Done,
        Answer::Already,
        Answer::IsOff,
        Answer::Filtered,
        Answer::Flight,
        Answer::Unknown,
        Answer::NoRoom,
    ];

    /// As a word: the request's number, and this in the lowest byte.
    pub const fn to_word(self, asked: Asked) -> u64 {
        asked.0 >> 8 << 8 | self as u64
    }

    /// What the word says of this request, if it is the answer to it.
    pub fn of(word: u64, asked: Asked) -> Option<Self> {
        let kind = word as u8;
        let answer = Answer::ALL.into_iter().find(|one| *one as u8 == kind);
        answer.filter(|_| word >> 8 == asked.0 >> 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::ALL;

    #[test]
    fn no_counter_lies_in_the_words() {
        for &(counter, name) in ALL {
            assert!(AREA_AT + 8 * counter as usize + 8 <= CONTROL_AT, "{name}");
        }
        assert_eq!(Word::Text.at() + TEXT_BYTES, AREA_END);
    }

    #[test]
    fn answers_are_to_their_own_requests() {
        let first = Asked(0).next(Verb::Stop);
        let second = first.next(Verb::Limit);
        assert_eq!(first.verb(), Some(Verb::Stop));
        assert_eq!(second.verb(), Some(Verb::Limit));
        assert_eq!(Asked(0).verb(), None);
        assert!(second.begun().is_begun() && !second.is_begun());
        assert_ne!(second.begun(), first.begun());
        assert_eq!(second.begun().next(Verb::Stop), second.next(Verb::Stop));
        let word = Answer::Filtered.to_word(first);
        assert_eq!(Answer::of(word, first), Some(Answer::Filtered));
        assert_eq!(Answer::of(word, second), None);
        assert_eq!(Answer::of(0, Asked(0)), None);
    }
}
