//! A number behind a name, in a text of unknown length that comes in pieces:
//! who is in a thousand groups has them all listed before his memory.

/// What is looked for, and how far it was found.
pub struct Field {
    /// Starts with a line's end, and has no other.
    name: &'static [u8],
    matched: usize,
    value: Option<u64>,
    is_over: bool,
}

impl Field {
    /// Looks for the first number behind `name`.
    pub const fn new(name: &'static [u8]) -> Self {
        Self {
            name,
            matched: 0,
            value: None,
            is_over: false,
        }
    }

    /// Goes on through the text; true once all is known.
    pub fn is_in(&mut self, piece: &[u8]) -> bool {
        for &byte in piece {
            if self.is_over {
                break;
            }
            self.step(byte);
        }
        self.is_over
    }

    fn step(&mut self, byte: u8) {
        if let Some(&expected) = self.name.get(self.matched) {
            self.matched = match byte {
                _ if byte == expected => self.matched + 1,
                b'\n' => 1,
                _ => 0,
            };
        } else if byte.is_ascii_digit() {
            let value = self.value.unwrap_or(0).saturating_mul(10);
            self.value = Some(value.saturating_add(u64::from(byte - b'0')));
        } else {
            self.is_over = self.value.is_some() || byte == b'\n';
        }
    }

    /// Whether the number was there.
    pub fn is_there(&self) -> bool {
        self.value.is_some()
    }

    /// The number, 0 if it was not there.
    pub fn value(&self) -> u64 {
        self.value.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Field;

    fn found(text: &[u8], piece: usize) -> u64 {
        let mut field = Field::new(b"\nVmHWM:");
        text.chunks(piece).any(|piece| field.is_in(piece));
        field.value()
    }

    #[test]
    fn finds_the_number_however_the_text_comes() {
        let groups = "4000012 ".repeat(9000);
        let text =
            format!("Name:\tVmHWM: 7\nGroups:\t{groups}\n\nVmHWM:\t   6116 kB\nVmRSS:\t 9 kB\n");
        for piece in [1, 2, 5, 64, 1024, text.len()] {
            assert_eq!(found(text.as_bytes(), piece), 6116, "{piece}");
        }
    }

    #[test]
    fn takes_no_other_line_for_it() {
        assert_eq!(found(b"\nVmHWM:\nVmRSS: 9 kB\n", 3), 0);
        assert_eq!(found(b"Name:\tVmHWM:5\n", 3), 0);
        assert_eq!(found(b"\nVmHWM: 12", 3), 12);
    }
}
