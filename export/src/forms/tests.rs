//! Forms of trees that no log of the other tests has: none, names of an enemy, towers that
//! are deeper than a stack of ours, functions that call themselves.

use memlog_analysis::{Held, Measure, Name};

use super::*;
use crate::flame::{Metric, Series};

/// Places by name and caller, with what ends there.
fn tree(places: &[(&str, Option<u32>, u64)]) -> Flame {
    let name = |function: &str| Name {
        function: function.to_owned(),
        location: Some(format!("{function}.c:7")),
        module: Some("prog".to_owned()),
    };
    let nodes = (0u32..).zip(places).map(|(label, (_, caller, _))| Node {
        label: Label::Named(label),
        caller: *caller,
    });
    let own = places.iter().map(|(.., bytes)| Held {
        bytes: *bytes,
        blocks: u64::from(*bytes > 0),
    });
    Flame {
        heading: vec!["prog".to_owned()],
        names: places.iter().map(|(function, ..)| name(function)).collect(),
        nodes: nodes.collect(),
        series: vec![Series {
            thing: "block",
            own: own.collect(),
        }],
        metrics: vec![Metric {
            key: "rss-peak",
            name: "live".to_owned(),
            series: 0,
            measure: Measure::Bytes,
        }],
        ..Flame::default()
    }
}

fn texts(flame: &Flame) -> [String; 7] {
    [
        folded(flame),
        speedscope(flame),
        gprof2dot::gprof2dot(flame),
        callgrind(flame),
        hatchet(flame),
        csv(flame),
        json(flame),
    ]
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

#[test]
fn nothing_has_a_form() {
    let nothing = Flame::default();
    let [folded, speedscope, gprof2dot, callgrind, hatchet, csv, json] = texts(&nothing);
    assert_eq!(folded, "");
    assert!(
        [speedscope, gprof2dot, json]
            .iter()
            .all(|text| is_json(text))
    );
    assert!(callgrind.contains("\nsummary: 0 0\n"), "{callgrind}");
    assert_eq!(hatchet, "[]\n");
    assert_eq!(csv.lines().count(), 1);
    assert!(pprof(&nothing, ("rss-peak", "allocated"), "prog").is_ok());
}

#[test]
fn names_of_an_enemy_stay_names() {
    let flame = tree(&[
        ("main", None, 0),
        ("a;b\n4 9 9\nfn=(1) c", Some(0), 5),
        ("=HYPERLINK(\"x\",'y')", Some(0), 6),
        ("\u{1b}[2J</script>", Some(1), 7),
    ]);
    let [folded, speedscope, gprof2dot, callgrind, hatchet, csv, json] = texts(&flame);
    assert_eq!(folded.lines().count(), 3, "{folded}");
    assert!(
        folded.lines().all(|line| line.starts_with("main;")),
        "{folded}"
    );
    assert!(
        folded.contains("main;a:b\\n4 9 9\\nfn=(1) c 5\n"),
        "{folded}"
    );
    assert!(
        [speedscope, gprof2dot, hatchet, json]
            .iter()
            .all(|text| is_json(text))
    );
    assert_eq!(
        callgrind
            .lines()
            .filter(|line| line.starts_with("fn="))
            .count(),
        4
    );
    assert!(csv.contains(",\"'=HYPERLINK(\"\"x\"\",'y')\","), "{csv}");
    assert_eq!(csv.lines().count(), 4, "{csv}");
    for text in texts(&flame) {
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn a_tower_is_no_recursion_of_ours() {
    let mut places = vec![("main", None, 1)];
    places.extend((0..200_000).map(|caller| ("down", Some(caller), 0)));
    places.push(("end", Some(200_000), 3));
    let flame = tree(&places);
    let text = hatchet(&flame);
    assert_eq!(text.matches("\"children\":[").count(), 200_002);
    assert!(text.ends_with("]}]\n"), "{}", &text[text.len() - 20..]);
    assert!(text.contains("\"bytes (inc)\":4"), "the outermost");
    assert!(folded(&flame).ends_with("down;end 3\n"));
}

/// hatchet compares frames, and none with a number is an error there.
#[test]
fn a_place_without_a_line_has_none_in_hatchet() {
    let mut flame = tree(&[("main", None, 1), ("at", Some(0), 2)]);
    flame.names[1].location = Some("at.c".to_owned());
    let text = hatchet(&flame);
    assert!(text.contains("\"file\":\"at.c\""), "{text}");
    assert_eq!(text.matches("\"line\":").count(), 1, "{text}");
}

/// What is below a call counts once, however often it is called again below.
#[test]
fn a_function_that_calls_itself_counts_once() {
    let flame = tree(&[
        ("main", None, 0),
        ("again", Some(0), 10),
        ("again", Some(1), 20),
        ("again", Some(2), 40),
    ]);
    let text = callgrind(&flame);
    let calls: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("calls="))
        .collect();
    let lines = |wanted: &str| calls.iter().filter(|&&line| line == wanted).count();
    // From main all of it, which is its own as well.
    assert_eq!(lines("7 70 3"), 2, "{text}");
    // From itself what two of the three hold.
    assert_eq!(lines("7 60 2"), 1, "{text}");
}
