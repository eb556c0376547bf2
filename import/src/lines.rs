//! Lines of a file, of which none may be longer than memory should hold.

use std::io::{BufRead, ErrorKind};

use crate::error::{At, Error};

/// No line of any form is longer, but for damage.
const LONGEST: usize = 1 << 20;

pub(crate) struct Lines<'i> {
    input: &'i mut dyn BufRead,
    line: Vec<u8>,
    number: u64,
    /// Why the file ends earlier than it should.
    cut: Option<String>,
}

impl<'i> Lines<'i> {
    pub(crate) fn new(input: &'i mut dyn BufRead) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
            cut: None,
        }
    }

    /// Where the last line is.
    pub(crate) fn at(&self) -> At {
        At::Line(self.number)
    }

    /// Where the next line will be.
    pub(crate) fn next_at(&self) -> At {
        At::Line(self.number + 1)
    }

    /// The last line.
    pub(crate) fn last(&self) -> &[u8] {
        &self.line
    }

    /// What to say of a file that is cut off.
    pub(crate) fn cut(&self) -> Option<String> {
        self.cut.clone()
    }

    /// The next line, without its end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        self.line.clear();
        self.number += 1;
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.ends(&error),
            };
            if bytes.is_empty() {
                return Ok(self.torn());
            }
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let taken = end.unwrap_or(bytes.len());
            if self.line.len() + taken > LONGEST {
                let at = At::Line(self.number);
                let expected = "a line of no more than 1 MiB";
                return Err(Error::malformed(at, expected, bytes));
            }
            self.line.extend_from_slice(&bytes[..taken]);
            self.input.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Some(&self.line));
            }
        }
    }

    /// Who writes lines ends each: one without an end is half of one.
    fn torn(&mut self) -> Option<&[u8]> {
        if !self.line.is_empty() {
            self.cut = Some(format!(
                "the file ends in the middle of line {}, which is left out",
                self.number
            ));
        }
        None
    }

    /// Of a packed file that is cut off, what comes before counts; its last line may be half
    /// of one.
    fn ends(&mut self, error: &std::io::Error) -> Result<Option<&[u8]>, Error> {
        if self.number == 1 {
            let kind = error.kind();
            return Err(Error::Read(std::io::Error::new(kind, error.to_string())));
        }
        self.cut = Some(format!(
            "the file ends at line {}, where it cannot be unpacked or read: {error}",
            self.number
        ));
        Ok(None)
    }
}
