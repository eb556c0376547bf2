//! What a log's events mean: live memory, its peaks, and who holds it.
//!
//! Pure: it is told events in their order, and knows no files. Names are given to
//! it as text, by [`Stacks`], where it is asked who asked for memory.
//! One [`Tally`] takes them in one pass; in the end it is asked for a
//! [`Summary`], and for the live memory by stack at each [`Moment`].
//!
//! * `tally`: takes each event to whom it concerns
//! * `live`: the live set, address by address
//! * `arch`: what processors have and Rust does not
//! * `counts`: live memory by stack, and how it is known for past moments too
//! * `holders`: the same by thread and scope beside it; `owners`: a thread in its scopes
//! * `rss`: which reading of resident memory shows the peak
//! * `resident`: what that consists of, and how well its moment is known
//! * `sparse`: counts of few that have large numbers; `places`: of keys that are far apart
//! * `segments`: how far the heap peak may be off between threads
//! * `stacks`: each stack once, however often the recorder wrote it down
//! * `areas`: what of its addresses calls mapped; `ledger`: figures of what the program did
//! * `reached`: addresses that calls ever had to do with
//! * `failed`: who asked for memory and got none
//! * `coverage`: how much of resident memory's growth that explains
//! * `unknown`: releases of what is not live, told apart by a second reading
//! * `temporary`: blocks that go before their thread asks for another
//! * `threads`: their last names; `scopes`: what they say that they are at
//! * `snapshots`: the live set at many moments
//! * `flight_window`: what is known of events that were overwritten
//! * `sites`: given names, the places that asked, past wrappers and `library` code
//! * `brief`: names that are made shorter, and their own paths; `name`: what a place is called
//! * `alike`: names as they are in every build; `outside`: what calls main, which is cut off
//! * `totals`: sums over all events; `summary`: all figures of a log; `tree`: the callers of a moment
//!
//! **What the numbers mean.** Allocations are successful calls of the malloc
//! family; a successful realloc is one release and one allocation. Bytes are
//! as requested; what the allocator gave is `usable_*`. A block of 0 bytes is
//! a block. Calls that failed are none of these, and counted for themselves. Live
//! figures never contain what the program mapped itself, which is `mapped_*`.
//!
//! Memory depends on the live set and the number of stacks, never on the
//! number of events.
#![deny(unsafe_code)]

mod alike;
mod arch;
mod areas;
mod brief;
mod counts;
mod coverage;
mod cuts;
mod failed;
mod flight_window;
mod history;
mod holders;
mod largest;
mod ledger;
mod library;
mod lines;
mod live;
mod name;
mod outside;
mod owners;
mod places;
mod reached;
mod resident;
mod rss;
mod scopes;
mod segments;
mod share;
mod sites;
mod snapshots;
mod sparse;
mod stacks;
mod summary;
mod tally;
mod temporary;
mod threads;
mod totals;
mod tree;
mod unknown;

pub use alike::{alike, bare, module_stem};
pub use areas::{Access, Area, Areas, Change};
pub use brief::{Brief, brief, brief_path, nameless_in, short_path, without_names};
pub use counts::{Held, Instant, Measure, Moment};
pub use coverage::Coverage;
pub use cuts::{CutIn, Cuts};
pub use failed::{Asker, Failed, Failures};
pub use flight_window::FlightWindow;
pub use history::{History, UNKNOWN};
pub use largest::{Bud, Grown, Largest, Pair, largest};
pub use ledger::{Mapped, MappedMoments};
pub use library::{allocator, is_c_library, is_of_library, starts_programs};
pub use lines::{END, Line, first_outwards, held_below, step};
pub use live::{AddressMap, Block, Blocks};
pub use name::Name;
pub use outside::without_outside;
pub use resident::{Later, Parts, Precision, Resident};
pub use rss::{Bracket, Figures, FirstReading, Level, RssPeak, Unread, Why, highest_level};
pub use scopes::Scopes;
pub use share::{percentage, share};
pub use sites::{AskingSite, List, PassedOver, Sites, Stacks, Through, Wrappers, asking_places};
pub use snapshots::{
    Cause, ChosenChanges, Every, Excess, MOST, MOST_CHANGES, Snapshot, Snapshots, StackChange,
};
pub use stacks::{Frame, ModuleKey, Site, StackTable, Tables};
pub use summary::{CutStacks, Summary};
pub use tally::{Facts, Options, Switched, Tally};
pub use temporary::Temporary;
pub use threads::{Thread, Threads};
pub use totals::{Anomalies, At, PeakFigures, Totals};
pub use tree::{Branch, CallTree, Callers, Least};
pub use unknown::UnknownReleases;
