//! x86_64 instructions, as far as they move the stack pointer, save what calls
//! preserve or lead elsewhere: enough to follow a function that no table
//! describes from its beginning.
//!
//! ```text
//! prefixes | REX or VEX | opcode of one to three bytes | ModRM [SIB] [displacement] | immediate
//! ```
//!
//! What is not known here has no length, and the reader goes no further.

use crate::platform::rules::Effect;

/// Whether instructions can be read.
pub const READS_CODE: bool = true;
/// Bytes of the longest instruction.
pub const LONGEST: usize = 15;
/// Registers that calls preserve, by DWARF number; the frame pointer among them.
pub const PRESERVED: [usize; 6] = [3, 6, 12, 13, 14, 15];

/// Bytes before a return address that tell whom the call was for.
pub const BEFORE: usize = 6;

/// Whom a call was for, by the bytes before its return address: how far from
/// there that is said to be, and whether there lies the address instead.
pub fn called(before: &[u8; BEFORE]) -> Option<(i64, bool)> {
    let distance = |bytes: [u8; 4]| i64::from(i32::from_le_bytes(bytes));
    match *before {
        [0xff, 0x15, a, b, c, d] => Some((distance([a, b, c, d]), true)),
        [_, 0xe8, a, b, c, d] => Some((distance([a, b, c, d]), false)),
        _ => None,
    }
}

/// Bytes of the longest call, without prefixes that change nothing here.
pub const LONGEST_CALL: usize = 7;

/// Whether bytes end in a call: of a distance, or through a register or a place.
pub fn ends_in_call(before: &[u8; LONGEST_CALL]) -> bool {
    let mut ends = (2..=LONGEST_CALL).filter_map(|length| before.get(LONGEST_CALL - length..));
    ends.any(|end| {
        let is_one = matches!(end, [0xe8 | 0xff, ..]);
        is_one && matches!(decode(end), Some((length, Effect::Call(_) | Effect::CallAt(_))) if length == end.len())
    })
}

const SP: u8 = 4;
const FP: u8 = 5;

/// The instruction at the front: its bytes, and what it does.
pub fn decode(code: &[u8]) -> Option<(usize, Effect)> {
    let mut text = Text {
        code,
        at: 0,
        rex: 0,
        small: false,
        narrow: false,
        names_sp: false,
        names_fp: false,
    };
    let effect = match text.instruction()? {
        Effect::Nothing if text.names_sp => Effect::SpLost,
        Effect::Nothing if text.names_fp => Effect::FpLost,
        effect => effect,
    };
    (text.at <= LONGEST).then_some((text.at, effect))
}

/// DWARF's number of a general register.
fn dwarf(register: u8) -> u8 {
    match register & 15 {
        1 => 2,
        2 => 1,
        4 => 7,
        5 => 6,
        6 => 4,
        7 => 5,
        same => same,
    }
}

struct Text<'a> {
    code: &'a [u8],
    at: usize,
    rex: u8,
    /// Operands of two bytes.
    small: bool,
    /// Operands of one byte: without REX 4 to 7 are the high ones of 0 to 3.
    narrow: bool,
    /// The stack pointer is an operand, and may be written to.
    names_sp: bool,
    /// The same of the frame pointer.
    names_fp: bool,
}

/// What ModRM and its followers name.
struct Operand {
    register: u8,
    /// The other one, if it is a register.
    direct: Option<u8>,
    /// The one register of an address.
    base: Option<u8>,
    displacement: i64,
    /// The address is relative to the next instruction.
    is_relative: bool,
}

impl Text<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.code.get(self.at).copied();
        self.at += 1;
        byte
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at += bytes;
        (self.at <= self.code.len()).then_some(())
    }

    fn byte(&mut self) -> Option<i64> {
        self.next().map(|byte| i64::from(byte as i8))
    }

    fn word(&mut self) -> Option<i64> {
        let rest = self.code.get(self.at..)?;
        self.at += 4;
        rest.first_chunk()
            .map(|word| i64::from(i32::from_le_bytes(*word)))
    }

    /// An immediate of the operands' size, at most four bytes.
    fn immediate(&mut self) -> Option<i64> {
        match self.small && !self.is_wide() {
            true => self.skip(2).map(|()| 0),
            false => self.word(),
        }
    }

    fn is_wide(&self) -> bool {
        self.rex & 8 != 0
    }

    fn operand(&mut self) -> Option<Operand> {
        let modes = self.next()?;
        let (mode, low) = (modes >> 6, modes & 7);
        let high = (self.rex & 1) << 3;
        let mut operand = Operand {
            register: modes >> 3 & 7 | (self.rex & 4) << 1,
            direct: None,
            base: None,
            displacement: 0,
            is_relative: false,
        };
        let is_high = self.narrow && self.rex == 0;
        self.names_fp |= operand.register == FP && !is_high;
        if mode == 3 {
            operand.direct = Some(if is_high { low & 3 } else { low | high });
            self.names_sp |= operand.direct == Some(SP);
            self.names_fp |= operand.direct == Some(FP);
            return Some(operand);
        }
        let mut has_word = mode == 2;
        if low == 4 {
            let scaled = self.next()?;
            let index = scaled >> 3 & 7 | (self.rex & 2) << 2;
            if mode == 0 && scaled & 7 == 5 {
                has_word = true;
            } else if index == 4 {
                operand.base = Some(scaled & 7 | high);
            }
        } else if mode == 0 && low == 5 {
            (has_word, operand.is_relative) = (true, true);
        } else {
            operand.base = Some(low | high);
        }
        operand.displacement = match (mode, has_word) {
            (1, _) => self.byte()?,
            (_, true) => self.word()?,
            _ => 0,
        };
        Some(operand)
    }

    fn instruction(&mut self) -> Option<Effect> {
        let mut opcode = self.next()?;
        while matches!(
            opcode,
            0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3
        ) {
            self.small |= opcode == 0x66;
            opcode = self.next()?;
        }
        if opcode & 0xf0 == 0x40 {
            self.rex = opcode;
            opcode = self.next()?;
        }
        match opcode {
            0x0f => match self.next()? {
                0x38 => self.next().and_then(|_| self.plain(0)),
                0x3a => self.next().and_then(|_| self.plain(1)),
                opcode => self.two_bytes(opcode),
            },
            0xc4 | 0xc5 => self.vector(opcode == 0xc4),
            _ => {
                self.narrow = opcode & 1 == 0;
                match opcode {
                    0x00..=0x3f => self.arithmetic(opcode),
                    0x50..=0x8f => self.middle(opcode),
                    _ => self.upper(opcode),
                }
            }
        }
    }

    /// An operand and bytes behind it.
    fn plain(&mut self, more: usize) -> Option<Effect> {
        self.operand()?;
        self.skip(more)?;
        Some(Effect::Nothing)
    }

    /// The same where the other number is no register, but part of the opcode.
    fn group(&mut self, more: usize) -> Option<Effect> {
        let operand = self.operand()?;
        self.names_fp = operand.direct == Some(FP);
        self.skip(more)?;
        Some(Effect::Nothing)
    }

    /// The same of two registers.
    fn operands(&mut self) -> Option<Operand> {
        let mut operand = self.operand()?;
        if self.narrow && self.rex == 0 {
            operand.register &= 3;
        }
        Some(operand)
    }

    /// Operands that are not written to.
    fn read_only(&mut self) -> Option<Effect> {
        self.operand()?;
        (self.names_sp, self.names_fp) = (false, false);
        Some(Effect::Nothing)
    }

    /// What writing to a register does.
    fn written(&self, register: u8) -> Effect {
        match register {
            SP => Effect::SpLost,
            FP => Effect::FpLost,
            _ => Effect::Nothing,
        }
    }

    fn arithmetic(&mut self, opcode: u8) -> Option<Effect> {
        let is_compared = opcode & 0x38 == 0x38;
        match opcode & 7 {
            0..=3 => {
                let operand = self.operands()?;
                let target = match opcode & 2 {
                    0 => operand.direct,
                    _ => Some(operand.register),
                };
                self.names_sp = false;
                self.names_fp &= !is_compared && target == Some(FP);
                Some(match target {
                    Some(register) if !is_compared => self.written(register),
                    _ => Effect::Nothing,
                })
            }
            low @ 4..=5 => {
                let number = match low {
                    4 => self.byte()?,
                    _ => self.immediate()?,
                };
                let compared = u32::try_from(number).ok().filter(|_| is_compared);
                Some(compared.map_or(Effect::Nothing, Effect::Compare))
            }
            _ => None,
        }
    }

    fn middle(&mut self, opcode: u8) -> Option<Effect> {
        let register = opcode & 7 | (self.rex & 1) << 3;
        Some(match opcode {
            0x50..=0x57 => Effect::Push(Some(dwarf(register))),
            0x5c if register == SP => Effect::SpLost,
            0x58..=0x5f => Effect::Pop(Some(dwarf(register))),
            0x63 => self.widened(0)?,
            0x68 => self.immediate().map(|_| Effect::Push(None))?,
            0x69 => {
                self.widened(0)?;
                self.immediate().map(|_| Effect::Nothing)?
            }
            0x6a => self.skip(1).map(|()| Effect::Push(None))?,
            0x6b => self.widened(1)?,
            0x70..=0x7f => Effect::Branch(self.byte()?),
            0x80 | 0x81 | 0x83 => self.by_number(opcode != 0x81)?,
            0x84 | 0x85 | 0x8c | 0x8e => self.read_only()?,
            0x86..=0x8b => self.moved(opcode)?,
            0x8d => self.address()?,
            // With another number it is XOP.
            0x8f => (self.operand()?.register & 7 == 0).then_some(Effect::Pop(None))?,
            _ => return None,
        })
    }

    /// Arithmetic with a number.
    fn by_number(&mut self, is_byte: bool) -> Option<Effect> {
        let operand = self.operand()?;
        let number = match is_byte {
            true => self.byte()?,
            false => self.immediate()?,
        };
        Some(match (operand.direct, operand.register & 7) {
            (Some(SP), 0) if self.is_wide() => Effect::Add(number),
            (Some(SP), 5) if self.is_wide() => Effect::Add(number.checked_neg()?),
            (Some(SP), 0..=6) => Effect::SpLost,
            (_, 7) => {
                (self.names_sp, self.names_fp) = (false, false);
                u32::try_from(number).map_or(Effect::Nothing, Effect::Compare)
            }
            (direct, _) => {
                self.names_fp = direct == Some(FP);
                Effect::Nothing
            }
        })
    }

    fn moved(&mut self, opcode: u8) -> Option<Effect> {
        let operand = self.operands()?;
        let (from, to) = match opcode {
            0x8a | 0x8b => (operand.direct, Some(operand.register)),
            _ => (Some(operand.register), operand.direct),
        };
        if opcode < 0x88 {
            // xchg: both are written to.
            return Some(match (operand.register, operand.direct) {
                (SP, _) | (_, Some(SP)) => Effect::SpLost,
                _ => Effect::Nothing,
            });
        }
        (self.names_sp, self.names_fp) = (false, to == Some(FP));
        let is_whole = opcode & 1 != 0 && self.is_wide();
        let at = operand.displacement;
        Some(match (from, to) {
            (Some(FP), Some(SP)) if is_whole => Effect::SpFromFp(0),
            (Some(SP), Some(FP)) if is_whole => Effect::FpFromSp(0),
            (_, Some(SP)) => Effect::SpLost,
            (None, Some(register)) if is_whole => match operand.base {
                Some(SP) => Effect::LoadBySp(dwarf(register), at),
                Some(FP) => Effect::LoadByFp(dwarf(register), at),
                _ => Effect::Nothing,
            },
            (Some(register), None) if is_whole => match operand.base {
                Some(SP) => Effect::StoreBySp(dwarf(register), at),
                Some(FP) => Effect::StoreByFp(dwarf(register), at),
                _ => Effect::Nothing,
            },
            _ => Effect::Nothing,
        })
    }

    /// lea.
    fn address(&mut self) -> Option<Effect> {
        let operand = self.operand()?;
        Some(match (operand.register, operand.base) {
            (SP, Some(SP)) if self.is_wide() => Effect::Add(operand.displacement),
            (SP, Some(FP)) if self.is_wide() => Effect::SpFromFp(operand.displacement),
            (FP, Some(SP)) if self.is_wide() => Effect::FpFromSp(operand.displacement),
            _ if operand.is_relative && operand.register != FP && operand.register != SP => {
                Effect::AddressOf(operand.displacement)
            }
            (register, _) => {
                self.names_fp = register == FP;
                self.written(register)
            }
        })
    }

    fn upper(&mut self, opcode: u8) -> Option<Effect> {
        let register = opcode & 7 | (self.rex & 1) << 3;
        let nothing = |()| Effect::Nothing;
        Some(match opcode {
            0x90..=0x97 => self.written(register),
            0x98 | 0x99 | 0x9b | 0x9e | 0x9f => Effect::Nothing,
            0x9c => Effect::Push(None),
            0x9d => Effect::Pop(None),
            0xa0..=0xa3 => self.skip(8).map(nothing)?,
            0xa8 | 0xcd | 0xe4..=0xe7 => self.skip(1).map(nothing)?,
            0xb0..=0xb7 => {
                self.skip(1)?;
                match self.rex {
                    0 => Effect::Nothing,
                    _ => self.written(register),
                }
            }
            0xa9 => self.immediate().map(|_| Effect::Nothing)?,
            0xa4..=0xa7 | 0xaa..=0xaf | 0xd7 => Effect::Nothing,
            0xb8..=0xbf => {
                match self.is_wide() {
                    true => self.skip(8)?,
                    false => self.immediate().map(|_| ())?,
                }
                self.written(register)
            }
            0xc0 | 0xc1 | 0xc6 => self.group(1)?,
            0xc2 => self.skip(2).map(|()| Effect::Return)?,
            0xc3 => Effect::Return,
            0xc7 => {
                self.group(0)?;
                self.immediate().map(|_| Effect::Nothing)?
            }
            0xc9 => Effect::Leave,
            0xcc | 0xf4 => Effect::Dead,
            0xd0..=0xd3 | 0xd8..=0xdf | 0xfe => self.group(0)?,
            0xe0..=0xe3 => Effect::Branch(self.byte()?),
            0xe8 => Effect::Call(Some(self.word()?)),
            0xe9 => Effect::Jump(self.word()?),
            0xeb => Effect::Jump(self.byte()?),
            0xf5 | 0xf8..=0xfd => Effect::Nothing,
            0xf6 | 0xf7 => {
                let operand = self.operand()?;
                let is_test = operand.register & 6 == 0;
                self.names_fp = operand.direct == Some(FP);
                match (is_test, opcode) {
                    (true, 0xf6) => self.skip(1)?,
                    (true, _) => self.immediate().map(|_| ())?,
                    _ => {}
                }
                Effect::Nothing
            }
            0xff => self.last()?,
            _ => return None,
        })
    }

    /// Opcode 0xff: count, call, jump and push by an operand.
    fn last(&mut self) -> Option<Effect> {
        let operand = self.operand()?;
        self.names_fp = operand.direct == Some(FP);
        Some(match operand.register & 7 {
            0 | 1 => Effect::Nothing,
            2 if operand.is_relative => Effect::CallAt(operand.displacement),
            2 => Effect::Call(None),
            4 => Effect::Away(operand.is_relative.then_some(operand.displacement)),
            6 => Effect::Push(None),
            _ => return None,
        })
    }

    fn two_bytes(&mut self, opcode: u8) -> Option<Effect> {
        self.narrow = opcode & 0xf0 == 0x90;
        Some(match opcode {
            0x05 | 0x31 | 0x77 | 0xa2 => Effect::Nothing,
            0xc8..=0xcf => self.written(opcode & 7 | (self.rex & 1) << 3),
            0x0b => Effect::Dead,
            0x80..=0x8f => Effect::Branch(self.word()?),
            0x90..=0x9f | 0xae => self.group(0)?,
            0xba => self.group(1)?,
            0x70..=0x73 | 0xa4 | 0xac | 0xc2 | 0xc4..=0xc6 => self.plain(1)?,
            0x10..=0x1f | 0x28..=0x2b | 0x2e | 0x2f | 0x51..=0x6f | 0x74..=0x76 => {
                self.read_only()?
            }
            0x40..=0x4f | 0xaf | 0xb6..=0xb8 | 0xbc..=0xbf => self.widened(0)?,
            0xb9 => self.operand().map(|_| Effect::Dead)?,
            0x01 | 0x0d | 0x2c | 0x2d | 0x50 | 0x7c..=0x7f | 0xa3 | 0xa5 => self.plain(0)?,
            0xab | 0xad | 0xb0 | 0xb1 | 0xb3 | 0xbb | 0xc0 | 0xc1 => self.plain(0)?,
            0xc3 | 0xc7 | 0xd0..=0xfe => self.plain(0)?,
            _ => return None,
        })
    }

    /// From a register or memory into a whole register: from a high byte, too.
    fn widened(&mut self, more: usize) -> Option<Effect> {
        let operand = self.operand()?;
        (self.names_sp, self.names_fp) = (operand.register == SP, operand.register == FP);
        self.skip(more).map(|()| Effect::Nothing)
    }

    /// AVX: what REX and the escape bytes say is packed into one byte or two.
    fn vector(&mut self, is_long: bool) -> Option<Effect> {
        let first = self.next()?;
        let map = match is_long {
            true => self.next().map(|_| first & 31)?,
            false => 1,
        };
        let opcode = self.next()?;
        let effect = match (map, opcode) {
            (1, 0x77) => Some(Effect::Nothing),
            (1, 0x70..=0x73 | 0xc2 | 0xc4..=0xc6) | (3, _) => self.plain(1),
            (1 | 2, _) => self.plain(0),
            _ => None,
        };
        // Some are of general registers: moves of masks and words, BMI.
        let is_general = map != 1 || matches!(opcode, 0x2c | 0x2d | 0x50 | 0x7e | 0xd7);
        self.names_sp &= is_general;
        self.names_fp &= is_general;
        effect
    }
}
