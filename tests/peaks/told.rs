//! What the pages say of a peak: that its moment is not known where it is not,
//! and no part larger than it can be.

use crate::sites::Stats;
use crate::{Programs, Said};

const MIB: u64 = 1 << 20;

/// A shape that was recorded.
struct Told {
    truth: Said,
    stats: Stats,
    /// The summary in one line.
    page: String,
    /// The same of the dot text.
    text: String,
}

impl Told {
    #[track_caller]
    fn new(programs: &Programs, shape: &str) -> Self {
        let mut alone = programs.folder.command(&programs.alone);
        let output = alone.arg(shape).output().expect("it runs");
        let truth = Said::read(&String::from_utf8(output.stdout).expect("text"));
        let log = programs.folder.path(&format!("{shape}.memlog"));
        let mut recorded = programs.recorded(&log);
        // Killed or not.
        recorded.arg(shape).output().expect("it runs");
        let name = log.to_str().expect("a name");
        let page = programs.folder.says(&["summary", name]);
        programs.folder.says(&["dot", "--format", "txt", name]);
        let text = std::fs::read_to_string(format!("{name}.txt")).expect("the text");
        let joined = |page: String| page.split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            truth,
            stats: programs.folder.stats(&log),
            page: joined(page),
            text: joined(text),
        }
    }

    #[track_caller]
    fn says(&self, words: &str) {
        assert!(self.page.contains(words), "no `{words}`: {}", self.page);
    }

    #[track_caller]
    fn says_in_text(&self, words: &str) {
        assert!(self.text.contains(words), "no `{words}`: {}", self.text);
    }

    /// The heap at the peak is that of the truth.
    #[track_caller]
    fn has_live(&self) {
        let found = self.stats.number("rss_peak_live_bytes");
        let expected = self.truth.live_bytes;
        let is_right = found.abs_diff(expected) <= expected / 1000;
        assert!(is_right, "{found} for {expected}: {}", self.page);
    }
}

/// What was read of it last is from before its largest block.
#[test]
fn who_ends_at_its_peak_was_not_read_there() {
    let programs = Programs::new("peaks-ends", &[]);
    for shape in ["killed", "aborted", "left"] {
        let told = Told::new(&programs, shape);
        told.has_live();
        told.says("MiB or more, not read since ");
        told.says("the largest heap is taken for it");
        told.says_in_text("B) or more: not read after ");
        assert!(!told.stats.value("rss_unread_since_seconds").is_null());
        assert!(told.stats.value("rss_peak_unseen_bytes").is_null());
    }
}

/// Its image is gone, and nothing else read it.
#[test]
fn who_executes_another_is_read_before() {
    let told = Told::new(&Programs::new("peaks-executing", &[]), "executing");
    told.has_live();
    let own_kb = told.stats.number("own_rss_bytes") / 1024;
    let program_kb = told.stats.number("rss_peak_bytes") / 1024 - own_kb;
    let peak_kb = told.truth.peak_kb;
    assert!(program_kb.abs_diff(peak_kb) <= peak_kb / 100 + 512);
    told.says("or later: what came after the last reading is not known");
    told.says_in_text("moment: or later: what came after the last reading is not known");
}

#[test]
fn of_two_moments_the_figure_may_be_the_others() {
    let told = Told::new(&Programs::new("peaks-two", &[]), "two_moments");
    told.has_live();
    told.says("the largest heap within ");
    told.says_in_text("moment: the largest heap within ");
}

/// What has no access is not mapped, as far as resident memory goes.
#[test]
fn what_is_reserved_is_no_part_of_it() {
    let told = Told::new(&Programs::new("peaks-reserved", &[]), "reserved");
    told.has_live();
    assert_eq!(told.stats.number("rss_peak_mapped_bytes"), 0);
    assert!(
        !told.page.contains("mapped by the program"),
        "{}",
        told.page
    );
    assert!(
        !told.text.contains("mapped by the program"),
        "{}",
        told.text
    );
}

/// 100 MiB were mapped and touched, 50 MiB live and not.
#[test]
fn what_was_mapped_is_no_more_than_all_of_it_and_no_less() {
    let told = Told::new(&Programs::new("peaks-untouched", &[]), "untouched_heap");
    told.has_live();
    told.says("at most 50.0 MiB live heap, at most 100.0 MiB mapped by the program itself");
    told.says_in_text("at most 50.0 MiB heap, at most 100.0 MiB mapped by the program itself");
    let coverage = told.stats.value("coverage");
    assert!(
        coverage["mapped_bytes"].as_u64() >= Some(100 * MIB),
        "{coverage}"
    );
    assert_eq!(coverage["is_low"], false);
}

#[test]
fn blocks_of_no_bytes_are_live_as_well() {
    let told = Told::new(&Programs::new("peaks-no-bytes", &[]), "of_no_bytes");
    for name in ["rss_peak_live_blocks", "heap_peak_blocks"] {
        let blocks = told.stats.number(name);
        assert!(blocks.abs_diff(100_000) <= 10, "{name} is {blocks}");
    }
}

/// The log's own pages grow after the peak, which is overwritten by then.
#[test]
fn an_overwritten_peak_is_the_programs_as_well() {
    let programs = Programs::new("peaks-overwritten", &[]);
    let truth = Told::new(&programs, "churn_kept").truth;
    let log = programs.folder.path("bounded.memlog");
    let mut recorded = programs.folder.memlog(&[
        "record".as_ref(),
        "--flight-recorder=1M".as_ref(),
        "-o".as_ref(),
        log.as_os_str(),
        programs.recorded.as_os_str(),
    ]);
    let output = recorded.arg("churn_kept").output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let stats = programs.folder.stats(&log);
    assert_eq!(stats.value("flight_recorder")["rss_peak_is_before"], true);
    let own_kb = stats.number("own_rss_bytes") / 1024;
    let program_kb = stats.number("rss_peak_bytes") / 1024 - own_kb;
    let most_kb = truth.peak_kb / 100 + 512 + own_kb / 10;
    assert!(
        program_kb.abs_diff(truth.peak_kb) <= most_kb,
        "{program_kb} kB for {}, own {own_kb} kB",
        truth.peak_kb
    );
    assert!(stats.value("rss_peak_unseen_bytes").is_null());
}
