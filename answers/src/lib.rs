//! Questions to a table of blocks. Each is a choice of rows, a grouping and a moment,
//! so that two answers about the same blocks agree.
//!
//! * [`World`]: a table with the names of its stacks and its moments in time
//! * [`Choice`]: which rows; [`test_of`]: those that a filter's text asks for
//! * [`Sums`]: what there is to say of some rows
//! * [`name_owners`]: whom each stack's blocks were for
//! * [`until`]: work that may end before its time
//! * `pass`: all chosen rows, once, on the cores that there are
//! * [`By`]: what blocks are put together by
//! * [`grouped`]: sums by function, line, size, thread ...
//! * [`sums_of_stacks`]: the same of each stack
//! * [`held_of`], [`held_at`]: what stacks hold, over the run and at moments;
//!   [`released_by`]: what they released; [`born_of`]: when it came
//! * [`changes`]: what came and went between moments
//! * [`allocation_points`]: what DHAT counts
//! * [`events`]: what came and went, one by one
//! * [`picked`]: which blocks those are, by their events
//! * [`peak`]: when chosen blocks held most; [`owned`]: the places that they were for
//! * [`diff`]: what changed from one log to another, whatever their builds
//! * [`growth`]: what groups held at some moments; [`whole`]: all blocks of groups
//! * [`suppressed`]: leaks that somebody knows of
//! * `static_init`: what ran before main
//! * [`by_size`], [`by_lifetime`], [`by_size_and_lifetime`]: how many of each
//! * [`timeline`]: the heap and resident memory over time
//! * [`courses`]: the same of several choices, each block in one of them only
//! * [`chains`]: what reallocs grew
//! * [`found_at`]: the blocks that an address was in
//! * [`listed`]: single blocks in any order; [`list_part`]: a part of them
//! * [`around`]: callers and callees of a function
//! * [`lines`]: what the lines of a source file asked for
//! * [`AreasInTime`]: which blocks lie in a mapping
//! * [`occupied`]: the addresses that blocks ever lay at
//! * [`fragments`]: pages that few bytes hold
//! * [`regions`]: where blocks lie in the address space
//! * [`residents`]: whose the resident memory was
//! * [`threads`]: who allocated and who freed
//! * [`Ranks`]: what the ranks of a job held, merged in any order
//! * [`mappings`]: what the program mapped itself; [`mapped`]: each mapping of the run
//!
//! It knows no log and no screen, and does no I/O.
#![forbid(unsafe_code)]

mod areas;
mod around;
mod by_number;
mod chain;
mod chains;
mod changes;
mod choice;
mod courses;
mod diff;
mod events;
mod filter;
mod find;
mod fragments;
mod group;
mod growth;
mod held;
mod histogram;
mod keys;
mod lines;
mod listed;
#[cfg(test)]
mod making;
mod mappings;
mod occupied;
mod owned;
mod owners;
mod pass;
mod peak;
mod picked;
mod place;
mod points;
mod ranks;
mod regions;
mod resident;
mod static_init;
mod stop;
mod sums;
mod suppress;
mod threads;
mod timeline;
mod types;
mod unanswered;
mod world;

pub use areas::AreasInTime;
pub use around::{Around, around};
pub use chain::ChainFacts;
pub use chains::{ChainRow, Chains, chains, facts_of as chain_facts_of};
pub use changes::changes;
pub use choice::{Choice, Test};
pub use courses::{Course, Layer, SeriesOf, courses, thinned};
pub use diff::{
    Change, ChangedLines, DIFF_BY, Difference, Module, Side, changed_lines, diff, side,
};
pub use events::{Event, events};
pub use filter::{in_mappings_of, needs_names, test_of};
pub use find::{Found, found_at};
pub use fragments::{FragmentRow, Fragments, fragments};
pub use group::{Group, grouped, sums_of_stacks};
pub use growth::{Growth, Whole, growth, whole};
pub use held::{Scoped, born_of, held_at, held_by_scope, held_of, released_by};
pub use histogram::{Class, Grid, by_lifetime, by_lifetime_events, by_size, by_size_and_lifetime};
pub use keys::By;
pub use lines::{FileLines, LineSums, lines};
pub use listed::{Behind, ListPart, Order, Way, list_part, listed};
pub use mappings::{
    Mapped, Mapping, MappingRow, backing_at, mapped, mapped_at, mapped_over_time, mappings,
};
pub use occupied::{Range, occupied};
pub use owned::{Owned, owned};
pub use owners::{name_owners, name_owners_past};
pub use peak::{Peak, peak};
pub use picked::{Picked, picked};
pub use points::{AllocationPoint, allocation_points};
pub use ranks::{End, LeftOut, Node, Outlier, Process, Ranks, Site, SiteKey, Spread};
pub use regions::{Region, regions};
pub use resident::{
    Part, Purpose, ResidentRow, Residents, Then, Unseen, largest_unseen, residents,
};
pub use static_init::static_inits;
pub use stop::{Stop, until};
pub use sums::Sums;
pub use suppress::{Suppression, suppressed, suppressions};
pub use threads::{Between, ThreadRow, threads};
pub use timeline::{Point, timeline, timeline_with};
pub use types::type_of;
pub use unanswered::Unanswered;
pub use world::{Damaged, Moments, Of, Stack, World};
