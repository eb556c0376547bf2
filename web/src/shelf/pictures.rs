//! Pictures that scripts drew, until others take their room.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use axum::body::Bytes;
use memlog_export::digest::source;

use crate::reply::Refusal;

/// Bytes of all of them.
const MOST_BYTES: usize = 64 << 20;

/// All of them, the oldest first.
#[derive(Default)]
pub struct Pictures(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    all: VecDeque<(String, Bytes)>,
    bytes: usize,
}

impl Pictures {
    /// Keeps a picture, under what its bytes say.
    pub fn keep(&self, svg: String) -> String {
        let sum = source(&svg);
        let letters = sum.chars().filter(char::is_ascii_alphanumeric);
        let name: String = letters.collect();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.all.iter().any(|(known, _)| *known == name) {
            kept.bytes += svg.len();
            kept.all.push_back((name.clone(), svg.into()));
        }
        while kept.bytes > MOST_BYTES
            && let Some((_, oldest)) = kept.all.pop_front()
        {
            kept.bytes -= oldest.len();
        }
        name
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Result<Bytes, Refusal> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.all.iter().find(|(known, _)| known == name);
        found.map(|(_, svg)| svg.clone()).ok_or_else(|| {
            Refusal::missing(
                "there is no such picture",
                "run the script that drew it again",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_give_way() {
        let pictures = Pictures::default();
        let large = |letter: &str| letter.repeat(MOST_BYTES / 3);
        let names = ["a", "b", "c", "d"].map(|letter| pictures.keep(large(letter)));
        assert_eq!(pictures.keep(large("d")), names[3]);
        let there = names.each_ref().map(|name| pictures.get(name).is_ok());
        assert_eq!(there, [false, true, true, true]);
        assert!(names.iter().all(|name| name.len() > 40));
    }
}
