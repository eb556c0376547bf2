//! Small trees, hostile names, deep and wide ones.

use super::*;

fn held(bytes: u64, blocks: u64) -> Held {
    Held { bytes, blocks }
}

fn name(function: &str) -> Name {
    Name {
        function: function.to_owned(),
        location: Some(format!("{function}.c:7")),
        module: Some("program".to_owned()),
    }
}

/// Nodes are label, caller and bytes; each that has any has one block.
fn flame(names: &[&str], nodes: &[(u32, Option<u32>, u64)]) -> Flame {
    let own = nodes.iter().map(|node| held(node.2, u64::from(node.2 > 0)));
    let nodes = nodes.iter().map(|&(label, caller, _)| Node {
        label: Label::Named(label),
        caller,
    });
    Flame {
        heading: vec!["a program".to_owned(), "its process".to_owned()],
        names: names.iter().map(|text| name(text)).collect(),
        nodes: nodes.collect(),
        series: vec![Series {
            thing: "block",
            own: own.collect(),
        }],
        metrics: vec![Metric {
            key: "end",
            name: "live at the end".to_owned(),
            series: 0,
            measure: Measure::Bytes,
        }],
        ..Flame::default()
    }
}

/// main calls read, which calls get, and get by itself.
fn small() -> Flame {
    let nodes = [
        (1, None, 0),
        (2, Some(0), 0),
        (0, Some(1), 300),
        (0, Some(0), 100),
    ];
    flame(&["get", "main", "read"], &nodes)
}

fn least(percent: f64, most_nodes: usize) -> Option<Least> {
    Some(Least {
        percent,
        most_nodes,
    })
}

fn page(flame: &Flame) -> String {
    html(flame, View::default(), least(0.01, 100_000))
}

/// Its words on each frame, from below and from the left, and their ends in percent.
fn rows(flame: &Flame, view: View) -> Vec<String> {
    let frames = layout::layout(flame, view, 0.0);
    let words = frames.iter().map(|frame| {
        let name = frame.label.and_then(|label| flame.name(label));
        let name = name.map_or("all", |name| name.function.as_str());
        let percent = |part: f64| (100.0 * part).round();
        let (left, right) = (percent(frame.left), percent(frame.right));
        format!("{} {name} {left}-{right}", frame.row)
    });
    words.collect()
}

#[test]
fn frames_stand_on_their_callers() {
    let from_main = rows(&small(), View::default());
    let expected = [
        "0 all 0-100",
        "1 main 0-100",
        "2 read 0-75",
        "2 get 75-100",
        "3 get 0-75",
    ];
    assert_eq!(from_main, expected);
    let reversed = View {
        is_reversed: true,
        ..View::default()
    };
    let expected = [
        "0 all 0-100",
        "1 get 0-100",
        "2 read 0-75",
        "2 main 75-100",
        "3 main 0-75",
    ];
    assert_eq!(rows(&small(), reversed), expected);
}

#[test]
fn the_small_are_summed_under_their_caller() {
    // 9,000 of 10,000 bytes, and 1,000 places of a byte.
    let mut nodes = vec![(0, None, 0), (1, Some(0), 9_000)];
    nodes.extend((0..1_000).map(|at| (2 + at, Some(0), 1)));
    let names: Vec<String> = (0..1_002).map(|at| format!("f{at:04}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let flame = flame(&names, &nodes);
    let (kept, omitted) = flame.without_lesser(least(1.0, 100));
    assert_eq!(omitted.places, 1_000);
    let labels: Vec<_> = kept.nodes.iter().map(|node| node.label).collect();
    let expected = [Label::Named(0), Label::Lesser(1_000), Label::Named(1)];
    assert_eq!(labels, expected);
    assert_eq!(kept.series[0].own[1], held(1_000, 1_000));
    assert_eq!(kept.series[0].total(), flame.series[0].total());
    assert!(page(&flame).contains("f0500"), "0.01 % is a byte here");
    let told = html(&flame, View::default(), least(1.0, 100));
    assert!(
        told.contains("1,000 places with less than 1 % of every metric"),
        "{told}"
    );
    assert!(!told.contains("f0500"));
    // As many as there may be.
    let (kept, omitted) = flame.without_lesser(least(0.0, 10));
    assert!(kept.nodes.len() <= 11 && omitted.percent > 0.0);
    let (all, omitted) = flame.without_lesser(None);
    assert_eq!((all.nodes.len(), omitted.places), (1_002, 0));
}

const HOSTILE: &[&str] = &[
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "a\"b'c\\d&amp;{{data}}{{script}}",
    "\u{2028}\u{202E}x]]>\u{0}\n\t",
    "f<T, 漢字>()",
    "",
];

#[test]
fn hostile_names_stay_names() {
    let nodes: Vec<_> = (0..HOSTILE.len() as u32).map(|at| (at, None, 10)).collect();
    let mut flame = flame(HOSTILE, &nodes);
    flame.heading = HOSTILE.iter().map(|text| (*text).to_owned()).collect();
    flame.notes = flame.heading.clone();
    let page = page(&flame);
    let harmless = html(&small(), View::default(), None);
    let count = |text: &str, what: &str| text.matches(what).count();
    for sign in ["<script", "</script", "<img", "<!--", "<style", "\u{2028}"] {
        assert_eq!(count(&page, sign), count(&harmless, sign), "{sign}");
    }
    assert!(page.contains("\\u003c/script\\u003e\\u003cimg src=x onerror"));
    assert!(
        page.contains("{{data}}"),
        "a name is no key of the template"
    );
    let picture = svg(&flame, View::default(), 1200.0);
    assert!(!picture.contains("<img") && picture.contains("&lt;img"));
    assert!(!picture.contains("<script"));
}

/// What the policy names is what the page has, and nothing else is let in.
#[test]
fn the_policy_is_of_what_is_embedded() {
    let page = page(&small());
    let within = |begin: &str, end: &str| {
        let (_, rest) = page.split_once(begin).expect(begin);
        rest.split_once(end).expect(end).0
    };
    let policy = within("Content-Security-Policy\" content=\"", "\"");
    let script = crate::digest::source(within("<script>", "</script>"));
    let style = crate::digest::source(within("<style>", "</style>"));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'"
        )
    );
}

#[test]
fn nothing_is_a_page_too() {
    for flame in [Flame::default(), flame(&[], &[])] {
        let picture = svg(&flame, View::default(), 1200.0);
        assert!(
            picture.ends_with("</svg>\n") && !picture.contains("NaN"),
            "{picture}"
        );
        assert!(page(&flame).contains("\"label\":[]"));
    }
}

/// Each calls the next, and asks for as much.
fn deep(depth: u32) -> Flame {
    let nodes: Vec<_> = (0..depth)
        .map(|at| (at % 2, at.checked_sub(1), 10))
        .collect();
    flame(&["even", "odd"], &nodes)
}

#[test]
fn deep_stacks_are_flat_lists() {
    let flame = deep(10_000);
    let page = html(&flame, View::default(), None);
    assert!(page.len() < 200_000, "{} bytes", page.len());
    assert!(page.contains("\"label\":[0,1,0,1,"));
    let view = View {
        is_inverted: true,
        ..View::default()
    };
    let picture = svg(&flame, view, 1200.0);
    assert!(picture.contains("more, deeper than 400, not drawn"));
    assert!(picture.len() < 500_000, "{} bytes", picture.len());
}

#[test]
fn equal_trees_are_equal_bytes() {
    let (one, other) = (small(), small());
    assert_eq!(page(&one), page(&other));
    let picture = |flame| svg(flame, View::default(), 900.0);
    assert_eq!(picture(&one), picture(&other));
    assert!(picture(&one).contains("width=\"900\""));
}

/// They are in every page, however little that has besides.
#[test]
fn script_and_style_are_small() {
    let bytes = html::SCRIPT.len() + html::STYLE.len();
    assert!(bytes <= 26 << 10, "{bytes}");
}

/// A page of 100,000 places, for `ci/flame`: `FLAME_PAGES=DIR cargo test`.
#[test]
fn many_places() {
    let mut nodes: Vec<(u32, Option<u32>, u64)> = Vec::new();
    let mut seed = 1u64;
    let mut next = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut known = std::collections::HashSet::new();
    while nodes.len() < 100_000 {
        let at = nodes.len() as u64;
        let caller = match at {
            0..10 => None,
            // Mostly below one of the last, so that stacks are deep.
            _ => Some((at - 1 - next(at.min(400))) as u32),
        };
        // Some functions ask for much more than others.
        let most = next(20_000) + 1;
        let most = next(most) + 1;
        let label = next(most) as u32;
        if known.insert((caller, label)) {
            nodes.push((label, caller, next(1 << 16)));
        }
    }
    let names: Vec<String> = (0..20_000)
        .map(|at| {
            format!(
                "space{}::class{}::function_{at}(int, char const*)",
                at % 17,
                at % 301
            )
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut flame = flame(&names, &nodes);
    for (at, name) in flame.names.iter_mut().enumerate() {
        name.module = Some(format!("lib{}.so", at % 12));
    }
    let page = html(&flame, View::default(), None);
    assert!(page.len() < 5 << 20, "{} bytes", page.len());
    if let Some(folder) = std::env::var_os("FLAME_PAGES") {
        let folder = std::path::PathBuf::from(folder);
        std::fs::write(folder.join("many.html"), page).expect("write");
        let picture = svg(&flame, View::default(), 1200.0);
        std::fs::write(folder.join("many.svg"), picture).expect("write");
        let page = html(&deep(10_000), View::default(), None);
        std::fs::write(folder.join("deep.html"), page).expect("write");
    }
}

/// Each frame has what it holds by both, and the colour of that of which there is more.
#[test]
fn two_metrics_are_compared_in_two_colours() {
    let mut flame = small();
    let own = [0, 0, 100, 300].map(|bytes| held(bytes, u64::from(bytes > 0)));
    flame.series.push(Series {
        thing: "block",
        own: own.to_vec(),
    });
    flame.metrics.push(Metric {
        key: "before",
        name: "live before".to_owned(),
        series: 1,
        measure: Measure::Bytes,
    });
    flame.other = Some(1);
    let frames = layout::layout(&flame, View::default(), 0.0);
    let both = compared::both(&flame, &frames);
    let told = frames.iter().zip(&both).map(|(frame, both)| {
        let name = frame.label.and_then(|label| flame.name(label));
        let [now, then] = both.expect("a place").map(|held| held.bytes);
        let name = name.map_or("all", |name| name.function.as_str());
        format!("{} {name} {now} {then}", frame.row)
    });
    let expected = [
        "0 all 400 400",
        "1 main 400 400",
        "2 read 300 100",
        "2 get 100 300",
        "3 get 300 100",
    ];
    let mut told: Vec<String> = told.collect();
    told.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(told, expected);
    let more = |first, second| compared::colour([held(first, 1), held(second, 1)]);
    assert_eq!(more(5, 0).0, compared::MORE.0);
    assert_eq!(more(0, 5).0, compared::LESS.0);
    assert_eq!(more(5, 5).0, more(0, 0).0);
    let picture = svg(&flame, View::default(), 1200.0);
    assert!(picture.contains("more live at the end") && picture.contains("more live before"));
    // main's frame, and what the legend says of it.
    let still = crate::draw::Hex(compared::colour([held(5, 1); 2])).to_string();
    assert_eq!(picture.matches(&still).count(), 2, "{still}: {picture}");
    // One alone, as it was.
    flame.other = None;
    assert!(compared::both(&flame, &frames).iter().all(Option::is_none));
}
