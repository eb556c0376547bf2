//! Names that were put into a log: how they are found again, and all that are to be put
//! into one.

use std::collections::HashMap;

use memlog_analysis::ModuleKey;
use memlog_format::kept::{Place, PlaceFunction};
use memlog_pack::Function;
use memlog_read::Log;

/// The names in a log.
#[derive(Default)]
pub struct Kept {
    files: HashMap<(Vec<u8>, Vec<u8>, u64), u32>,
    places: HashMap<(u32, u64), Vec<Function>>,
}

impl Kept {
    pub fn of(log: &Log) -> Self {
        let kept = log.kept();
        let files = kept.files.iter().map(|file| {
            let key = (file.path.to_vec(), file.build_id.to_vec(), file.bias);
            (key, file.number)
        });
        let text = |number: u32| {
            let text = kept.word(number);
            text.map(|text| String::from_utf8_lossy(text).into_owned())
        };
        let function = |function: PlaceFunction| Function {
            name: text(function.name),
            symbol: text(function.symbol),
            source: text(function.source),
            line: Some(function.line).filter(|&line| line > 0),
            offset: function.offset,
        };
        let places = kept.places.iter().map(|place: &Place| {
            let functions = place.functions().map(function);
            ((place.file, place.address), functions.collect())
        });
        Self {
            files: files.collect(),
            places: places.collect(),
        }
    }

    /// Whether the log has none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The functions at an address that is looked up; nothing where nobody has looked.
    pub fn functions(&self, module: &ModuleKey, address: u64) -> Option<&[Function]> {
        if self.is_empty() {
            return None;
        }
        let key = (module.path.clone(), module.build_id.clone(), module.bias);
        let place = (*self.files.get(&key)?, address);
        self.places.get(&place).map(Vec::as_slice)
    }
}
