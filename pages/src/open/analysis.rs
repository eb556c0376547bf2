//! Feeds the analysis with the events of a log and of its parents.

use std::collections::HashMap;

use memlog_analysis::{
    At, Coverage, Facts, Figures, Held, Instant, Moment, Options, Snapshots, StackTable, Summary,
    Tables, Tally, UnknownReleases,
};
use memlog_answers::Scoped;
use memlog_export::When;
use memlog_format::counter::{ALL, Counter};
use memlog_format::event::{Alloc, Release, Usual};
use memlog_format::meta::Module;
use memlog_format::stripped::Stripped;
use memlog_format::table::{Code, CodeId, Node, StackId};
use memlog_read::{Findings, Flight, Item, Kind, Log, Place, Taker};

use super::mapped::MappedHistory;
use super::snapping::Snapping;
use super::{Family, Watch, hand_out};
use crate::words::percentage;

/// A log's tables as the analysis asks for them.
pub struct LogTables<'l, 'a> {
    log: &'l Log<'a>,
    modules: HashMap<u32, Module<'a>>,
}

impl<'l, 'a> LogTables<'l, 'a> {
    /// The tables of this log.
    pub fn new(log: &'l Log<'a>) -> Self {
        let modules = log.modules().iter();
        Self {
            log,
            modules: modules.map(|module| (module.id, *module)).collect(),
        }
    }
}

impl Tables for LogTables<'_, '_> {
    fn node(&self, id: StackId) -> Option<Node> {
        self.log.node(id)
    }

    fn code(&self, id: CodeId) -> Option<Code> {
        self.log.code(id)
    }

    fn module(&self, id: u32) -> Option<Module<'_>> {
        self.modules.get(&id).copied()
    }
}

/// The first and the last time of something, in seconds.
pub type Times = (f64, f64);

/// Everything that a log tells.
pub struct Analysis {
    /// What is known of its events.
    pub tally: Tally,
    /// Its figures.
    pub summary: Summary,
    /// How much of the growth up to that peak the log explains.
    pub coverage: Option<Coverage>,
    /// What the program had in reserve at that peak: mapped without any access.
    pub reserved_bytes: u64,
    /// What was mapped when.
    pub mapped: MappedHistory,
    /// What was live at the moments that were asked for.
    pub snapshots: Option<Snapshots>,
    /// What stacks hold of chosen blocks, if a filter chooses any.
    pub chosen: Option<Chosen>,
    /// What stacks released, if that was asked for.
    pub freed: Vec<(u32, Held)>,
    /// When the first and the last of what is counted came, by stack, in seconds; if that
    /// was asked for.
    pub times: Vec<(u32, Times)>,
    /// What stacks have by scope, with stacks as the tally numbers them; if that was asked
    /// for, and the log has scopes.
    pub scoped: Vec<(String, Scoped)>,
    /// What was odd about it.
    pub findings: Findings,
    /// How far it was read, where that was not to the end.
    pub part: Option<Part>,
}

/// What stacks hold of the blocks that a filter chooses, as [`Tally::stacks`] numbers
/// them.
pub struct Chosen {
    /// The filter, as a text.
    pub filter: String,
    /// What is live at each moment.
    pub live: Vec<(Moment, Vec<(u32, Held)>)>,
    /// What was allocated in the log.
    pub allocated: Vec<(u32, Held)>,
    /// What of that was temporary.
    pub temporary: Vec<(u32, Held)>,
    /// What stacks released, if that was asked for.
    pub freed: Vec<(u32, Held)>,
}

/// The part of a log that was read before Ctrl-C.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// To this tick.
    pub tick: u64,
    /// So much of the bytes of its events.
    pub percent: f64,
}

impl Analysis {
    /// The tick of a moment.
    pub fn tick_of(&self, when: When, tick_ns: u64) -> u64 {
        let summary = &self.summary;
        match when.moment() {
            Moment::RssPeak => summary.rss_peak.tick,
            Moment::HeapPeak => summary.heap_peak.tick,
            Moment::End => summary.end_tick,
            Moment::Chosen => when
                .instant(tick_ns)
                .map_or(summary.end_tick, Instant::tick),
        }
    }

    fn find_coverage(&self) -> Option<Coverage> {
        let summary = &self.summary;
        let first = summary.first_reading?;
        // Before the first call nothing was mapped, in whichever tick it was.
        let before = match first.is_start {
            true => 0,
            false => self.mapped.open_at(first.tick),
        };
        Coverage::of(summary, before)
    }

    /// How many findings say that a part of the log is missing or spoilt.
    pub fn damages(&self) -> u64 {
        let listed = self.findings.list().iter();
        let usual = listed.filter(|finding| finding.is_usual()).count();
        self.findings.count() - usual as u64
    }
}

impl Family<'_> {
    /// Takes in the whole log, or what of it comes before Ctrl-C; `chosen`
    /// is a moment of interest.
    pub fn analyse(&self, chosen: Option<Instant>, watch: &Watch) -> Analysis {
        self.analyse_with(chosen, None, watch)
    }

    /// The same with snapshots.
    pub fn analyse_with(
        &self,
        chosen: Option<Instant>,
        mut snapshots: Option<Snapshots>,
        watch: &Watch,
    ) -> Analysis {
        let log = self.own();
        watch.expect(self.logs.iter());
        let inherit = |tally: &mut Tally| self.inherit(tally, watch);
        let mut tally = begin(log, chosen, StackTable::default(), inherit);
        let tables = LogTables::new(log);
        let mut events = watch.events(log);
        let mut mapped = MappedHistory::default();
        let mut feed = Feed {
            tally: &mut tally,
            tables: &tables,
            mapped: Some(&mut mapped),
        };
        let goes_on = |events, bytes| watch.goes_on_after(events, bytes);
        let far = match &mut snapshots {
            None => hand_out(&mut events, &mut feed, |_, count, bytes| {
                goes_on(count, bytes)
            }),
            Some(snapshots) => {
                let mut snapping = Snapping::begin(&mut feed, snapshots);
                hand_out(&mut events, &mut snapping, |_, count, bytes| {
                    goes_on(count, bytes)
                })
            }
        };
        let is_whole = far.is_whole;
        let unknown = tally.take_unknown();
        if !unknown.is_empty() {
            // The same part of it.
            let most = if is_whole { u64::MAX } else { far.count };
            tally.tell_apart(Again(unknown).read(log, most));
        }
        let mut findings = log.findings().clone();
        findings.append(events.findings());
        let facts = if is_whole {
            facts(log)
        } else {
            facts_of_part(log)
        };
        let mut summary = tally.finish(&facts);
        if let Some(stripped) = log.stripped().filter(|_| is_whole) {
            as_it_was(&mut summary, &stripped);
        } else {
            // What was left out by the recorder may have been live then.
            let error = &mut summary.heap_peak.error_bytes;
            *error = error.saturating_add(log.counter(Counter::CulledBytes));
        }
        if let Some(snapshots) = &mut snapshots {
            snapshots.end(summary.end_tick, is_whole, &tally);
        }
        let part = (!is_whole).then(|| Part {
            tick: summary.end_tick,
            percent: percentage(far.bytes, log.size().event_bytes),
        });
        watch.through();
        let mut analysis = Analysis {
            tally,
            summary,
            coverage: None,
            reserved_bytes: 0,
            mapped,
            snapshots,
            chosen: None,
            freed: Vec::new(),
            times: Vec::new(),
            scoped: Vec::new(),
            findings,
            part,
        };
        analysis.summary.is_damaged = analysis.damages() > 0;
        analysis.reserved_bytes = analysis.mapped.reserved_at(summary.rss_peak.tick);
        analysis.coverage = analysis.find_coverage();
        analysis
    }

    /// What was live in the parents at each fork, the oldest first.
    pub(super) fn inherit(&self, tally: &mut Tally, watch: &Watch) {
        for (_, child, parent) in self.forks() {
            tally.change_log();
            let tables = LogTables::new(parent);
            for entry in parent.flight().into_iter().flat_map(Flight::live) {
                tally.inherit_entry(entry, &tables);
            }
            let mut events = watch.events_until(parent, child.fork_points());
            while let Some(item) = events.next() {
                if !watch.goes_on(&events) {
                    return;
                }
                match &item.kind {
                    Kind::Alloc(alloc) => tally.inherit_alloc(at_of(&item), alloc, &tables),
                    Kind::Release(release) => tally.inherit_release(release),
                    Kind::Switch(switch) if switch.on => tally.inherit_forget(),
                    Kind::Scope(names) => tally.scope(item.stream, names),
                    Kind::Thread { .. } => tally.scope(item.stream, &[]),
                    _ => {}
                }
            }
        }
    }
}

/// What there is before the first event: what was inherited, and what overwritten events
/// left. `stacks` are known from an earlier reading.
pub(super) fn begin(
    log: &Log,
    chosen: Option<Instant>,
    stacks: StackTable,
    inherit: impl FnOnce(&mut Tally),
) -> Tally {
    let mut tally = Tally::new(Options {
        chosen,
        maxrss_floor_kb: log.counter(Counter::MaxRssFloorKb),
        peak_reading: log.stripped().map(|stripped| stripped.peak_reading),
        forked: log.parent_pid().is_some(),
    });
    tally.know_stacks(stacks);
    inherit(&mut tally);
    tally.start();
    if let Some(flight) = log.flight() {
        let tables = LogTables::new(log);
        tally.resume(&flight.sums, flight.bound_bytes);
        for entry in flight.live() {
            tally.seed(entry, &tables);
        }
        tally.seeded();
    }
    tally
}

/// How sure figures were before events were left out.
fn as_it_was(summary: &mut Summary, stripped: &Stripped) {
    summary.heap_peak.error_bytes = stripped.error_bytes;
    let bracket = &mut summary.rss_peak.bracket;
    bracket.events = stripped.bracket_events;
    bracket.low_heap_bytes = stripped.bracket_low_bytes;
}

/// Its end says nothing of the part before.
fn facts_of_part(log: &Log) -> Facts {
    Facts {
        rss: Figures::default(),
        end_tick: None,
        cpu_us: 0,
        ..facts(log)
    }
}

/// Where an item stands.
pub fn at_of(item: &Item) -> At {
    at_place(item.place())
}

#[inline]
fn at_place(place: Place) -> At {
    let Place { stream, tid, tick } = place;
    At { stream, tid, tick }
}

/// Reads a log once more, for what becomes of some addresses.
struct Again(UnknownReleases);

impl Again {
    /// So many events of a log at most.
    fn read(mut self, log: &Log, most: u64) -> UnknownReleases {
        for entry in log.flight().into_iter().flat_map(Flight::live) {
            self.0.came(entry.address);
        }
        log.events().hand_out(most, &mut self);
        self.0
    }
}

impl<'a> Taker<'a> for Again {
    #[inline]
    fn alloc(&mut self, _: Place, alloc: &Alloc) {
        self.0.came(alloc.address);
    }

    #[inline]
    fn release(&mut self, _: Place, release: &Release) {
        self.0.went(release.address);
    }

    fn item(&mut self, item: &Item<'a>) {
        match &item.kind {
            Kind::Alloc(alloc) => self.0.came(alloc.address),
            Kind::PriorAlloc(alloc) => self.0.came_before(alloc.address),
            Kind::Switch(switch) if switch.on => self.0.forgot(),
            Kind::Release(release) => self.0.went(release.address),
            _ => {}
        }
    }
}

/// Takes each event to the tally.
pub(super) struct Feed<'t, 'l, 'a> {
    pub(super) tally: &'t mut Tally,
    pub(super) tables: &'t LogTables<'l, 'a>,
    pub(super) mapped: Option<&'t mut MappedHistory>,
}

impl<'a> Taker<'a> for Feed<'_, '_, '_> {
    fn soon(&mut self, events: &[(Place, Usual)]) {
        events.iter().for_each(|(_, event)| self.tally.soon(event));
    }

    #[inline]
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        self.tally.alloc(at_place(place), alloc, self.tables);
    }

    #[inline]
    fn release(&mut self, place: Place, release: &Release) {
        self.tally.release(at_place(place), release);
    }

    fn item(&mut self, item: &Item<'a>) {
        let (at, tally, tables) = (at_of(item), &mut *self.tally, self.tables);
        match &item.kind {
            Kind::Alloc(alloc) => tally.alloc(at, alloc, tables),
            Kind::Release(release) => tally.release(at, release),
            Kind::PriorAlloc(alloc) => tally.prior_alloc(alloc),
            Kind::PriorRelease(_) => tally.prior_release(),
            Kind::Unfinished(release) => tally.unfinished(release),
            Kind::Rss(rss) => tally.rss(at, rss),
            Kind::Ledger(entry) => {
                tally.ledger(at, entry, tables);
                if let Some(mapped) = &mut self.mapped {
                    mapped.at(item.tick, tally.mapped());
                }
            }
            Kind::Failed(failure) => tally.failed(at, failure, tables),
            Kind::Passed(passed) => tally.passed(at, passed, tables),
            Kind::Thread { tid, name } => tally.thread(at, *tid, name),
            Kind::Loss { events, .. } => tally.loss(*events),
            Kind::Stamp(stamp) => tally.stamp(at, *stamp),
            Kind::Mark(_) => tally.mark(),
            Kind::Switch(switch) => {
                tally.switched(at, switch);
                if let Some(mapped) = &mut self.mapped {
                    mapped.at(item.tick, tally.mapped());
                }
            }
            Kind::Scope(names) => tally.scope(item.stream, names),
            Kind::Fork { .. } | Kind::Limit(_) => {}
        }
    }
}

/// The kernel's last word on the peak of resident memory, 0 if the log has none.
pub(super) fn last_high_water_kb(log: &Log) -> u64 {
    let then = log.end().map_or(0, |end| end.vm_hwm_kb);
    log.counter(Counter::VmHwmKb).max(then)
}

/// The kernel's last words on resident memory.
pub(super) fn figures(log: &Log) -> Figures {
    Figures {
        vm_hwm_kb: last_high_water_kb(log),
        maxrss_kb: log.end().map_or(0, |end| end.maxrss_kb),
        is_ended: log.end().is_some(),
        counted_kb: log.death().map_or(0, |death| death.maxrss_kb),
        unread_since: log.counter(Counter::QuietSince).checked_sub(1),
    }
}

/// What the log says besides its events.
pub(super) fn facts(log: &Log) -> Facts {
    let end = log.end();
    let losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
    let lost = losses.map(|&(counter, _)| log.counter(counter));
    let own = [Counter::OwnBytes, Counter::MappedLogBytes].map(|counter| log.counter(counter));
    Facts {
        rss: figures(log),
        start_rss_kb: log.counter(Counter::StartRssKb),
        end_tick: end.map(|end| end.tick),
        lost_events: lost.fold(0, u64::saturating_add),
        own_bytes: own.into_iter().fold(0, u64::saturating_add),
        cpu_us: log.counter(Counter::CpuUs),
    }
}
