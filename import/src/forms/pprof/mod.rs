//! Heap profiles in the form of Google's pprof: those of Go, those that `go tool pprof
//! -proto` makes of gperftools' and jemalloc's, and memlog's own export. Of each stack they
//! have what came in all, what is live, or both.

mod proto;

use std::collections::HashMap;
use std::io::{BufRead, Read};

use memlog_format::meta::{Key, Lack};
use memlog_format::table::{CodeId, StackId};

use self::proto::{Location, Mapping, Profile, Sample};
use crate::error::{At, Error};
use crate::places::Given;
use crate::segments::bias;
use crate::writer::{LogWriter, ModuleId};

/// A heap profile is far smaller: what unpacks to more is taken for damage.
const LARGEST: u64 = 128 << 20;

pub(super) fn is(head: &[u8]) -> bool {
    proto::begins(head)
}

pub(super) fn read(input: &mut dyn BufRead, log: &mut LogWriter) -> Result<(), Error> {
    let mut bytes = Vec::new();
    let read = input.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(Error::Read)?;
    if bytes.len() as u64 > LARGEST {
        let expected = "a profile of no more than 128 MiB when it is unpacked";
        return Err(Error::malformed(At::Offset(LARGEST), expected, b"more"));
    }
    let profile = Profile::of(&bytes)?;
    drop(bytes);
    let columns = Columns::of(&profile)?;
    super::lacks_of_one_moment(log);
    columns.lacks(log, &profile);
    for &comment in &profile.comments {
        log.text(Key::Note, profile.text(comment));
    }
    let mut rows = Vec::new();
    let mut frames = Frames::new(&profile);
    for (index, sample) in profile.samples.iter().enumerate() {
        let sums = columns.sums(sample).ok_or_else(|| {
            let expected = "values that are not negative: a difference is no profile";
            Error::malformed(
                At::Offset(0),
                expected,
                format!("sample {index}").as_bytes(),
            )
        })?;
        rows.push((frames.stack(log, sample), sums));
    }
    for &(stack, (came, live)) in &rows {
        let [blocks, bytes] = [0, 1].map(|at| came[at].saturating_sub(live[at]));
        log.came_and_went(stack, blocks, bytes);
    }
    for &(stack, (_, [blocks, bytes])) in &rows {
        let _ = log.hold(stack, blocks, bytes);
    }
    Ok(())
}

/// Which values are which: of blocks and of bytes, those that came and those that are live.
struct Columns {
    came: Option<[usize; 2]>,
    live: Option<[usize; 2]>,
}

/// Blocks and bytes.
type Sums = [u64; 2];

impl Columns {
    fn of(profile: &Profile) -> Result<Self, Error> {
        let names = profile.types.iter().map(|kind| profile.text(kind.kind));
        let names: Vec<&[u8]> = names.collect();
        let at = |name: &[u8]| names.iter().position(|&known| known == name);
        let pair = |[blocks, bytes]: [&[u8]; 2]| Some([at(blocks)?, at(bytes)?]);
        let columns = Self {
            came: pair([b"alloc_objects", b"alloc_space"]),
            live: pair([b"inuse_objects", b"inuse_space"]).or(pair([b"objects", b"space"])),
        };
        if columns.came.is_none() && columns.live.is_none() {
            let expected = "a profile of the heap: alloc_space, inuse_space or space";
            let found = names.join(&b", "[..]);
            return Err(Error::malformed(At::Offset(0), expected, &found));
        }
        Ok(columns)
    }

    fn lacks(&self, log: &mut LogWriter, profile: &Profile) {
        if self.came.is_none() {
            log.lacks(Lack::Gone);
        }
        if self.live.is_none() {
            log.lacks(Lack::Live);
        }
        // Go and tcmalloc write how many bytes pass between two samples.
        if profile.period > 1 {
            log.lacks(Lack::Exactness);
        }
    }

    /// What came and what is live of it; nothing where a value is negative.
    fn sums(&self, sample: &Sample) -> Option<(Sums, Sums)> {
        let sums = |at: Option<[usize; 2]>| match at {
            None => Some(None),
            Some(at) => {
                let value = |at: usize| sample.value.get(at).copied().unwrap_or(0);
                let [blocks, bytes] = at.map(|at| u64::try_from(value(at)).ok());
                Some(Some([blocks?, bytes?]))
            }
        };
        let (came, live) = (sums(self.came)?, sums(self.live)?);
        let live = live.unwrap_or_default();
        Some((came.unwrap_or(live), live))
    }
}

/// The places of locations.
struct Frames<'p> {
    profile: &'p Profile,
    places: HashMap<u64, CodeId>,
    modules: HashMap<u64, ModuleId>,
}

impl<'p> Frames<'p> {
    fn new(profile: &'p Profile) -> Self {
        Self {
            profile,
            places: HashMap::new(),
            modules: HashMap::new(),
        }
    }

    fn stack(&mut self, log: &mut LogWriter, sample: &Sample) -> StackId {
        let locations = sample.location_id.iter().rev();
        locations.fold(StackId::COMPLETE, |caller, &id| {
            let place = self.place(log, id);
            log.stack(caller, place)
        })
    }

    fn place(&mut self, log: &mut LogWriter, id: u64) -> CodeId {
        if let Some(&place) = self.places.get(&id) {
            return place;
        }
        let profile = self.profile;
        let place = match profile.locations.get(&id) {
            Some(location) => self.located(log, location),
            None => {
                let function = format!("(location {id} that the profile does not have)");
                let given = Given {
                    function: function.as_bytes(),
                    ..Given::default()
                };
                log.place(None, true, None, &[given])
            }
        };
        self.places.insert(id, place);
        place
    }

    fn located(&mut self, log: &mut LogWriter, location: &Location) -> CodeId {
        let profile = self.profile;
        let given = location.line.iter().filter_map(|line| {
            let function = profile.functions.get(&line.function_id)?;
            let name = profile.text(function.name);
            (!name.is_empty()).then(|| Given {
                function: name,
                file: profile.text(function.filename),
                line: match profile.text(function.filename) {
                    b"" => 0,
                    _ => u32::try_from(line.line).unwrap_or(0),
                },
            })
        });
        let given: Vec<_> = given.collect();
        let mapping = profile.mappings.get(&location.mapping_id);
        let module = mapping.and_then(|mapping| self.module(log, mapping));
        // It is the call, not where it returns to: whoever writes the form takes one off.
        let address = (location.address != 0).then_some(location.address);
        log.place(address, true, module, &given)
    }

    fn module(&mut self, log: &mut LogWriter, mapping: &Mapping) -> Option<ModuleId> {
        if let Some(&known) = self.modules.get(&mapping.id) {
            return Some(known);
        }
        let path = self.profile.text(mapping.filename);
        if path.is_empty() {
            return None;
        }
        let build_id = hex(self.profile.text(mapping.build_id)).unwrap_or_default();
        let mapped = mapping.memory_start..mapping.memory_limit.max(mapping.memory_start);
        let bias = bias(&mapped, (mapping.file_offset, true), &log.segments(path));
        let module = log.module(path, &build_id, bias, mapped);
        self.modules.insert(mapping.id, module);
        Some(module)
    }
}

/// The bytes of a linker's build id: Go's own ids are others.
fn hex(text: &[u8]) -> Option<Vec<u8>> {
    let pairs = text.chunks_exact(2);
    if text.len() < 16 || !pairs.remainder().is_empty() {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect()
}
