//! Packed rules: what goes in comes out, and what does not fit is refused.

use crate::unwind::rule::{Kind, Rule};

const WORD: i64 = 8;

#[test]
fn what_fits_comes_out_again() {
    for kind in [Kind::Sp, Kind::Fp] {
        for offset in [8, 16, 24, 4096, 8 * 0x7fff, 8 * 0xffff] {
            for saved in [0, 1, 2, 0xfff, 0x1fff] {
                let rule = Rule::frame(kind, offset, saved, WORD).unwrap();
                assert_eq!(rule.kind(), kind);
                assert_eq!(rule.offset_words() as i64 * WORD, offset);
                assert_eq!(rule.saved_words(), saved);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = [
        (0, 0),
        (-8, 0),
        (12, 0),
        (8 * 0x1_0000, 0),
        (16, 0x2000),
        (i64::MIN, 0),
        (i64::MAX, 0),
        (16, u64::MAX),
    ];
    for (offset, saved) in refused {
        assert_eq!(
            Rule::frame(Kind::Sp, offset, saved, WORD),
            None,
            "{offset} {saved}"
        );
    }
}

#[test]
fn fp_may_be_the_frame_address() {
    let rule = Rule::frame(Kind::Fp, 0, 3, WORD).unwrap();
    assert_eq!(rule.kind(), Kind::Fp);
    assert_eq!((rule.offset_words(), rule.saved_words()), (0, 3));
    assert_eq!(Rule::frame(Kind::Fp, -8, 3, WORD), None);
}

#[test]
fn words_of_four_bytes_reach_half_as_far() {
    let rule = Rule::frame(Kind::Sp, 12, 2, 4).unwrap();
    assert_eq!((rule.offset_words(), rule.saved_words()), (3, 2));
    assert_eq!(Rule::frame(Kind::Sp, 4 * 0x1_0000, 0, 4), None);
}

#[test]
fn plain_rules_are_their_kind() {
    use Kind::*;
    for kind in [Unknown, Sp, Fp, Signal, End, Complex, NoTables, Chain] {
        let rule = Rule::plain(kind);
        assert_eq!(rule.kind(), kind);
        assert_eq!((rule.offset_words(), rule.saved_words()), (0, 0));
    }
    assert_eq!(Rule::default().kind(), Unknown, "an empty cache entry");
}
