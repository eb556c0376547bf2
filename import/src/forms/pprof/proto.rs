//! The messages of profile.proto that are read, and one after the other: a profile is held
//! in memory by what counts in it.

use std::collections::HashMap;

use prost::Message;

use crate::error::{At, Error};

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct ValueType {
    #[prost(int64, tag = "1")]
    pub(super) kind: i64,
    #[prost(int64, tag = "2")]
    pub(super) unit: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Sample {
    /// The innermost first.
    #[prost(uint64, repeated, tag = "1")]
    pub(super) location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) value: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Mapping {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) memory_start: u64,
    #[prost(uint64, tag = "3")]
    pub(super) memory_limit: u64,
    #[prost(uint64, tag = "4")]
    pub(super) file_offset: u64,
    #[prost(int64, tag = "5")]
    pub(super) filename: i64,
    #[prost(int64, tag = "6")]
    pub(super) build_id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Location {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) mapping_id: u64,
    #[prost(uint64, tag = "3")]
    pub(super) address: u64,
    /// The innermost inlined function first.
    #[prost(message, repeated, tag = "4")]
    pub(super) line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Line {
    #[prost(uint64, tag = "1")]
    pub(super) function_id: u64,
    #[prost(int64, tag = "2")]
    pub(super) line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Function {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(int64, tag = "2")]
    pub(super) name: i64,
    #[prost(int64, tag = "4")]
    pub(super) filename: i64,
}

/// A profile: its parts by their numbers.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) types: Vec<ValueType>,
    pub(super) samples: Vec<Sample>,
    pub(super) mappings: HashMap<u64, Mapping>,
    pub(super) locations: HashMap<u64, Location>,
    pub(super) functions: HashMap<u64, Function>,
    pub(super) comments: Vec<i64>,
    pub(super) period: i64,
    texts: Vec<Vec<u8>>,
}

impl Profile {
    /// Reads all of it. What is of no use here is passed over: labels, drop_frames, times.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, Error> {
        let mut profile = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = At::Offset((bytes.len() - rest.len()) as u64);
            let failed = |why: &str| Error::malformed(at, "a field of a profile", why.as_bytes());
            let (tag, field) = next(&mut rest).ok_or_else(|| failed("no whole field"))?;
            let taken = profile.take(tag, field);
            taken.map_err(|error| failed(&error.to_string()))?;
        }
        Ok(profile)
    }

    fn take(&mut self, tag: u64, field: Field) -> Result<(), prost::DecodeError> {
        let bytes = match field {
            Field::Bytes(bytes) => bytes,
            Field::Number(number) => {
                match tag {
                    12 => self.period = number as i64,
                    13 => self.comments.push(number as i64),
                    _ => {}
                }
                return Ok(());
            }
        };
        match tag {
            1 => self.types.push(ValueType::decode(bytes)?),
            2 => {
                let sample = Sample::decode(bytes)?;
                if sample.value.iter().any(|&value| value != 0) {
                    self.samples.push(sample);
                }
            }
            3 => {
                let mapping = Mapping::decode(bytes)?;
                self.mappings.insert(mapping.id, mapping);
            }
            4 => {
                let location = Location::decode(bytes)?;
                self.locations.insert(location.id, location);
            }
            5 => {
                let function = Function::decode(bytes)?;
                self.functions.insert(function.id, function);
            }
            6 => self.texts.push(bytes.to_vec()),
            13 => {
                let mut packed = bytes;
                while let Some(number) = varint(&mut packed) {
                    self.comments.push(number as i64);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A text; empty where there is none of that number.
    pub(super) fn text(&self, number: i64) -> &[u8] {
        let text = usize::try_from(number)
            .ok()
            .and_then(|at| self.texts.get(at));
        text.map_or(b"", |text| text)
    }
}

/// Whether a file begins as a profile: with types of values, or that of the period as Go
/// has it, and with nothing that a profile has not.
pub(super) fn begins(head: &[u8]) -> bool {
    let mut rest = head;
    let mut types = 0;
    while let Some((tag, field)) = next(&mut rest) {
        let fits = match (tag, field) {
            (1 | 11, Field::Bytes(bytes)) => {
                types += u32::from(tag == 1);
                matches!(bytes, [0x08, _, ..]) && ValueType::decode(bytes).is_ok()
            }
            (2..=6 | 13, Field::Bytes(_)) => types > 0,
            (7..=10 | 12..=15, Field::Number(_)) => true,
            _ => false,
        };
        if !fits {
            return false;
        }
    }
    types > 0
}

enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The next field of a message, with its number. There are no groups in a profile.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let key = varint(rest)?;
    let count = match key & 7 {
        0 => return Some((key >> 3, Field::Number(varint(rest)?))),
        1 => 8,
        2 => varint(rest)?,
        5 => 4,
        _ => return None,
    };
    let (bytes, after) = rest.split_at_checked(usize::try_from(count).ok()?)?;
    *rest = after;
    Some((key >> 3, Field::Bytes(bytes)))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    prost::encoding::decode_varint(rest).ok()
}
