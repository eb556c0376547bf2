//! Where a function stands: how far rsp and rbp are from the CFA, and where the
//! registers lie that calls preserve.

use iced_x86::{Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic};
use iced_x86::{OpAccess, OpKind, Register};

/// Registers that calls preserve, and their DWARF numbers.
pub const PRESERVED: [(Register, u16); 6] = [
    (Register::RBX, 3),
    (Register::RBP, 6),
    (Register::R12, 12),
    (Register::R13, 13),
    (Register::R14, 14),
    (Register::R15, 15),
];
const FP: usize = 1;

/// Where the caller's value of a register is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    Here,
    /// At the CFA plus this.
    At(i32),
    /// Written over, and stored nowhere.
    Lost,
    /// Ways say two things.
    Unsure,
}

/// Distances are from the CFA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    pub sp: Option<i32>,
    pub fp: Option<i32>,
    pub kept: [Kept; 6],
}

impl State {
    pub const ENTRY: Self = Self {
        sp: Some(-8),
        fp: None,
        kept: [Kept::Here; 6],
    };

    /// What both say.
    pub fn joined(&self, other: &Self) -> Self {
        let mut joined = *self;
        joined.sp = self.sp.filter(|_| self.sp == other.sp);
        joined.fp = self.fp.filter(|_| self.fp == other.fp);
        for (mine, theirs) in joined.kept.iter_mut().zip(other.kept) {
            *mine = match (*mine, theirs) {
                (mine, theirs) if mine == theirs => mine,
                (Kept::Here | Kept::Lost, Kept::Here | Kept::Lost) => Kept::Lost,
                _ => Kept::Unsure,
            };
        }
        joined
    }

    /// Whether all is as it was where the function began.
    pub fn is_given_back(&self) -> bool {
        self.sp == Some(-8) && self.kept.iter().all(|kept| *kept == Kept::Here)
    }

    /// Does what an instruction does that leads to the next one.
    pub fn obey(&mut self, code: &Instruction, infos: &mut InstructionInfoFactory) {
        let register = code.op0_register();
        let from = code.op1_register();
        match code.mnemonic() {
            Mnemonic::Push if code.stack_pointer_increment() == -8 => {
                self.sp = self.sp.map(|sp| sp.wrapping_sub(8));
                self.store(register, Some(self.sp));
            }
            Mnemonic::Pop if code.op0_kind() == OpKind::Register && register != Register::RSP => {
                self.load(register, self.sp);
                self.sp = self.sp.map(|sp| sp.wrapping_add(8));
            }
            Mnemonic::Leave => {
                self.sp = self.fp.map(|fp| fp.wrapping_add(8));
                self.load(Register::RBP, self.fp);
            }
            Mnemonic::Mov if register == Register::RSP && from == Register::RBP => {
                self.sp = self.fp
            }
            Mnemonic::Mov if register == Register::RBP && from == Register::RSP => {
                self.written(Register::RBP);
                self.fp = self.sp;
            }
            Mnemonic::Mov if code.op0_kind() == OpKind::Memory && from.is_gpr64() => {
                self.store(from, self.place(code));
            }
            Mnemonic::Mov
                if code.op1_kind() == OpKind::Memory
                    && register.is_gpr64()
                    && register != Register::RSP =>
            {
                self.load(register, self.place(code).flatten());
            }
            Mnemonic::Lea if register == Register::RSP => self.sp = self.place(code).flatten(),
            Mnemonic::Lea if register == Register::RBP => {
                let place = self.place(code).flatten();
                self.written(Register::RBP);
                self.fp = place;
            }
            Mnemonic::Add | Mnemonic::Sub
                if register == Register::RSP && is_number(code.op1_kind()) =>
            {
                let number = code.immediate(1) as i32;
                let number = if code.mnemonic() == Mnemonic::Add {
                    number
                } else {
                    number.wrapping_neg()
                };
                self.sp = self.sp.map(|sp| sp.wrapping_add(number));
            }
            _ => self.obey_any(code, infos),
        }
    }

    fn obey_any(&mut self, code: &Instruction, infos: &mut InstructionInfoFactory) {
        let moved = code.stack_pointer_increment();
        let info = infos.info_options(code, InstructionInfoOptions::NO_MEMORY_USAGE);
        for used in info.used_registers() {
            let is_written = matches!(
                used.access(),
                OpAccess::Write
                    | OpAccess::CondWrite
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
            );
            match used.register().full_register() {
                _ if !is_written => {}
                Register::RSP if moved != 0 => {}
                Register::RSP => self.sp = None,
                register => self.written(register),
            }
        }
        self.sp = self.sp.map(|sp| sp.wrapping_add(moved));
    }

    /// Where an operand lies, if it is in the stack, and if that is known.
    fn place(&self, code: &Instruction) -> Option<Option<i32>> {
        let base = match code.memory_base() {
            Register::RSP => self.sp,
            Register::RBP if self.fp.is_some() => self.fp,
            _ => return None,
        };
        let is_plain = code.memory_index() == Register::None;
        let distance = code.memory_displacement64() as i32;
        Some(
            base.filter(|_| is_plain)
                .map(|base| base.wrapping_add(distance)),
        )
    }

    /// The first time, it is the caller's, if it goes to the stack.
    fn store(&mut self, register: Register, place: Option<Option<i32>>) {
        if let (Some(kept), Some(at)) = (self.kept_of(register), place)
            && *kept == Kept::Here
        {
            *kept = at.map_or(Kept::Unsure, Kept::At);
        }
    }

    fn load(&mut self, register: Register, at: Option<i32>) {
        let is_back = at.is_some() && self.kept_of(register).is_some_and(|kept| at == kept.at());
        self.written(register);
        if is_back && let Some(kept) = self.kept_of(register) {
            *kept = Kept::Here;
        }
    }

    fn written(&mut self, register: Register) {
        if let Some(kept) = self.kept_of(register)
            && *kept == Kept::Here
        {
            *kept = Kept::Lost;
        }
        if register == PRESERVED[FP].0 {
            self.fp = None;
        }
    }

    fn kept_of(&mut self, register: Register) -> Option<&mut Kept> {
        let index = PRESERVED.iter().position(|(name, _)| *name == register)?;
        self.kept.get_mut(index)
    }
}

impl Kept {
    pub fn at(&self) -> Option<i32> {
        match self {
            Self::At(at) => Some(*at),
            _ => None,
        }
    }
}

fn is_number(kind: OpKind) -> bool {
    matches!(kind, OpKind::Immediate8to64 | OpKind::Immediate32to64)
}
