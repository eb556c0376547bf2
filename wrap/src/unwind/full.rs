//! One step of unwinding with every register: for frames whose CFA is in a
//! register other than sp and fp (DRAP, Intel's compilers), and for procedure
//! linkage stubs.
//!
//! It needs the values of all callee-saved registers, so a walk that meets
//! such a frame starts again from the door, this way.

use super::row::{Cfa, Row};
use crate::platform::arch::{self, REGISTERS};
use crate::platform::bounds::Bounds;
use crate::platform::bytes::Cursor;
use crate::platform::rules::Saved;

/// The registers of a frame, by DWARF number.
pub type Registers = [u64; REGISTERS];

/// What a step led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the caller; the registers are its own now.
    Caller,
    /// There is none.
    Outermost,
    /// Nowhere that makes sense.
    Failed,
}

/// Steps from a frame to its caller.
#[inline(never)]
pub fn step(row: Option<&Row>, registers: &mut Registers, bounds: &Bounds) -> Step {
    row.and_then(|row| try_step(row, registers, bounds))
        .unwrap_or(Step::Failed)
}

fn try_step(row: &Row, registers: &mut Registers, bounds: &Bounds) -> Option<Step> {
    if row.of(arch::RA) == Saved::Undefined {
        return Some(Step::Outermost);
    }
    let old = *registers;
    let cfa = match row.cfa {
        Cfa::Register(register, offset) => {
            value_of(&old, register as usize)?.wrapping_add_signed(offset)
        }
        Cfa::Expression(code) => evaluate(code, &old, bounds, None)?,
        Cfa::Unset => return None,
    };
    set(registers, arch::SP, cfa.wrapping_sub(arch::SP_BELOW_CFA));
    for (register, saved) in row.saved.iter().enumerate() {
        let value = match *saved {
            Saved::Unset | Saved::Undefined | Saved::Same => continue,
            Saved::At(offset) => bounds.read(cfa.wrapping_add_signed(offset))?,
            Saved::Value(offset) => cfa.wrapping_add_signed(offset),
            Saved::In(other) => value_of(&old, other as usize)?,
            Saved::AtExpression(code) => bounds.read(evaluate(code, &old, bounds, Some(cfa))?)?,
            Saved::ValueExpression(code) => evaluate(code, &old, bounds, Some(cfa))?,
        };
        set(registers, register, value);
    }
    Some(Step::Caller)
}

/// A register's value, if it is one of those followed.
pub fn value_of(registers: &Registers, register: usize) -> Option<u64> {
    registers.get(register).copied()
}

fn set(registers: &mut Registers, register: usize, value: u64) {
    if let Some(place) = registers.get_mut(register) {
        *place = value;
    }
}

/// Runs an expression of the unwind tables.
fn evaluate(
    mut code: Cursor,
    registers: &Registers,
    bounds: &Bounds,
    initial: Option<u64>,
) -> Option<u64> {
    let mut stack = Stack::default();
    if let Some(value) = initial {
        stack.push(value)?;
    }
    while let Some(operation) = code.u8() {
        let value = match operation {
            0x03 => code.word()? as u64,
            0x06 => bounds.read(stack.pop()?)?,
            0x08 => u64::from(code.u8()?),
            0x09 => code.u8()? as i8 as u64,
            0x0a => u64::from(code.u16()?),
            0x0b => code.u16()? as i16 as u64,
            0x0c => u64::from(code.u32()?),
            0x0d => code.u32()? as i32 as u64,
            0x0e | 0x0f => code.u64()?,
            0x10 => code.uleb()?,
            0x11 => code.sleb()? as u64,
            0x12 => stack.peek(0)?,
            0x13 => {
                stack.pop()?;
                continue;
            }
            0x14 => stack.peek(1)?,
            0x15 => {
                let depth = code.u8()?;
                stack.peek(usize::from(depth))?
            }
            0x1f => stack.pop()?.wrapping_neg(),
            0x20 => !stack.pop()?,
            0x23 => stack.pop()?.wrapping_add(code.uleb()?),
            0x30..=0x4f => u64::from(operation - 0x30),
            0x70..=0x8f => {
                let register = usize::from(operation - 0x70);
                value_of(registers, register)?.wrapping_add_signed(code.sleb()?)
            }
            0x92 => {
                let register = code.uleb()? as usize;
                value_of(registers, register)?.wrapping_add_signed(code.sleb()?)
            }
            0x96 => continue,
            _ => {
                let (right, left) = (stack.pop()?, stack.pop()?);
                combine(operation, left, right)?
            }
        };
        stack.push(value)?;
    }
    stack.pop()
}

fn combine(operation: u8, left: u64, right: u64) -> Option<u64> {
    let (signed_left, signed_right) = (left as i64, right as i64);
    let shift = u32::try_from(right).unwrap_or(64);
    Some(match operation {
        0x1a => left & right,
        0x1c => left.wrapping_sub(right),
        0x1e => left.wrapping_mul(right),
        0x21 => left | right,
        0x22 => left.wrapping_add(right),
        0x24 => left.checked_shl(shift).unwrap_or(0),
        0x25 => left.checked_shr(shift).unwrap_or(0),
        0x26 => signed_left.checked_shr(shift).unwrap_or(signed_left >> 63) as u64,
        0x27 => left ^ right,
        0x29 => u64::from(left == right),
        0x2a => u64::from(signed_left >= signed_right),
        0x2b => u64::from(signed_left > signed_right),
        0x2c => u64::from(signed_left <= signed_right),
        0x2d => u64::from(signed_left < signed_right),
        0x2e => u64::from(left != right),
        _ => return None,
    })
}

#[derive(Default)]
struct Stack {
    values: [u64; 16],
    depth: usize,
}

impl Stack {
    fn push(&mut self, value: u64) -> Option<()> {
        *self.values.get_mut(self.depth)? = value;
        self.depth += 1;
        Some(())
    }

    fn pop(&mut self) -> Option<u64> {
        self.depth = self.depth.checked_sub(1)?;
        self.values.get(self.depth).copied()
    }

    fn peek(&self, down: usize) -> Option<u64> {
        self.values.get(self.depth.checked_sub(down + 1)?).copied()
    }
}
