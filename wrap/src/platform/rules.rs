//! The words in which a processor tells its rules to the unwinder above.

use super::bytes::Cursor;

/// How a register of the caller is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Saved {
    /// Nothing said: the ABI's default.
    #[default]
    Unset,
    /// It cannot be recovered.
    Undefined,
    /// It was not touched.
    Same,
    /// At the CFA plus an offset.
    At(i64),
    /// The CFA plus an offset.
    Value(i64),
    /// In another register.
    In(u64),
    /// At the address that an expression gives.
    AtExpression(Cursor),
    /// The value of an expression.
    ValueExpression(Cursor),
}

/// What an instruction does to the way; distances are in bytes, those of jumps
/// from the next instruction. Registers have their DWARF numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that matters here.
    Nothing,
    /// A register, or something else, is pushed.
    Push(Option<u8>),
    /// The other way round.
    Pop(Option<u8>),
    /// The stack pointer moves.
    Add(i64),
    /// It becomes the frame pointer plus a distance.
    SpFromFp(i64),
    /// The frame pointer becomes the stack pointer plus a distance.
    FpFromSp(i64),
    /// The stack pointer becomes the frame pointer, which is popped.
    Leave,
    /// The stack pointer becomes something else.
    SpLost,
    /// The frame pointer does, or may.
    FpLost,
    /// A register is loaded from the stack pointer plus a distance.
    LoadBySp(u8, i64),
    /// The same by the frame pointer.
    LoadByFp(u8, i64),
    /// A register is stored at the stack pointer plus a distance.
    StoreBySp(u8, i64),
    /// The same by the frame pointer.
    StoreByFp(u8, i64),
    /// A number is compared with one that is not below zero.
    Compare(u32),
    /// The address of something so far away is taken.
    AddressOf(i64),
    /// A call, and how far away if that is said.
    Call(Option<i64>),
    /// A call of what an address so far away holds.
    CallAt(i64),
    /// A jump.
    Jump(i64),
    /// A jump that may not happen.
    Branch(i64),
    /// A jump to an address that lies so far away, or that nobody knows.
    Away(Option<i64>),
    /// A return.
    Return,
    /// No instruction comes after it.
    Dead,
}

/// How a function that has left its stack goes back; places are in words above sp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// The frame pointer is still that of the frame on the other stack.
    Framed,
    /// sp was saved in a word.
    Saved {
        /// Which.
        at: u8,
    },
    /// By a routine, which begins with the two ends of its stack.
    Routine {
        /// The word that leads to it.
        routine: u8,
        /// The word that says how far its sp was below the higher end.
        depth: u8,
    },
}
