//! Names that were looked up and put into a log, so that it can be read where the files that
//! have them are not. Records of the meta chunks, written behind a log by `memlog pack`.
//!
//! ```text
//! WORD    number, from 1: varint; rest text. Two of one number are one text
//! FILE    number, from 1; bias; compiler of its code plus 1, or 0; bytes of code; bytes of
//!         it with unwind tables: varints; blob build-id; blob path
//! PLACE   number of the file; address that is looked up, as a code's: varints; then, up to
//!         the record's end, the functions there, the innermost first, each five varints:
//!         words that are its name, its symbol and its source file, or 0; line, or 0;
//!         distance from the symbol's start plus 1, or 0
//! ```

use crate::Malformed;
use crate::varint::{Reader, Writer};

/// A piece of a text that places name by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Its number.
    pub number: u32,
    /// The next piece of it.
    pub text: &'a [u8],
}

/// A file of code in which places lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptFile<'a> {
    /// Its number.
    pub number: u32,
    /// As its MODULE record has it.
    pub bias: u64,
    /// What compiled it, where somebody looked.
    pub compiler: Option<u8>,
    /// Bytes of code.
    pub code_bytes: u64,
    /// Those with unwind tables.
    pub covered_bytes: u64,
    /// As its MODULE record has it.
    pub build_id: &'a [u8],
    /// The same.
    pub path: &'a [u8],
}

/// An address and the functions there; none if nobody knows any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The number of its file.
    pub file: u32,
    /// [`Code::lookup_address`](crate::table::Code::lookup_address) of the code.
    pub address: u64,
    /// The functions, as varints.
    pub functions: &'a [u8],
}

/// A function of a place. Texts are numbers of words, 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceFunction {
    /// As people know it.
    pub name: u32,
    /// As the linker does.
    pub symbol: u32,
    /// The source.
    pub source: u32,
    /// Its line, or 0.
    pub line: u32,
    /// Distance from the symbol's start.
    pub offset: Option<u64>,
}

impl<'a> Word<'a> {
    pub(crate) fn put(&self, out: &mut Writer) {
        out.var(u64::from(self.number));
        out.bytes(self.text);
    }

    pub(crate) fn get(bytes: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            number: bytes.var32()?,
            text: bytes.rest(),
        })
    }
}

impl<'a> KeptFile<'a> {
    pub(crate) fn put(&self, out: &mut Writer) {
        [
            u64::from(self.number),
            self.bias,
            self.compiler.map_or(0, |compiler| u64::from(compiler) + 1),
            self.code_bytes,
            self.covered_bytes,
        ]
        .into_iter()
        .for_each(|number| out.var(number));
        out.blob(self.build_id);
        out.blob(self.path);
    }

    pub(crate) fn get(bytes: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            number: bytes.var32()?,
            bias: bytes.var()?,
            compiler: bytes.var()?.checked_sub(1).map(|number| number as u8),
            code_bytes: bytes.var()?,
            covered_bytes: bytes.var()?,
            build_id: bytes.blob()?,
            path: bytes.blob()?,
        })
    }
}

impl<'a> Place<'a> {
    pub(crate) fn put(&self, out: &mut Writer) {
        out.var(u64::from(self.file));
        out.var(self.address);
        out.bytes(self.functions);
    }

    pub(crate) fn get(bytes: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            file: bytes.var32()?,
            address: bytes.var()?,
            functions: bytes.rest(),
        })
    }

    /// The functions, up to one that cannot be read.
    pub fn functions(&self) -> impl Iterator<Item = PlaceFunction> + use<'a> {
        let mut bytes = Reader::new(self.functions);
        core::iter::from_fn(move || match bytes.is_empty() {
            true => None,
            false => PlaceFunction::get(&mut bytes).ok(),
        })
    }
}

impl PlaceFunction {
    /// Appends it to a place's functions.
    pub fn put(&self, out: &mut Writer) {
        [self.name, self.symbol, self.source, self.line]
            .into_iter()
            .for_each(|number| out.var(u64::from(number)));
        out.var(self.offset.map_or(0, |offset| offset.saturating_add(1)));
    }

    fn get(bytes: &mut Reader) -> Result<Self, Malformed> {
        Ok(Self {
            name: bytes.var32()?,
            symbol: bytes.var32()?,
            source: bytes.var32()?,
            line: bytes.var32()?,
            offset: bytes.var()?.checked_sub(1),
        })
    }
}
