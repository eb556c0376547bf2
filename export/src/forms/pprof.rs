//! A profile in the form of Google's pprof, gzipped: of each stack what the whole run
//! allocated, and what was live. Where the program told of scopes, those are labels: a stack
//! has a sample for each.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use memlog_analysis::{Held, Name};
use prost::Message;

use super::{Stacks, file_and_line};
use crate::flame::{Flame, Label, module_of};
use crate::shown::clean;

// The messages of profile.proto that are written; numbers are its own.

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Tag>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Tag {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    text: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
    #[prost(bool, tag = "10")]
    has_inline_frames: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// The sample types that Go's and tcmalloc's profiles have, in their order.
const TYPES: [(&str, &str); 4] = [
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
];

/// `live` is the metric of the moment that counts, `allocated` that of the whole run, and
/// `program` the file that ran.
pub fn pprof(
    flame: &Flame,
    (live, allocated): (&str, &str),
    program: &str,
) -> std::io::Result<Vec<u8>> {
    let own = |key: &str| flame.own(key).unwrap_or_default();
    let (live, allocated) = (own(live), own(allocated));
    let mut profile = Writer::begin();
    // The first is taken for the program's own.
    let program = profile.text(&clean(program.as_bytes()));
    profile.mapping(program);
    let chains = Stacks::first(flame);
    for ((at, scope), [allocated, live]) in samples(flame, [allocated, live]) {
        let chain = chains.chain(at);
        let labels = chain.filter_map(|(_, node)| match node.label {
            Label::Named(name) => Some(name),
            Label::Lesser(_) => None,
        });
        let location_id = labels.map(|label| {
            let name = flame.names.get(label as usize);
            name.map_or(0, |name| profile.location(label, name))
        });
        let location_id = location_id.collect();
        let blocks = |held: Held| match flame.lacks_counts {
            true => 0,
            false => held.blocks,
        };
        let value = [blocks(allocated), allocated.bytes, blocks(live), live.bytes];
        let label = scope
            .map(|scope| profile.scope(scope))
            .into_iter()
            .collect();
        profile.profile.sample.push(Sample {
            location_id,
            value: value
                .map(|value| i64::try_from(value).unwrap_or(i64::MAX))
                .to_vec(),
            label,
        });
    }
    profile.end(&flame.heading)
}

/// What of the whole run and what of the moment ends where, in which scope.
fn samples<'f>(flame: &'f Flame, own: [&[Held]; 2]) -> BTreeMap<(u32, Option<&'f str>), [Held; 2]> {
    let mut samples: BTreeMap<_, [Held; 2]> = BTreeMap::new();
    if flame.scoped.is_empty() {
        for at in 0..flame.nodes.len() {
            let held = own.map(|list| list.get(at).copied().unwrap_or_default());
            samples.insert((at as u32, None), held);
        }
    }
    for one in &flame.scoped {
        let sums = samples.entry((one.node, one.scope.as_deref())).or_default();
        *sums = [sums[0].plus(one.allocated), sums[1].plus(one.live)];
    }
    samples.retain(|_, held| *held != [Held::default(); 2]);
    samples
}

struct Writer {
    profile: Profile,
    texts: HashMap<String, i64>,
    locations: HashMap<u32, u64>,
    functions: HashMap<(i64, i64), u64>,
    mappings: HashMap<i64, u64>,
}

impl Writer {
    fn begin() -> Self {
        let mut writer = Self {
            profile: Profile::default(),
            texts: HashMap::new(),
            locations: HashMap::new(),
            functions: HashMap::new(),
            mappings: HashMap::new(),
        };
        // Text 0 is none.
        writer.text("");
        for (kind, unit) in TYPES {
            let [kind, unit] = [kind, unit].map(|word| writer.text(word));
            writer.profile.sample_type.push(ValueType { kind, unit });
        }
        writer.profile.default_sample_type = writer.text("inuse_space");
        writer.profile.period_type = writer.profile.sample_type.last().copied();
        writer.profile.period = 1;
        writer
    }

    fn scope(&mut self, scope: &str) -> Tag {
        Tag {
            key: self.text("scope"),
            text: self.text(&clean(scope.as_bytes())),
        }
    }

    fn text(&mut self, text: &str) -> i64 {
        if let Some(&number) = self.texts.get(text) {
            return number;
        }
        let number = self.profile.string_table.len() as i64;
        self.texts.insert(text.to_owned(), number);
        self.profile.string_table.push(text.to_owned());
        number
    }

    fn location(&mut self, label: u32, name: &Name) -> u64 {
        if let Some(&id) = self.locations.get(&label) {
            return id;
        }
        let location = name.location.as_deref().map(file_and_line);
        let (file, line) = location.unwrap_or(("", None));
        let module = module_of(name);
        let module = module.map(|module| self.text(&clean(module.as_bytes())));
        let mapping_id = module.map_or(0, |module| self.mapping(module));
        let function = self.text(&clean(name.function.as_bytes()));
        let filename = self.text(&clean(file.as_bytes()));
        let line = Line {
            function_id: self.function(function, filename),
            line: line.unwrap_or(0).into(),
        };
        let id = self.profile.location.len() as u64 + 1;
        self.profile.location.push(Location {
            id,
            mapping_id,
            line: vec![line],
        });
        self.locations.insert(label, id);
        id
    }

    fn function(&mut self, name: i64, filename: i64) -> u64 {
        let functions = &mut self.profile.function;
        let next = functions.len() as u64 + 1;
        let id = *self.functions.entry((name, filename)).or_insert(next);
        if id == next {
            functions.push(Function {
                id,
                name,
                system_name: name,
                filename,
            });
        }
        id
    }

    /// All names are known already: nobody looks them up once more.
    fn mapping(&mut self, filename: i64) -> u64 {
        let mappings = &mut self.profile.mapping;
        let next = mappings.len() as u64 + 1;
        let id = *self.mappings.entry(filename).or_insert(next);
        if id == next {
            mappings.push(Mapping {
                id,
                filename,
                has_functions: true,
                has_filenames: true,
                has_line_numbers: true,
                has_inline_frames: true,
            });
        }
        id
    }

    fn end(mut self, heading: &[String]) -> std::io::Result<Vec<u8>> {
        for line in heading {
            let comment = self.text(&clean(line.as_bytes()));
            self.profile.comment.push(comment);
        }
        let mut out = GzEncoder::new(Vec::new(), Compression::default());
        out.write_all(&self.profile.encode_to_vec())?;
        out.finish()
    }
}
