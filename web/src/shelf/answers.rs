//! Answers that were given, in case they are asked for again: who goes back and forth on
//! a page asks the same a few times.

use std::collections::HashMap;

use axum::body::Bytes;

/// Bytes of all answers of a log that are kept.
const MOST_BYTES: usize = 32 << 20;

/// Those of a log, by their questions.
#[derive(Default)]
pub struct Answers {
    /// Which reading of the log they are of.
    generation: u64,
    known: HashMap<String, (Bytes, u64)>,
    bytes: usize,
    /// Goes up with each use.
    clock: u64,
}

impl Answers {
    /// The answer to a question, if it is known.
    pub fn get(&mut self, generation: u64, question: &str) -> Option<Bytes> {
        self.renew(generation);
        self.clock += 1;
        let (answer, used) = self.known.get_mut(question)?;
        *used = self.clock;
        Some(answer.clone())
    }

    /// Keeps an answer. Those that were not asked for so long give way.
    pub fn keep(&mut self, generation: u64, question: String, answer: Bytes) {
        self.renew(generation);
        let bytes = question.len() + answer.len();
        if bytes > MOST_BYTES / 4 {
            return;
        }
        self.clock += 1;
        self.drop_one(&question);
        self.bytes += bytes;
        self.known.insert(question, (answer, self.clock));
        while self.bytes > MOST_BYTES {
            let oldest = self.known.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(question, _)| question.clone()) else {
                return;
            };
            self.drop_one(&oldest);
        }
    }

    fn drop_one(&mut self, question: &str) {
        if let Some((answer, _)) = self.known.remove(question) {
            self.bytes -= question.len() + answer.len();
        }
    }

    /// Forgets all: the log is closed.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What was said of a log that has grown since is forgotten.
    fn renew(&mut self, generation: u64) {
        if self.generation != generation {
            *self = Self {
                generation,
                ..Self::default()
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_so_long_gives_way() {
        let mut answers = Answers::default();
        let answer = Bytes::from(vec![b' '; MOST_BYTES / 5 - 8]);
        for number in 0..5 {
            answers.keep(1, number.to_string(), answer.clone());
        }
        assert!(answers.get(1, "0").is_some());
        answers.keep(1, "5".to_owned(), answer.clone());
        let known: Vec<_> = (0..6)
            .map(|number| answers.get(1, &number.to_string()))
            .collect();
        let known: Vec<_> = known.iter().map(Option::is_some).collect();
        assert_eq!(known, [true, false, true, true, true, true]);
        answers.keep(1, "5".to_owned(), Bytes::new());
        assert_eq!(answers.bytes, 4 * answer.len() + 5);
        answers.keep(1, "large".to_owned(), Bytes::from(vec![0; MOST_BYTES / 3]));
        assert!(answers.get(1, "large").is_none());
        assert!(answers.get(2, "0").is_none());
        assert_eq!(answers.bytes, 0);
    }
}
