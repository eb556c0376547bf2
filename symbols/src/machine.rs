//! The machine that a file is for: three fields of its ELF header.

use std::fmt::{Display, Formatter};

/// A kind of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// The ELF machine number.
    pub number: u16,
    /// Whether the first byte of a word is the most significant one.
    pub is_big_endian: bool,
    /// Bytes of a pointer.
    pub pointer_bytes: u8,
}

impl Machine {
    /// What the header of an ELF file says; `None` if it is none.
    pub(crate) fn of(elf: &[u8]) -> Option<Self> {
        let header = elf.first_chunk::<20>()?;
        let is_big_endian = header[5] == 2;
        let number = [header[18], header[19]];
        Some(Self {
            number: match is_big_endian {
                true => u16::from_be_bytes(number),
                false => u16::from_le_bytes(number),
            },
            is_big_endian,
            pointer_bytes: if header[4] == 1 { 4 } else { 8 },
        })
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self.number {
            3 => "x86",
            8 => "mips",
            20 => "ppc",
            21 => "ppc64",
            22 => "s390",
            40 => "arm",
            62 => "x86_64",
            183 => "aarch64",
            243 => "riscv",
            258 => "loongarch",
            _ => "unknown machine",
        }
    }

    /// In which order it keeps the bytes of a word.
    pub fn byte_order(self) -> &'static str {
        match self.is_big_endian {
            true => "big-endian",
            false => "little-endian",
        }
    }
}

impl Display for Machine {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let bits = u32::from(self.pointer_bytes) * 8;
        let (name, number, order) = (self.name(), self.number, self.byte_order());
        write!(out, "{name} (ELF machine {number}), {bits} bits, {order}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let header = |class: u8, order: u8, number: [u8; 2]| {
            let mut bytes = b"\x7fELF".to_vec();
            bytes.extend([class, order]);
            bytes.resize(18, 0);
            bytes.extend(number);
            bytes
        };
        let said = |bytes: &[u8]| Machine::of(bytes).map(|machine| machine.to_string());
        for (bytes, expected) in [
            (
                header(2, 2, [0, 21]),
                "ppc64 (ELF machine 21), 64 bits, big-endian",
            ),
            (
                header(2, 1, [21, 0]),
                "ppc64 (ELF machine 21), 64 bits, little-endian",
            ),
            (
                header(1, 1, [62, 0]),
                "x86_64 (ELF machine 62), 32 bits, little-endian",
            ),
            (
                header(2, 1, [0, 1]),
                "unknown machine (ELF machine 256), 64 bits, little-endian",
            ),
        ] {
            assert_eq!(said(&bytes).as_deref(), Some(expected));
        }
        assert_eq!(said(&header(2, 1, [62, 0])[..19]), None);
    }
}
