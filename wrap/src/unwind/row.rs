//! Running a description's instructions up to an address: the row of rules
//! that holds there. The rows lie in the recorder's memory, never on a stack.

use super::cfi::Description;
use super::exidx;
use super::rule::{Kind, Rule};
use crate::platform::arch::{self, REGISTERS};
use crate::platform::bytes::Cursor;
use crate::platform::rules::Saved;

/// How the canonical frame address is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cfa {
    /// Nothing said so far.
    #[default]
    Unset,
    /// A register plus an offset.
    Register(u64, i64),
    /// The value of an expression.
    Expression(Cursor),
}

/// The rules of one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The canonical frame address.
    pub cfa: Cfa,
    /// The registers, by DWARF number.
    pub saved: [Saved; REGISTERS],
}

/// Rows that programs remember inside each other, at most.
const REMEMBERED: usize = 8;

/// The machine that runs instructions.
pub struct Machine {
    row: Row,
    initial: Row,
    remembered: [Row; REMEMBERED],
    depth: usize,
    was_used: bool,
}

impl Machine {
    /// Bytes of memory that it takes from now on: those of a thread that finds no
    /// rules are never touched.
    pub fn take(&mut self) -> usize {
        let is_first = !core::mem::replace(&mut self.was_used, true);
        usize::from(is_first) * size_of::<Self>().next_multiple_of(4096)
    }

    /// The row of an address that the description covers; none where calls leave
    /// the return address elsewhere than the ABI has it (RISC-V's routines that
    /// save registers): the usual place has somebody else's.
    pub fn run(&mut self, description: &Description, address: u64) -> Option<&Row> {
        if arch::HAS_EXIDX {
            self.row = exidx::row(description)?;
            return Some(&self.row);
        }
        if description.common.return_register != arch::RA as u64 {
            return None;
        }
        (self.row, self.depth) = (Row::EMPTY, 0);
        let mut location = description.start;
        self.execute(
            description,
            description.common.instructions,
            &mut location,
            u64::MAX,
        )?;
        self.initial = self.row;
        self.execute(
            description,
            description.instructions,
            &mut location,
            address,
        )?;
        Some(&self.row)
    }

    /// Runs until the location passes `until`; `None` on what is not known.
    fn execute(
        &mut self,
        description: &Description,
        mut code: Cursor,
        location: &mut u64,
        until: u64,
    ) -> Option<()> {
        while let Some(operation) = code.u8() {
            let low = u64::from(operation & 0x3f);
            match operation >> 6 {
                1 => *location = self.advance(description, *location, low),
                2 => {
                    let offset = code.uleb()?;
                    self.save(low, Saved::At(factored(description, offset as i64)));
                }
                3 => self.restore(low),
                _ if matches!(operation, 0x01..=0x04 | 0x1d) => {
                    *location = self.move_location(description, *location, operation, &mut code)?;
                }
                _ => self.extended(description, operation, &mut code)?,
            }
            if *location > until {
                return Some(());
            }
        }
        Some(())
    }

    fn advance(&self, description: &Description, location: u64, delta: u64) -> u64 {
        location.wrapping_add(delta.wrapping_mul(description.common.code_factor))
    }

    fn move_location(
        &self,
        description: &Description,
        location: u64,
        operation: u8,
        code: &mut Cursor,
    ) -> Option<u64> {
        let delta = match operation {
            0x01 => return code.encoded(description.common.encoding, 0),
            0x02 => u64::from(code.u8()?),
            0x03 => u64::from(code.u16()?),
            0x04 => u64::from(code.u32()?),
            _ => code.u64()?,
        };
        Some(self.advance(description, location, delta))
    }

    fn extended(
        &mut self,
        description: &Description,
        operation: u8,
        code: &mut Cursor,
    ) -> Option<()> {
        let factor = |offset: i64| factored(description, offset);
        match operation {
            0x00 => {}
            0x05 => {
                let register = code.uleb()?;
                let offset = factor(code.uleb()? as i64);
                self.save(register, Saved::At(offset));
            }
            0x06 => {
                let register = code.uleb()?;
                self.restore(register);
            }
            0x07 => self.save(code.uleb()?, Saved::Undefined),
            0x08 => self.save(code.uleb()?, Saved::Same),
            0x09 => {
                let register = code.uleb()?;
                self.save(register, Saved::In(code.uleb()?));
            }
            0x0a => {
                *self.remembered.get_mut(self.depth)? = self.row;
                self.depth += 1;
            }
            0x0b => {
                self.depth = self.depth.checked_sub(1)?;
                self.row = *self.remembered.get(self.depth)?;
            }
            0x0c => self.row.cfa = Cfa::Register(code.uleb()?, code.uleb()? as i64),
            0x0d => self.row.cfa = Cfa::Register(code.uleb()?, self.cfa_offset()?),
            0x0e => self.row.cfa = Cfa::Register(self.cfa_register()?, code.uleb()? as i64),
            0x0f => self.row.cfa = Cfa::Expression(block(code)?),
            0x10 => {
                let register = code.uleb()?;
                self.save(register, Saved::AtExpression(block(code)?));
            }
            0x11 => {
                let register = code.uleb()?;
                let offset = factor(code.sleb()?);
                self.save(register, Saved::At(offset));
            }
            0x12 => self.row.cfa = Cfa::Register(code.uleb()?, factor(code.sleb()?)),
            0x13 => self.row.cfa = Cfa::Register(self.cfa_register()?, factor(code.sleb()?)),
            0x14 => {
                let register = code.uleb()?;
                let offset = factor(code.uleb()? as i64);
                self.save(register, Saved::Value(offset));
            }
            0x15 => {
                let register = code.uleb()?;
                let offset = factor(code.sleb()?);
                self.save(register, Saved::Value(offset));
            }
            0x16 => {
                let register = code.uleb()?;
                self.save(register, Saved::ValueExpression(block(code)?));
            }
            // Return addresses signed from here on: stripped when read.
            0x2d => {}
            // Bytes of arguments on the stack: for landing pads only.
            0x2e => {
                code.uleb()?;
            }
            0x2f => {
                let register = code.uleb()?;
                let offset = factor((code.uleb()? as i64).wrapping_neg());
                self.save(register, Saved::At(offset));
            }
            _ => return None,
        }
        Some(())
    }

    fn cfa_register(&self) -> Option<u64> {
        match self.row.cfa {
            Cfa::Register(register, _) => Some(register),
            _ => None,
        }
    }

    /// The assembler's tables for RISC-V begin with a register alone.
    fn cfa_offset(&self) -> Option<i64> {
        match self.row.cfa {
            Cfa::Register(_, offset) => Some(offset),
            Cfa::Unset => Some(0),
            Cfa::Expression(_) => None,
        }
    }

    fn save(&mut self, register: u64, how: Saved) {
        if let Some(place) = self.row.saved.get_mut(register as usize) {
            *place = how;
        }
    }

    fn restore(&mut self, register: u64) {
        let initial = self.initial.saved.get(register as usize);
        self.save(register, initial.copied().unwrap_or_default());
    }
}

fn factored(description: &Description, offset: i64) -> i64 {
    offset.wrapping_mul(description.common.data_factor)
}

/// The bytes of an expression.
fn block(code: &mut Cursor) -> Option<Cursor> {
    let length = code.uleb()?;
    code.take(length)
}

impl Row {
    /// Says nothing.
    pub const EMPTY: Self = Self {
        cfa: Cfa::Unset,
        saved: [Saved::Unset; REGISTERS],
    };

    /// How a register is found.
    pub fn of(&self, register: usize) -> Saved {
        self.saved.get(register).copied().unwrap_or_default()
    }

    /// The row as one packed step; `Complex` where only a full one will do.
    pub fn pack(&self) -> Rule {
        let complex = Rule::plain(Kind::Complex);
        if self.of(arch::RA) == Saved::Undefined {
            return Rule::plain(Kind::End);
        }
        let Some(saved) = self.saved_words() else {
            return complex;
        };
        let Cfa::Register(register, offset) = self.cfa else {
            return complex;
        };
        let kind = match register as usize {
            arch::SP => Kind::Sp,
            arch::FP => Kind::Fp,
            _ => return complex,
        };
        Rule::frame(kind, offset, saved, arch::WORD as i64).unwrap_or(complex)
    }

    /// Where the caller's pc and fp are, if its sp is where the ABI has it and
    /// no table but the frame's own is needed.
    pub fn saved_words(&self) -> Option<u64> {
        let is_sp_usual =
            matches!(self.of(arch::SP), Saved::Unset) || self.of(arch::SP) == arch::SAVED_SP;
        match is_sp_usual && !arch::BACK_CHAIN {
            true => arch::saved_words(self.of(arch::RA), self.of(arch::FP)),
            false => None,
        }
    }
}
