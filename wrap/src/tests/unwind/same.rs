//! Whether a row of ours says what a row of gimli's says.

use crate::platform::arch::{FP, RA, REGISTERS, SP, WORD};
use crate::platform::bytes::Cursor;
use crate::platform::rules::Saved;
use crate::unwind::row::{Cfa, Row};
use crate::unwind::rule::{Kind, Rule};
use gimli::{CfaRule, EhFrame, EndianSlice, NativeEndian, Register, RegisterRule};

/// gimli's reader over a table in memory.
pub type Slice = EndianSlice<'static, NativeEndian>;
/// gimli's row.
pub type TheirRow = gimli::UnwindTableRow<usize>;

/// An expression: gimli's is a slice of the same memory that ours points to.
fn same_expression(
    section: &EhFrame<Slice>,
    ours: Cursor,
    theirs: &gimli::UnwindExpression<usize>,
) -> bool {
    let bytes = theirs.get(section).unwrap().0;
    let start = bytes.slice().as_ptr() as u64;
    (ours.at, ours.end) == (start, start + bytes.slice().len() as u64)
}

fn same_cfa(section: &EhFrame<Slice>, ours: Cfa, theirs: &CfaRule<usize>) -> bool {
    match (ours, theirs) {
        (Cfa::Register(number, distance), CfaRule::RegisterAndOffset { register, offset }) => {
            number == u64::from(register.0) && distance == *offset
        }
        // gimli has no word for it.
        (Cfa::Unset, theirs) => *theirs == CfaRule::default(),
        (Cfa::Expression(ours), CfaRule::Expression(theirs)) => {
            same_expression(section, ours, theirs)
        }
        _ => false,
    }
}

fn same_saved(section: &EhFrame<Slice>, ours: Saved, theirs: Option<&RegisterRule<usize>>) -> bool {
    match (ours, theirs) {
        (Saved::Unset, None) => true,
        (Saved::Undefined, Some(RegisterRule::Undefined)) => true,
        (Saved::Same, Some(RegisterRule::SameValue)) => true,
        (Saved::At(ours), Some(RegisterRule::Offset(theirs))) => ours == *theirs,
        (Saved::Value(ours), Some(RegisterRule::ValOffset(theirs))) => ours == *theirs,
        (Saved::In(ours), Some(RegisterRule::Register(theirs))) => ours == u64::from(theirs.0),
        (Saved::AtExpression(ours), Some(RegisterRule::Expression(theirs)))
        | (Saved::ValueExpression(ours), Some(RegisterRule::ValExpression(theirs))) => {
            same_expression(section, ours, theirs)
        }
        _ => false,
    }
}

/// The packed rule that gimli's row deserves, the obvious way.
fn packed(row: &TheirRow) -> (Kind, i64, i64) {
    let complex = (Kind::Complex, 0, 0);
    let rule = |register: usize| row.register(Register(register as u16));
    match rule(RA) {
        Some(RegisterRule::Undefined) => return (Kind::End, 0, 0),
        Some(RegisterRule::Offset(-8)) => {}
        _ => return complex,
    }
    let (kind, offset) = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } if register.0 == SP as u16 => {
            (Kind::Sp, *offset)
        }
        CfaRule::RegisterAndOffset { register, offset } if register.0 == FP as u16 => {
            (Kind::Fp, *offset)
        }
        _ => return complex,
    };
    let saved = match rule(FP) {
        None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => 0,
        Some(RegisterRule::Offset(offset)) if offset < 0 => -offset,
        _ => return complex,
    };
    let word = WORD as i64;
    let fits = (word..word << 16).contains(&offset) && offset % word == 0;
    let fits = fits && (0..word << 13).contains(&saved) && saved % word == 0;
    match rule(SP) {
        None if fits => (kind, offset / word, saved / word),
        _ => complex,
    }
}

fn unpacked(rule: Rule) -> (Kind, i64, i64) {
    (
        rule.kind(),
        rule.offset_words() as i64,
        rule.saved_words() as i64,
    )
}

/// What differs between the two, or nothing.
pub fn difference(section: &EhFrame<Slice>, ours: &Row, theirs: &TheirRow) -> Option<String> {
    if !same_cfa(section, ours.cfa, theirs.cfa()) {
        return Some(format!("CFA: {:?} for {:?}", ours.cfa, theirs.cfa()));
    }
    for (number, &saved) in ours.saved.iter().enumerate() {
        let rule = theirs.register(Register(number as u16));
        if !same_saved(section, saved, rule.as_ref()) {
            return Some(format!("register {number}: {saved:?} for {rule:?}"));
        }
    }
    assert_eq!(ours.saved.len(), REGISTERS);
    let (mine, right) = (unpacked(ours.pack()), packed(theirs));
    if mine != right {
        return Some(format!("packed: {mine:?} for {right:?} of {ours:?}"));
    }
    None
}
