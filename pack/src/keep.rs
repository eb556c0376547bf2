//! Names become records: each text once, and each place with the numbers of its texts.

use std::collections::{HashMap, HashSet};

use memlog_format::kept::{KeptFile, Place, PlaceFunction, Word};
use memlog_format::meta::{CodeName, Record};
use memlog_format::varint::Writer;

use crate::hide::Hider;
use crate::metas::encoded;

/// A longer text is told in pieces.
const PIECE: usize = 4096;
/// Of a place no more functions are kept: their record has to fit.
const MOST_FUNCTIONS: usize = 256;
/// Five varints of 32 bits, the last of 64.
const MOST_BYTES: usize = 30;

/// A function at an address, as a symbolizer knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name for people.
    pub name: Option<String>,
    /// Its name for the linker.
    pub symbol: Option<String>,
    /// Its source file.
    pub source: Option<String>,
    /// The line in that.
    pub line: Option<u32>,
    /// Distance from the symbol's start.
    pub offset: Option<u64>,
}

/// Collects the names that a log is to keep.
pub struct Keeper<'h> {
    hider: &'h mut Hider,
    words: HashMap<Vec<u8>, u32>,
    /// A file that was loaded twice, or by a parent too, is one.
    files: HashMap<(Vec<u8>, Vec<u8>, u64), u32>,
    places: HashSet<(u32, u64)>,
    records: Vec<Vec<u8>>,
}

impl<'h> Keeper<'h> {
    /// None yet; what is to be hidden of them is.
    pub fn new(hider: &'h mut Hider) -> Self {
        Self {
            hider,
            words: HashMap::new(),
            files: HashMap::new(),
            places: HashSet::new(),
            records: Vec::new(),
        }
    }

    /// A file of code, whose number places name.
    pub fn file(&mut self, file: KeptFile) -> u32 {
        let key = (file.path.to_vec(), file.build_id.to_vec(), file.bias);
        let number = self.files.len() as u32 + 1;
        if let Some(&number) = self.files.get(&key) {
            return number;
        }
        self.files.insert(key, number);
        let path = self.hider.module(file.path);
        let build_id = self.hider.build_id(file.build_id);
        self.records.push(encoded(&Record::KeptFile(KeptFile {
            number,
            path: &path,
            build_id,
            ..file
        })));
        number
    }

    /// The functions at an address of a file, the innermost first.
    pub fn place(&mut self, file: u32, address: u64, functions: &[Function]) {
        if !self.places.insert((file, address)) {
            return;
        }
        let mut bytes = vec![0; MOST_BYTES * functions.len().min(MOST_FUNCTIONS) + 8];
        let mut out = Writer::new(&mut bytes);
        for function in functions.iter().take(MOST_FUNCTIONS) {
            let name = function.name.as_deref();
            let name = name.map(|name| self.hider.function(name.as_bytes()));
            let symbol = function.symbol.as_deref();
            let symbol = symbol.map(|symbol| self.hider.symbol(symbol.as_bytes()));
            let source = function.source.as_deref();
            let source = source.map(|source| self.hider.source(source.as_bytes()));
            PlaceFunction {
                name: self.word(name),
                symbol: self.word(symbol),
                source: self.word(source),
                line: function.line.unwrap_or(0),
                offset: function.offset,
            }
            .put(&mut out);
        }
        let length = out.finish().unwrap_or(0);
        self.records.push(encoded(&Record::Place(Place {
            file,
            address,
            functions: &bytes[..length],
        })));
    }

    /// A function that the program made at run time.
    pub fn made(&mut self, code: CodeName) {
        let name = self.hider.function(code.name);
        let file = self.hider.source(code.file);
        self.records.push(encoded(&Record::CodeName(CodeName {
            name: &name,
            file: &file,
            ..code
        })));
    }

    /// How many places have come.
    pub fn places(&self) -> u64 {
        self.places.len() as u64
    }

    /// All of it, to be put behind a log.
    pub fn finish(self) -> Vec<Vec<u8>> {
        self.records
    }

    /// The number of a text, which is told once.
    fn word(&mut self, text: Option<Vec<u8>>) -> u32 {
        let Some(text) = text else {
            return 0;
        };
        let next = self.words.len() as u32 + 1;
        if let Some(&number) = self.words.get(&text) {
            return number;
        }
        // A text that is empty is one too.
        let pieces = text.chunks(PIECE).chain(text.is_empty().then_some(&[][..]));
        let pieces = pieces.map(|text| encoded(&Record::Word(Word { number: next, text })));
        self.records.extend(pieces);
        self.words.insert(text, next);
        next
    }
}
