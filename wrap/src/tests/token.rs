//! The token: a row of the table for each way in which a call can find it.

use crate::platform::bounds::Bounds;
use crate::process::token::{Phase, TokenState, read, word};

const STACK: Bounds = Bounds {
    low: 0x7000_0000,
    high: 0x7010_0000,
};
const OUTER: u64 = 0x7008_0000;
const INNER: u64 = OUTER - 0x100;
const ELSEWHERE: u64 = 0x5000_0000;
const FURTHER_ELSEWHERE: u64 = 0x5000_1000;

#[test]
fn a_free_token_is_an_ordinary_call() {
    for sp in [OUTER, INNER, ELSEWHERE, 0, u64::MAX] {
        assert_eq!(read(0, sp, &STACK), TokenState::Free);
    }
}

#[test]
fn every_way_to_find_it_held() {
    use Phase::{InReal, InRecorder};
    use TokenState::{Abandoned, Nested};
    for phase in [InReal, InRecorder] {
        let cases = [
            ("further in on the own stack", OUTER, INNER, Nested(phase)),
            (
                "the same depth: the holder was jumped out of",
                OUTER,
                OUTER,
                Abandoned,
            ),
            ("further out: the same", INNER, OUTER, Abandoned),
            ("a signal's own stack", OUTER, ELSEWHERE, Nested(InRecorder)),
            (
                "the own stack, above a signal's",
                ELSEWHERE,
                OUTER,
                Nested(InRecorder),
            ),
            (
                "further in on an unknown stack",
                FURTHER_ELSEWHERE,
                ELSEWHERE,
                Nested(phase),
            ),
            (
                "another unknown stack",
                ELSEWHERE,
                FURTHER_ELSEWHERE,
                Nested(InRecorder),
            ),
            (
                "the lowest word of the stack",
                OUTER,
                STACK.low,
                Nested(phase),
            ),
            ("just past the stack", OUTER, STACK.high, Nested(InRecorder)),
        ];
        for (what, holder, caller, expected) in cases {
            assert_eq!(
                read(word(phase, holder), caller, &STACK),
                expected,
                "{what} ({phase:?})"
            );
        }
    }
}

#[test]
fn a_held_token_is_never_taken_for_a_free_one() {
    for phase in [Phase::InReal, Phase::InRecorder] {
        for sp in [0, 4, OUTER, !3] {
            assert_ne!(word(phase, sp), 0);
            assert_ne!(read(word(phase, sp), sp, &STACK), TokenState::Free);
        }
    }
}
