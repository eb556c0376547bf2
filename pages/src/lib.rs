//! What memlog shows of a log: it is found, read and named, and becomes a page
//! of text or JSON. Each command that reads has a module here; `src/` parses
//! the command line and calls it.
//!
//! Storeys, from the top; none knows one above it (`ci/storeys.txt`):
//!
//! * `blocks`: the commands that ask the table of blocks
//! * `live`: a log that grows, for those who look at it again and again
//! * `dump`, `flamegraph`, `graph`, `info`, `pack`, `postmortem`, `replay`, `report`,
//!   `stats`, `strip`, `summary`, `tree`: the commands
//! * `events`: each event, in the forms of others and of `replay`
//! * `shown`: how a page comes about and reaches people
//! * `json`, `text`: a page as it is printed; they know no log
//! * `world`: the table of a log's blocks, found and named; what a filter chooses
//! * `calls`, `figures`, `places`: the tree of callers; the figures by name; who
//!   asked for memory
//! * `heading`, `moment`: what stands above each page
//! * `rests`: what answers rest on, and whether an import knows it
//! * `subject`: a log that was read
//! * `page`: what is shown, as a value; it knows neither log nor screen
//! * `choose`, `names`, `screen`: one log of many; functions and lines; the terminal
//! * `open`: files, read and summed up
//! * `facts`: what single records of a log mean
//! * `system`, `words`: sizes, names and errors as people read them
#![deny(unsafe_code)]

pub mod blocks;
mod calls;
mod choose;
pub mod dump;
pub mod events;
mod facts;
mod figures;
pub mod flamegraph;
pub mod graph;
mod heading;
pub mod info;
mod json;
pub mod live;
mod moment;
mod names;
mod open;
pub mod pack;
mod page;
mod places;
pub mod postmortem;
pub mod replay;
pub mod report;
mod rests;
mod screen;
mod shown;
pub mod stats;
pub mod strip;
mod subject;
pub mod summary;
mod system;
mod text;
pub mod tree;
mod words;
mod world;

pub use calls::{Filter, Form, Shape, Sources, keeps_stack};
pub use choose::{Once, all as logs_of, choose, each_once, each_process_once, one_more, searched};
pub use facts::{
    Bounds, fate, is_denied, is_running, lacks, may_lack, note, started_as, without_log,
};
pub use json::{of as json_of, value_of};
pub use moment::At;
pub use moment::snapshots::every;
pub use names::{
    Labels, Name, NameStore, Names, SymbolFiles, jit_names, may_have_jit_names, symbol_options,
};
pub use open::{
    Analysis, Extent, FEW_EVENTS, Family, Far, Few, Files, Following, Glance, INTERRUPTED,
    Interrupt, Life, Made, Seen, Watch, cache, each, extent_of, form_of, has_magic, import,
    is_packed, keep, left_seconds, outlive_cut_files, process, says_more, unnamed,
};
pub use page::Page;
pub use page::tree::{By, Direction};
pub use screen::{Look, Screen, fit, of_stdout, open_stdout, out, width};
pub use subject::Subject;
pub use system::{effective_user, free_bytes};
pub use text::of as text_of;
pub use words::{Advice, Sizes, clean, counted, grouped, lasted, shown, sized, tell_note, typed};
pub use world::{Where, damaged};
