//! A request, from the words that both map to its answer.

use std::time::{Duration, Instant};

use memlog_format::control::{Answer, Asked, State, TEXT_BYTES, Verb, Word};
use memlog_pages::Advice;
use rustix::fs::{FlockOperation, flock};

use super::target::Target;

/// What is asked for.
pub struct Request<'a> {
    /// What to do.
    pub verb: Verb,
    /// A size, or how long the text is.
    pub argument: u64,
    /// The name of a mark.
    pub text: &'a str,
}

/// What came of it.
pub enum Reply {
    /// The recorder said this.
    Answered(Answer),
    /// It has not said anything yet, and will when the program allocates next.
    Silent,
    /// Somebody else asks, and waits for the answer.
    Busy,
    /// It takes no requests.
    Deaf,
    /// It stopped for good.
    Stopped,
    /// The program has ended.
    Gone,
}

impl Reply {
    fn alone(self) -> Outcome {
        Outcome {
            reply: self,
            dropped: false,
        }
    }
}

/// A reply, and what became of the request before.
pub struct Outcome {
    /// To this request.
    pub reply: Reply,
    /// An earlier one had no answer, and will not be carried out any more.
    pub dropped: bool,
}

/// How long to sleep between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Asks, and waits for the answer.
pub fn ask(target: &Target, request: &Request, patience: Duration) -> anyhow::Result<Outcome> {
    match target.state() {
        State::On | State::Off => {}
        State::Deaf => return Ok(Reply::Deaf.alone()),
        State::Stopped => return Ok(Reply::Stopped.alone()),
    }
    let reply = ask_in_turn(target, request, Instant::now() + patience);
    // Others need not wait for what is asked of the next program.
    let _ = flock(target.file(), FlockOperation::Unlock);
    reply
}

fn ask_in_turn(target: &Target, request: &Request, end: Instant) -> anyhow::Result<Outcome> {
    // Who asks at the same time waits here.
    while flock(target.file(), FlockOperation::NonBlockingLockExclusive).is_err() {
        if Instant::now() >= end {
            return Ok(Reply::Busy.alone());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let words = target.words();
    let before = Asked(words.get(Word::Asked.at()));
    // Who asked before has gone, but was told that it will be done.
    let now = Instant::now();
    let half = now + end.saturating_duration_since(now) / 2;
    let dropped = !before.is_begun() && answer(target, before, half).is_none();
    debug_assert!(request.text.len() <= TEXT_BYTES);
    let asked = before.next(request.verb);
    words.set(Word::Asked.at(), asked.begun().0);
    words.put(Word::Text.at(), request.text.as_bytes());
    words.set(Word::Argument.at(), request.argument);
    words.set(Word::Asked.at(), asked.0);
    let answer = answer(target, asked, end);
    if answer == Some(Answer::Unknown) {
        let sentence = format!("{} does not know that request", target.name());
        return Err(Advice::error(
            sentence,
            "its recorder is of an older memlog",
        ));
    }
    let reply = match answer {
        Some(answer) => Reply::Answered(answer),
        None if target.is_there() => Reply::Silent,
        None => Reply::Gone,
    };
    Ok(Outcome { reply, dropped })
}

fn answer(target: &Target, asked: Asked, end: Instant) -> Option<Answer> {
    loop {
        let word = target.words().get(Word::Answered.at());
        if let Some(answer) = Answer::of(word, asked) {
            return Some(answer);
        }
        if Instant::now() >= end || target.state() == State::Stopped {
            return None;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
