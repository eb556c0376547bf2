//! Frames: the codes of a log, with the names that their source gives them.

use std::collections::HashMap;

use memlog_format::chunk::Kind;
use memlog_format::meta::{CodeName, Record};
use memlog_format::table::{CODE_SIZE, Code, CodeId};

use crate::metas::Metas;
use crate::out::Out;
use crate::tables::Table;

/// A function's name at a frame, as its source has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Given<'a> {
    /// The function, mangled or not.
    pub function: &'a [u8],
    /// Its file, empty where unknown.
    pub file: &'a [u8],
    /// The line there, or 0. Without a file: the distance in bytes of the address from the
    /// function's beginning, or 0.
    pub line: u32,
}

/// Where frames without an address lie: nothing else is there.
const MADE_UP: u64 = 0xF000_0000_0000_0000;

pub(crate) struct Places {
    codes: Table,
    /// By all that is known of a frame.
    known: HashMap<Vec<u8>, CodeId>,
    /// Addresses that are looked up: names are found by them.
    taken: HashMap<u64, Taken>,
    made_up: u64,
    key: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum Taken {
    Named,
    Nameless,
}

impl Places {
    pub(crate) fn new() -> Self {
        Self {
            codes: Table::new(Kind::Codes, CODE_SIZE, "frames"),
            known: HashMap::new(),
            taken: HashMap::new(),
            made_up: MADE_UP,
            key: Vec::new(),
        }
    }

    pub(crate) fn of(
        &mut self,
        (out, metas): (&mut Out, &mut Metas),
        code: Code,
        has_address: bool,
        names: &[Given],
    ) -> CodeId {
        self.fill_key(code, has_address, names);
        if let Some(&id) = self.known.get(&self.key) {
            return id;
        }
        let code = self.placed(code, has_address, names);
        let at = code.lookup_address();
        let taken = if names.is_empty() {
            Taken::Nameless
        } else {
            Taken::Named
        };
        self.taken.insert(at, taken);
        for name in names {
            let record = Record::CodeName(CodeName {
                address: at,
                line: name.line,
                file: name.file,
                name: name.function,
            });
            metas.push(out, &record);
        }
        let words = [code.address, code.to_tail_word()].map(u64::to_le_bytes);
        let id = CodeId(self.codes.push(out, words.as_flattened()));
        self.known.insert(self.key.clone(), id);
        id
    }

    fn fill_key(&mut self, code: Code, has_address: bool, names: &[Given]) {
        let key = &mut self.key;
        key.clear();
        key.push(u8::from(has_address));
        key.extend_from_slice(&code.address.to_le_bytes());
        key.extend_from_slice(&code.to_tail_word().to_le_bytes());
        for name in names {
            key.extend_from_slice(&name.line.to_le_bytes());
            for text in [name.function, name.file] {
                key.extend_from_slice(&(text.len() as u64).to_le_bytes());
                key.extend_from_slice(text);
            }
        }
    }

    /// Two frames of different names never have one address: the second gets another.
    fn placed(&mut self, code: Code, has_address: bool, names: &[Given]) -> Code {
        let is_free = match self.taken.get(&code.lookup_address()) {
            None => true,
            // Their files tell two modules apart that lay at one place in turn.
            Some(Taken::Nameless) => names.is_empty(),
            Some(Taken::Named) => false,
        };
        if has_address && is_free && code.address | code.to_tail_word() != 0 {
            return code;
        }
        while self.taken.contains_key(&self.made_up) {
            self.made_up = self.made_up.wrapping_add(1);
        }
        Code {
            address: self.made_up,
            exact: true,
            ..code
        }
    }

    pub(crate) fn flush(&mut self, out: &mut Out) {
        self.codes.flush(out);
    }
}
