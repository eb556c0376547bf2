//! Where a jump through a table of cases leads: the way that came to it is read
//! backwards, for the table and for the number that the index was compared with.

use crate::image::Image;
use crate::ways::{Function, instruction};
use iced_x86::{Code, ConditionCode, Instruction, Mnemonic, OpKind, Register};

/// Instructions that are read backwards, and cases of a table, at most.
const FAR: usize = 4_000;
const MOST_CASES: u64 = 4_096;

/// What is looked for, backwards.
struct Search {
    /// Registers that hold where to, before the table is found.
    target: Register,
    table: Option<u64>,
    table_in: Register,
    index: Register,
    /// Bytes of an entry: four are distances from the table.
    entry_bytes: u64,
    /// What the branch behind a comparison adds to its number, if it bounds the index.
    more: Option<i64>,
    /// The index of the last entry.
    last: Option<u64>,
    /// Whether the index is a byte.
    is_byte: bool,
}

/// All places that the jump may lead to.
pub fn cases(image: &Image, function: &Function, at: u64, jump: &Instruction) -> Option<Vec<u64>> {
    let mut search = Search {
        target: Register::None,
        table: None,
        table_in: Register::None,
        index: Register::None,
        entry_bytes: 0,
        more: None,
        last: None,
        is_byte: false,
    };
    match jump.op0_kind() {
        OpKind::Memory => search.entry(jump)?,
        _ => search.target = jump.op0_register().full_register(),
    }
    let (mut next, mut here) = (at, function.nodes.get(&at)?.from);
    for _ in 0..FAR {
        if next == here {
            break;
        }
        let code = instruction(image, here)?;
        if search.see(&code, next).is_none() {
            break;
        }
        if let (Some(table), Some(last)) = (search.table, search.last) {
            return search.read(image, table, last);
        }
        (next, here) = (here, function.nodes.get(&here)?.from);
        if next == function.start {
            break;
        }
    }
    // As interpreters go on: all that a byte can say has an entry. Rust also makes
    // tables without a comparison, but of as many entries as an enum has.
    let is_all = search.is_byte && search.entry_bytes == 8;
    let table = search.table.filter(|_| is_all && search.last.is_none())?;
    search.read(image, table, u64::from(u8::MAX))
}

impl Search {
    /// An entry of a table is loaded.
    fn entry(&mut self, code: &Instruction) -> Option<()> {
        self.index = code.memory_index().full_register();
        self.entry_bytes = u64::from(code.memory_index_scale());
        if self.index == Register::None {
            return None;
        }
        match code.memory_base() {
            Register::None if self.entry_bytes == 8 => {
                self.table = Some(code.memory_displacement64())
            }
            Register::None => return None,
            base if code.memory_displacement64() == 0 => self.table_in = base.full_register(),
            _ => return None,
        }
        self.target = Register::None;
        Some(())
    }

    /// One instruction before; none where the search is in vain.
    fn see(&mut self, code: &Instruction, next: u64) -> Option<()> {
        let register = code.op0_register().full_register();
        let is_written = code.op0_kind() == OpKind::Register
            && !matches!(
                code.mnemonic(),
                Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Push
            );
        if self.index == Register::None {
            if !is_written || register != self.target && register != self.table_in {
                return Some(());
            }
            return self.see_target(code, register);
        }
        if self.table.is_none() && is_written && register == self.table_in {
            match code.mnemonic() {
                Mnemonic::Lea if code.is_ip_rel_memory_operand() => {
                    self.table = Some(code.ip_rel_memory_address());
                }
                Mnemonic::Mov if code.op1_kind() == OpKind::Register => {
                    self.table_in = code.op1_register().full_register();
                }
                Mnemonic::Mov if is_number(code.op1_kind()) => self.table = Some(code.immediate(1)),
                _ => return None,
            }
            return Some(());
        }
        if self.last.is_none() {
            self.see_index(code, register, is_written, next)?;
        }
        Some(())
    }

    /// What is jumped to is made of: `movslq (table,index,4), a; add table, a`.
    fn see_target(&mut self, code: &Instruction, register: Register) -> Option<()> {
        match code.mnemonic() {
            Mnemonic::Add if code.op1_kind() == OpKind::Register && register == self.target => {
                self.table_in = code.op1_register().full_register();
                Some(())
            }
            Mnemonic::Movsxd | Mnemonic::Mov if code.op1_kind() == OpKind::Memory => {
                let base = code.memory_base().full_register();
                let is_sum = self.table_in != Register::None;
                let is_one = match is_sum {
                    true => base == self.table_in || base == self.target,
                    false => register == self.target,
                };
                if !is_one {
                    return None;
                }
                self.entry(code)?;
                (is_sum == (self.entry_bytes == 4)).then_some(())
            }
            // The distance was loaded into the table's register, or the table is
            // loaded only now: both are names of the sum.
            Mnemonic::Lea if code.is_ip_rel_memory_operand() && self.table_in != Register::None => {
                self.table = Some(code.ip_rel_memory_address());
                Some(())
            }
            Mnemonic::Mov if code.op1_kind() == OpKind::Register => {
                let from = code.op1_register().full_register();
                match register == self.target {
                    true => self.target = from,
                    false => self.table_in = from,
                }
                Some(())
            }
            _ => None,
        }
    }

    fn see_index(
        &mut self,
        code: &Instruction,
        register: Register,
        is_written: bool,
        next: u64,
    ) -> Option<()> {
        let is_index = register == self.index && register != Register::None;
        match code.mnemonic() {
            Mnemonic::And if is_index && is_number(code.op1_kind()) => {
                self.last = Some(code.immediate(1))
            }
            Mnemonic::Movzx if is_index => {
                self.is_byte |= matches!(code.code(), Code::Movzx_r32_rm8 | Code::Movzx_r64_rm8);
                self.index = code.op1_register().full_register();
            }
            Mnemonic::Mov | Mnemonic::Movsxd if is_index && code.op1_kind() == OpKind::Register => {
                self.index = code.op1_register().full_register();
            }
            _ if code.is_jcc_short_or_near() => self.more = more(code, next),
            Mnemonic::Cmp => {
                if let Some(more) = self.more.take()
                    && is_index
                    && is_number(code.op1_kind())
                {
                    self.last = Some(code.immediate(1).checked_add_signed(more)?);
                }
            }
            _ if is_written && is_index => return None,
            _ => {}
        }
        // It was loaded from memory: nothing else is known of it.
        (self.index != Register::None).then_some(())
    }

    fn read(&self, image: &Image, table: u64, last: u64) -> Option<Vec<u64>> {
        let mut found = Vec::new();
        for index in 0..=last.min(MOST_CASES) {
            let target = match self.entry_bytes {
                4 => table.checked_add_signed(i64::from(image.half(table + index * 4)?))?,
                8 => image.word(table + index * 8)?,
                _ => return None,
            };
            if !image.is_code(target) {
                return None;
            }
            found.push(target);
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}

/// What a branch says of a number that was compared: it is at most this one, or less.
fn more(branch: &Instruction, next: u64) -> Option<i64> {
    let is_taken = next == branch.near_branch_target();
    match (branch.condition_code(), is_taken) {
        (ConditionCode::a, false) | (ConditionCode::be, true) => Some(0),
        (ConditionCode::ae, false) | (ConditionCode::b, true) => Some(-1),
        _ => None,
    }
}

fn is_number(kind: OpKind) -> bool {
    !matches!(kind, OpKind::Register | OpKind::Memory)
}
