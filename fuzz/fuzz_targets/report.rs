//! Attacks everything behind the reader: what the analysis makes of a log and
//! the pages that the commands print: heading, trees from both ends, JSON, text and
//! graph of memlog2dot. The log is described in short (see `brief` in this package);
//! its last byte chooses the page.
//!
//! It fails where that panics, takes long, or takes more memory than is stated;
//! where JSON is not JSON; where a page holds what a terminal would obey; where
//! shares are beyond the whole; and where the live set is not what the obvious way
//! finds.
#![no_main]

use std::cell::RefCell;
use std::path::Path;

use clap::{Args, Command};
use libfuzzer_sys::fuzz_target;
use memlog_analysis::Moment;
use memlog_export::{CallGraph, Named, Picture, Place, Told, When, dot as dot_of, picture, text};
use memlog_fuzz::{Brief, Counting, Limit, limited};
use memlog_pages::{
    Analysis, Direction, Family, Filter, Form, Labels, Look, NameStore, Names, Page, Screen, Shape,
    Subject, SymbolFiles, Watch, json_of, text_of, tree,
};
use memlog_read::Log;
use memlog_symbols::Options;

#[global_allocator]
static MEMORY: Counting = Counting;

/// Per byte: an event of three bytes may be a block with its stack, each a few
/// entries of a few tables; the log's holes count as well. Besides: what tells a
/// double free takes 4 MiB, the order of threads as much.
const LIMIT: Limit = Limit {
    per_byte: 256,
    besides: 16 << 20,
};
/// Ends of a page's numbers that are not the tally's.
const MOST_PAGE: usize = 16 << 20;

struct Asked {
    brief: Brief,
    screen: Screen,
    filter: Filter,
    forms: [Form; 4],
}

thread_local! {
    static ASKED: RefCell<Asked> = RefCell::new(Asked {
        brief: Brief::default(),
        screen: Screen::new(&parsed::<Look>(&["x", "--color=never", "--no-pager"])),
        filter: parsed::<Filter>(&["x"]),
        forms: ["live", "allocated", "count", "temporary"]
            .map(|by| parsed::<Form>(&["x", "--by", by])),
    });
}

fn parsed<T: Args>(line: &[&str]) -> T {
    let matches = T::augment_args(Command::new("x")).get_matches_from(line);
    T::from_arg_matches(&matches).expect("a line of ours")
}

fuzz_target!(|input: &[u8]| {
    let Some((&how, input)) = input.split_last() else {
        return;
    };
    ASKED.with_borrow_mut(|asked| {
        let Asked {
            brief,
            screen,
            filter,
            forms,
        } = asked;
        let form = forms[usize::from(how >> 5 & 3)];
        let bytes = brief.log(input);
        limited(bytes.len(), LIMIT, || {
            look(bytes, how, screen, (form, filter));
        });
    });
});

fn look(bytes: &[u8], how: u8, screen: &Screen, (form, filter): (Form, &Filter)) {
    let Ok(log) = Log::open(bytes) else {
        return;
    };
    let family = Family {
        logs: vec![log],
        parent: None,
        missing_parent: None,
        is_made: false,
    };
    let when = match how & 3 {
        0 => When::Known(Moment::RssPeak),
        1 => When::Known(Moment::HeapPeak),
        2 => When::Known(Moment::End),
        _ => When::Seconds(0.001),
    };
    let chosen = when.instant(family.own().tick_ns());
    let analysis = family.analyse(chosen, &Watch::silent());
    let store = NameStore::default();
    let names = Names::new(
        &store,
        &Options::default(),
        family.own(),
        Path::new("/nowhere"),
    );
    let mut labels = Labels::new(names, analysis.tally.stacks());
    let subject = Subject {
        file: Path::new("x.memlog"),
        symbol_files: &SymbolFiles::default(),
        family: &family,
        analysis: &analysis,
        sizes: screen.sizes,
        failed: Vec::new(),
        is_running: how & 16 != 0,
    };
    let shape = |direction, threshold| Shape {
        direction,
        form,
        threshold,
        filter,
        has_graph: how & 1 != 0,
    };
    let mut page = |shape: &Shape| tree::page(when, shape, &subject, &mut labels);
    match how >> 2 & 3 {
        0 => harmless(&text_of(&page(&shape(Direction::BottomUp, 1.0)), screen)),
        1 => harmless(&text_of(&page(&shape(Direction::TopDown, 1.0)), screen)),
        2 => json(&page(&shape(Direction::BottomUp, 0.0).whole())),
        _ => graph(&analysis, when),
    }
}

fn json(page: &Page) {
    let read: serde_json::Value = serde_json::from_str(&json_of(page)).expect("JSON");
    let number = |key: &str| read[key].as_u64().expect("a number");
    assert!(number("bytes") <= number("unfiltered_bytes"));
    assert!(number("blocks") <= number("unfiltered_blocks"));
}

fn graph(analysis: &Analysis, when: When) {
    let held = analysis.tally.held(when.moment());
    let mapped = analysis.tally.held_mapped(when.moment());
    let calls = CallGraph::build(analysis.tally.stacks(), held, mapped, |frame| Named {
        places: vec![Place {
            function: format!("f{}", frame.index),
            location: None,
            module: None,
        }],
        address: format!("{:#x}", frame.site.address),
        symbol: None,
    });
    let most = calls.total.bytes;
    assert!(calls.entries.iter().all(|entry| entry.held.bytes <= most));
    let graph = picture(
        &calls,
        Picture {
            legend: vec!["x".to_owned()],
            least_percent: 1.0,
            joins_runs: true,
            ..Picture::default()
        },
    );
    let shares = graph.nodes.iter().map(|node| node.share);
    assert!(
        shares
            .chain(graph.edges.iter().map(|edge| edge.share))
            .all(is_part)
    );
    for told in [true, false] {
        let told = Told {
            symbols: told,
            counts: told,
        };
        harmless(&text(&graph.legend, &calls, told));
    }
    harmless(&dot_of(&graph));
}

fn is_part(share: f64) -> bool {
    (0.0..=1.0 + 1e-9).contains(&share)
}

/// No terminal obeys it, and it has an end.
fn harmless(page: &str) {
    assert!(page.len() < MOST_PAGE, "a page of {} bytes", page.len());
    let obeyed = page.chars().find(|&c| c.is_control() && c != '\n');
    assert_eq!(obeyed, None, "a control character");
}
