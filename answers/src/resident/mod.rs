//! Whose the resident memory was: every byte of a census has one purpose.
//!
//! The kernel says which pages of which mapping are resident, the table which blocks
//! lay there:
//!
//! ```text
//! memlog's own    the log, the recorder's library, and of what is not explained as much
//!                 as its account has
//! file            code, variables, other files, shared memory: by the mapping
//! anonymous       live       bytes that live blocks asked for
//!                 rounding   what the allocator gave beyond that, and a word before each
//!                 mapped     of what the program mapped itself
//!                 freed      in pages that blocks once had
//!                 huge       in no such page, of a huge page that the kernel gave whole
//!                 never      in no such page, of the allocator's own
//!                 stacks, variables, unexplained: where no block ever was
//! ```
//!
//! A block that comes right behind the census was there already where its pages are:
//! the recorder reads memory after the allocator gave a block, and before it writes that.

mod given;
mod pages;
mod sweep;
#[cfg(test)]
mod tests;
mod unseen;

use memlog_format::resident::Mapped;
use memlog_table::{Column, Columns, Flags, NEVER};

use crate::choice::{Choice, Test};
use crate::keys::{By, Keys};
use crate::pass;
use crate::world::{Damaged, World, sound_page_bytes};
use given::{Adding, Given};
use sweep::{Area, Block, Swept, sweep};
pub use unseen::{Unseen, largest_unseen};

/// What resident memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Bytes that live blocks asked for.
    Live,
    /// What the allocator gave them beyond that, and its words before them.
    Rounding,
    /// Given back to the allocator, which keeps it.
    Freed,
    /// The allocator's own: never given to anybody.
    Never,
    /// The rest of huge pages.
    Huge,
    /// The program mapped it itself.
    Mapped,
    /// Stacks of threads.
    Stacks,
    /// Code, and what else of modules was not written to.
    Code,
    /// Variables of modules.
    Variables,
    /// Other files.
    Files,
    /// Shared with other processes.
    Shared,
    /// The recorder's.
    Own,
    /// Nobody knows.
    Unexplained,
}

impl Purpose {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 13] = [
        Self::Live,
        Self::Rounding,
        Self::Freed,
        Self::Never,
        Self::Huge,
        Self::Mapped,
        Self::Stacks,
        Self::Code,
        Self::Variables,
        Self::Files,
        Self::Shared,
        Self::Own,
        Self::Unexplained,
    ];
}

/// What of a mapping has one purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which mapping, by its place.
    pub place: usize,
    /// Its purpose.
    pub purpose: Purpose,
    /// Resident bytes.
    pub bytes: u64,
    /// Where most of it lies, of what is not explained: from its first byte to behind
    /// its last.
    pub range: Option<(u64, u64)>,
}

/// What blocks that have something in common hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResidentRow {
    /// What they have in common.
    pub name: String,
    /// Their bytes that are resident.
    pub resident: u64,
    /// All bytes that were asked for.
    pub live: u64,
    /// How many they are; mappings where they are of mappings.
    pub blocks: u64,
}

/// Resident memory by what it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Residents {
    /// Bytes by purpose, in the order of [`Purpose::ALL`].
    pub purposes: [u64; Purpose::ALL.len()],
    /// Who asked for the live blocks.
    pub blocks: Vec<ResidentRow>,
    /// Who mapped what the program mapped.
    pub mapped: Vec<ResidentRow>,
    /// What has one purpose in a mapping.
    pub parts: Vec<Part>,
}

impl Residents {
    /// Bytes of a purpose.
    pub fn of(&self, purpose: Purpose) -> u64 {
        self.purposes[purpose as usize]
    }

    /// The recorder's own are among what is not explained: those that are advised as its
    /// memory is, else the largest that fit. The account is of what was taken, and counts
    /// small things as they usually are.
    fn take_own(&mut self, then: &Then) {
        let is_log = |part: &&Part| {
            let mapped = &then.mapped[part.place];
            part.purpose == Purpose::Own && mapped.is(Mapped::SHARED)
        };
        let logs = self.parts.iter().filter(is_log);
        let log = logs.fold(0u64, |sum, part| sum.saturating_add(part.bytes));
        let account = then.own.saturating_sub(log);
        let mut left = account
            .saturating_add(account / 4)
            .saturating_add(OWN_GRAIN);
        let mut parts: Vec<_> = self.parts.iter_mut().collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        for part in parts {
            let mapped = &then.mapped[part.place];
            let may_be = mapped.is(Mapped::ADVISED) || !then.is_counted;
            let is_nameless = mapped.path.is_empty();
            let is_candidate = part.purpose == Purpose::Unexplained && is_nameless && may_be;
            if is_candidate && part.bytes <= left {
                left -= part.bytes;
                part.purpose = Purpose::Own;
                self.purposes[Purpose::Unexplained as usize] -= part.bytes;
                let own = &mut self.purposes[Purpose::Own as usize];
                *own = own.saturating_add(part.bytes);
            }
        }
    }

    /// All of them.
    pub fn sum(&self) -> u64 {
        let all = self.purposes.iter();
        all.fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}

/// A census, and where it stands among the events.
#[derive(Clone, Copy)]
pub struct Then<'a> {
    /// The mappings, by their addresses.
    pub mapped: &'a [Mapped<'a>],
    /// After so many allocations and releases.
    pub event: u64,
    /// After so many calls that map.
    pub mapped_event: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// The log's own name, without its folder.
    pub log_name: &'a [u8],
    /// What the kernel counted as resident.
    pub resident: u64,
    /// What the recorder's own memory comes to by its account.
    pub own: u64,
    /// Whether mappings tell of advice.
    pub is_counted: bool,
}

/// Whose it was. `blocks` and `mappings` are of the same log.
/// There are rows of those blocks that are chosen; purposes are of all blocks.
pub fn residents(
    (blocks, choice): (&World, &Choice),
    mappings: &World,
    then: &Then,
    by: By,
) -> Result<Residents, Damaged> {
    let page_bytes = sound_page_bytes(then.page_bytes);
    let then = &Then {
        page_bytes,
        ..*then
    };
    let live = live(blocks, choice, then)?;
    let given = given(blocks, then)?;
    let areas = areas(mappings, then)?;
    let mut found = Residents::default();
    let mut sites = Sites::new(blocks, by);
    let mut makers = Sites::new(mappings, by);
    for block in live.iter().filter(|block| block.is_chosen) {
        let row = sites.row(block.stack);
        row.live = row.live.saturating_add(block.size);
        row.blocks += 1;
    }
    for area in areas.iter().filter(|area| !area.is_backing) {
        let row = makers.row(area.stack);
        row.live = row.live.saturating_add(area.end - area.low);
        row.blocks += 1;
    }
    let (mut is_behind_own, mut end_kb) = (false, 0);
    for (place, mapped) in then.mapped.iter().enumerate() {
        // In a damaged log each may cover everything.
        if mapped.low_kb < end_kb {
            continue;
        }
        end_kb = mapped.low_kb.saturating_add(mapped.length_kb);
        let home = Home::of(mapped, then.log_name, is_behind_own);
        is_behind_own = home == Home::Own;
        let is_module = mapped.is(Mapped::EXECUTABLE) && mapped.is(Mapped::FILE);
        let swept = match home {
            Home::File if is_module => Swept::default(),
            _ => sweep(
                mapped,
                page_bytes,
                (&live, &given, &areas),
                &mut |touched| {
                    let (row, bytes) = match touched {
                        sweep::Touched::Block(stack, bytes) => (sites.row(stack), bytes),
                        sweep::Touched::Area(stack, bytes) => (makers.row(stack), bytes),
                    };
                    // Mappings of a damaged log may overlap.
                    row.resident = row.resident.saturating_add(bytes);
                },
            ),
        };
        for (purpose, bytes) in home.purposes(mapped, &swept) {
            if bytes > 0 {
                let sum = &mut found.purposes[purpose as usize];
                *sum = sum.saturating_add(bytes);
                let range = (purpose == Purpose::Unexplained).then_some(swept.longest);
                found.parts.push(Part {
                    place,
                    purpose,
                    bytes,
                    range,
                });
            }
        }
    }
    found.take_own(then);
    // Mappings of which the kernel did not tell.
    let untold = then.resident.saturating_sub(found.sum());
    let unexplained = &mut found.purposes[Purpose::Unexplained as usize];
    *unexplained = unexplained.saturating_add(untold);
    (found.blocks, found.mapped) = (sites.into_rows(), makers.into_rows());
    Ok(found)
}

/// What kind of mapping it is, apart from blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Own,
    File,
    Stack,
    Variables,
    /// The kernel's code in each process.
    Kernel,
    /// The end of the data segment, which only allocators move.
    Break,
    Shared,
    Anonymous,
}

/// By so much its account may be off.
const OWN_GRAIN: u64 = 256 << 10;

/// Files of the recorder that a process has mapped.
const LIBRARIES: [&[u8]; 3] = [
    b"/libmemlog.so",
    b"/libmemlog_operators.so",
    b"/libmemlog_named.so",
];

impl Home {
    fn of(mapped: &Mapped, log_name: &[u8], is_behind_own: bool) -> Self {
        let path = mapped.path;
        let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
        let folder = path.strip_suffix(log_name);
        let is_log = !log_name.is_empty() && folder.is_some_and(|it| it.ends_with(b"/"));
        let is_library = LIBRARIES.iter().any(|name| path.ends_with(name));
        if mapped.is(Mapped::FILE) {
            let is_memory = [b"/memfd:".as_slice(), b"/SYSV", b"/dev/shm/", b"/dev/zero"];
            let is_memory = is_memory.iter().any(|start| path.starts_with(start));
            return match () {
                () if is_log || is_library => Self::Own,
                () if is_memory && mapped.is(Mapped::SHARED) => Self::Shared,
                () => Self::File,
            };
        }
        match path {
            b"[stack]" => Self::Stack,
            b"[heap]" => Self::Break,
            b"[vdso]" | b"[vvar]" | b"[vvar_vclock]" | b"[vsyscall]" | b"[sigpage]" => Self::Kernel,
            _ if mapped.is(Mapped::SHARED) => Self::Shared,
            _ if mapped.is(Mapped::BEHIND_FILE) && is_behind_own => Self::Own,
            _ if mapped.is(Mapped::BEHIND_FILE) => Self::Variables,
            _ if mapped.is(Mapped::GUARDED) => Self::Stack,
            _ => Self::Anonymous,
        }
    }

    /// What is for which purpose in it.
    fn purposes(self, mapped: &Mapped, swept: &Swept) -> Vec<(Purpose, u64)> {
        let all = mapped.resident_kb.saturating_mul(1024);
        if mapped.is(Mapped::FILE) && self != Self::Shared {
            let written = mapped.anonymous_kb.saturating_mul(1024).min(all);
            let (clean, written) = match (self, mapped.is(Mapped::EXECUTABLE)) {
                (Self::Own, _) => return vec![(Purpose::Own, all)],
                (_, true) => (
                    (Purpose::Code, all - written),
                    (Purpose::Variables, written),
                ),
                (_, false) => return vec![(Purpose::Files, all)],
            };
            return vec![clean, written];
        }
        let known = [
            (Purpose::Live, swept.live),
            (Purpose::Rounding, swept.rounding),
            (Purpose::Mapped, swept.mapped),
            (Purpose::Freed, swept.freed),
        ];
        let sum = known.iter().map(|(_, bytes)| bytes).sum();
        let rest = all.saturating_sub(sum);
        let has_blocks = swept.live > 0 || swept.freed > 0 || swept.backing > 0;
        let huge = mapped.huge_kb.saturating_mul(1024).min(rest);
        let mut purposes = known.to_vec();
        match self {
            Self::Own if !has_blocks => purposes.push((Purpose::Own, rest)),
            Self::Kernel | Self::File => purposes.push((Purpose::Code, rest)),
            // Who mapped it is told all the same.
            Self::Shared => {
                purposes.retain(|(purpose, _)| *purpose != Purpose::Mapped);
                purposes.push((Purpose::Shared, rest + swept.mapped));
            }
            Self::Stack if !has_blocks => purposes.push((Purpose::Stacks, rest)),
            Self::Variables => purposes.push((Purpose::Variables, rest)),
            Self::Anonymous if !has_blocks => purposes.push((Purpose::Unexplained, rest)),
            _ => purposes.extend([(Purpose::Huge, huge), (Purpose::Never, rest - huge)]),
        }
        purposes
    }
}

/// Rows by what blocks have in common.
struct Sites<'w, 't, 'b> {
    keys: Keys<'w, 't, 'b>,
    by_stack: std::collections::HashMap<u32, u32>,
    rows: Vec<ResidentRow>,
}

impl<'w, 't, 'b> Sites<'w, 't, 'b> {
    fn new(world: &'w World<'t, 'b>, by: By) -> Self {
        Self {
            keys: Keys::new(world, by),
            by_stack: Default::default(),
            rows: Vec::new(),
        }
    }

    fn row(&mut self, stack: u32) -> &mut ResidentRow {
        let keys = &mut self.keys;
        let key = *self.by_stack.entry(stack).or_insert_with(|| keys.of(stack)) as usize;
        if self.rows.len() <= key {
            self.rows.resize_with(key + 1, ResidentRow::default);
        }
        &mut self.rows[key]
    }

    /// Those first that have most.
    fn into_rows(self) -> Vec<ResidentRow> {
        let mut rows = self.rows;
        for (row, name) in rows.iter_mut().zip(self.keys.into_names()) {
            row.name = name;
        }
        rows.sort_by(|one, other| {
            let by_resident = other.resident.cmp(&one.resident);
            by_resident
                .then(other.live.cmp(&one.live))
                .then(one.name.cmp(&other.name))
        });
        rows
    }
}

/// Blocks that are live, or come right behind, by their addresses.
fn live(world: &World, chosen: &Choice, then: &Then) -> Result<Vec<Block>, Damaged> {
    let next = then.event.saturating_add(1);
    let choice = Choice::of(Test::Between(Column::Born, 0, next));
    let choice = choice.and(Test::Between(Column::Died, next, NEVER));
    let columns = [Column::Address, Column::Size, Column::Waste, Column::Stack];
    let mut live = pass::over(
        world,
        &choice,
        Columns::of(&columns).and(chosen.columns()),
        |live: &mut Vec<Block>, rows, all| {
            let mut mask = Vec::new();
            chosen.choose(world, rows, &mut mask);
            live.extend(all.iter().map(|&row| {
                let get = |column| rows.get(column, row);
                Block {
                    address: get(Column::Address),
                    size: get(Column::Size),
                    given: get(Column::Size).saturating_add(get(Column::Waste)),
                    stack: world.number(get(Column::Stack)),
                    is_chosen: mask[row],
                }
            }));
        },
        joined,
    )?;
    live.sort_unstable_by_key(|block| block.address);
    Ok(live)
}

/// Pages that any block had so far.
fn given(world: &World, then: &Then) -> Result<Given, Damaged> {
    let next = then.event.saturating_add(1);
    let so_far = Choice::of(Test::Between(Column::Born, 0, next));
    pass::over(
        world,
        &so_far,
        Columns::of(&[Column::Address, Column::Size, Column::Waste]),
        |given: &mut Adding, rows, chosen| {
            for &row in chosen {
                let get = |column| rows.get(column, row);
                let bytes = get(Column::Size).saturating_add(get(Column::Waste));
                given.add(get(Column::Address), bytes, then.page_bytes);
            }
        },
        Adding::and,
    )
    .map(Adding::settled)
}

/// What calls have mapped, by addresses.
fn areas(world: &World, then: &Then) -> Result<Vec<Area>, Damaged> {
    let columns = [Column::Address, Column::Size, Column::Flags, Column::Stack];
    let mut areas = pass::over(
        world,
        &Choice::of(Test::LiveAt(then.mapped_event)),
        Columns::of(&columns),
        |areas: &mut Vec<Area>, rows, chosen| {
            areas.extend(chosen.iter().map(|&row| {
                let get = |column| rows.get(column, row);
                Area {
                    low: get(Column::Address),
                    end: get(Column::Address).saturating_add(get(Column::Size)),
                    is_backing: Flags(get(Column::Flags)).is_backing(),
                    stack: world.number(get(Column::Stack)),
                }
            }));
        },
        joined,
    )?;
    areas.sort_unstable_by_key(|area| area.low);
    Ok(areas)
}

fn joined<T>(mut all: Vec<T>, mut one: Vec<T>) -> Vec<T> {
    all.append(&mut one);
    all
}
