//! `memlog timeline -o`: the picture's curves are the points of its JSON, by the numbers
//! at its axes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::errors::refuses;
use crate::logs::sites;
use crate::snapshots::marked;
use crate::{says, with_logs};

/// An axis: two values and where they stand.
#[derive(Clone, Copy, Debug)]
struct Axis([(f64, f64); 2]);

impl Axis {
    fn at(self, value: f64) -> f64 {
        let [(low, from), (high, to)] = self.0;
        from + (to - from) * (value - low) / (high - low)
    }
}

fn attribute<'t>(tag: &'t str, name: &str) -> &'t str {
    let (_, rest) = tag.split_once(&format!(" {name}=\"")).expect(name);
    rest.split('"').next().expect("its end")
}

fn float(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| panic!("{text} is no number"))
}

/// `5.0 MiB`, `1,000`, `0.05 s`
fn value(text: &str) -> f64 {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let factor = match unit {
        "MiB" => 1024.0 * 1024.0,
        "KiB" => 1024.0,
        "" | "s" | "bytes" => 1.0,
        _ => panic!("{text}"),
    };
    float(&number.replace(',', "")) * factor
}

/// Lines of text with such an anchor: where they stand, and what they say.
fn labels(picture: &str, anchor: &str) -> Vec<(f64, f64, String)> {
    let lines = picture.lines().filter(|line| {
        line.starts_with("<text ") && line.contains(&format!("text-anchor=\"{anchor}\""))
    });
    let labels = lines.map(|line| {
        let text = line.split_once('>').expect("text").1.replace("</text>", "");
        (
            float(attribute(line, "x")),
            float(attribute(line, "y")),
            text,
        )
    });
    labels.collect()
}

/// The axes of bytes, blocks and allocations a second, and that of time.
fn axes(picture: &str) -> ([Axis; 3], Axis) {
    let numbers = labels(picture, "end");
    let numbers = numbers.iter().filter(|(_, _, text)| !text.contains(':'));
    // Each axis begins with 0; text stands 4 pixels below its line.
    let mut of: Vec<Vec<(f64, f64)>> = Vec::new();
    for (_, y, text) in numbers {
        if text == "0" {
            of.push(Vec::new());
        }
        let axis = of.last_mut().expect("a 0 first");
        axis.push((value(text), y - 4.0));
    }
    let axis = |of: &Vec<(f64, f64)>| Axis([of[0], *of.last().expect("a second")]);
    let [bytes, blocks, rate] = &of[..] else {
        panic!("{of:?}");
    };
    let times = labels(picture, "middle");
    let times: Vec<_> = times.iter().map(|(x, _, text)| (value(text), *x)).collect();
    ([axis(bytes), axis(blocks), axis(rate)], axis(&times))
}

fn curve(picture: &str, class: &str) -> Vec<(f64, f64)> {
    let start = format!("<polyline class=\"{class}\"");
    let line = picture.lines().find(|line| line.starts_with(&start));
    let points = attribute(line.expect(class), "points");
    let points = points.split(' ').filter(|point| !point.is_empty());
    let pairs = points.map(|point| point.split_once(',').expect("a pair"));
    pairs.map(|(x, y)| (float(x), float(y))).collect()
}

#[track_caller]
fn is_near(found: (f64, f64), expected: (f64, f64)) {
    let is = |one: f64, other: f64| (one - other).abs() < 0.02;
    assert!(
        is(found.0, expected.0) && is(found.1, expected.1),
        "{found:?} for {expected:?}"
    );
}

/// The picture of a log against its JSON.
fn compared(log: crate::recipe::Recipe, name: &str, options: &str) -> String {
    let folder = with_logs(name, &[("a", log)]);
    let said = says(&folder, &format!("timeline {options} -o out.svg a.memlog"));
    assert_eq!(said, "Creating out.svg\n");
    let picture = std::fs::read_to_string(folder.path("out.svg")).expect("a picture");
    let text = says(
        &folder,
        &format!("timeline {options} --points 2000 --json a.memlog"),
    );
    let page: Value = serde_json::from_str(&text).expect("JSON");
    let points = page["points"].as_array().expect("points");
    let ([bytes, blocks, rate], time) = axes(&picture);
    let number = |point: &Value, key: &str| point[key].as_f64();
    for (class, key, axis) in [
        ("heap", "heap_bytes", bytes),
        ("rss", "rss_bytes", bytes),
        ("blocks", "heap_blocks", blocks),
    ] {
        let drawn = curve(&picture, class);
        let known = points
            .iter()
            .filter_map(|point| Some((number(point, "seconds")?, number(point, key)?)));
        let known: Vec<_> = known.collect();
        // Until the next is known it is what it was.
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for (seconds, value) in known {
            let before = steps.last().map(|(_, before)| (seconds, *before));
            steps.extend(before.into_iter().chain([(seconds, value)]));
        }
        assert_eq!(drawn.len(), steps.len(), "{class}");
        for (found, (seconds, value)) in drawn.into_iter().zip(steps) {
            is_near(found, (time.at(seconds), axis.at(value)));
        }
    }
    // Every allocation is in the bar of its time, which is as wide as the clock's least step.
    let mut expected: BTreeMap<u64, f64> = BTreeMap::new();
    for point in points {
        let seconds = number(point, "seconds").expect("seconds");
        let count = number(point, "allocations").expect("allocations");
        *expected.entry((seconds * 1e3).round() as u64).or_default() += count;
    }
    let times: Vec<u64> = expected.keys().copied().collect();
    let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
    let step = steps.min().expect("two times") as f64 / 1e3;
    expected.retain(|_, count| *count > 0.0);
    let bars = picture
        .lines()
        .filter(|line| line.starts_with("<rect class=\"rate\""));
    let bars: Vec<&str> = bars.collect();
    assert_eq!(bars.len(), expected.len());
    for (bar, (ms, count)) in bars.into_iter().zip(expected) {
        let found = (float(attribute(bar, "x")), float(attribute(bar, "y")));
        is_near(found, (time.at(ms as f64 / 1e3), rate.at(count / step)));
    }
    let circles = picture
        .lines()
        .filter(|line| line.starts_with("<circle class=\"peak\""));
    let circles = circles.map(|line| (float(attribute(line, "cx")), float(attribute(line, "cy"))));
    let circles: Vec<_> = circles.collect();
    let peaks = [("heap-peak", "heap_bytes"), ("rss-peak", "rss_bytes")];
    let peaks = peaks.iter().filter_map(|(moment, key)| {
        let is_it = |point: &&Value| {
            let moments = point["moments"].as_array().expect("moments");
            moments.iter().any(|name| name == moment)
        };
        let point = points.iter().find(is_it)?;
        Some((
            time.at(number(point, "seconds")?),
            bytes.at(number(point, key)?),
        ))
    });
    let peaks: Vec<_> = peaks.collect();
    assert_eq!(circles.len(), peaks.len());
    for (found, expected) in circles.into_iter().zip(peaks) {
        is_near(found, expected);
    }
    let marks = picture
        .lines()
        .filter(|line| line.starts_with("<g class=\"mark\">"));
    assert_eq!(
        marks.count(),
        page["marks"].as_array().expect("marks").len()
    );
    assert!(!picture.contains("<script"), "{picture}");
    assert_eq!(
        says(&folder, &format!("timeline {options} -o - a.memlog")),
        picture
    );
    picture
}

#[test]
fn the_picture_is_that_of_the_points() {
    let picture = compared(sites(), "show-timeline", "");
    for part in [
        ">heap peak: ",
        ">RSS peak: 91.2 MiB at 0.0",
        "<title>Memory over time: /nowhere/program",
    ] {
        assert!(picture.contains(part), "{part} is not in {picture}");
    }
    let picture = compared(sites(), "show-timeline-where", "--where size>=1MiB");
    for part in [
        ">these at the heap peak: ",
        "<title>Memory over time where size &gt;= 1MiB",
    ] {
        assert!(picture.contains(part), "{part} is not in {picture}");
    }
}

#[test]
fn marks_are_drawn_with_their_names() {
    let mut log = marked();
    log.read_rss(300);
    let picture = compared(log, "show-timeline-marks", "");
    // What is live after the last event, at 40 ms, is live until the log ends, at 60 ms.
    let (_, time) = axes(&picture);
    let heap = curve(&picture, "heap");
    let (x, y) = heap[heap.len() - 1];
    is_near((x, 0.0), (time.at(0.04), 0.0));
    let rest = picture
        .lines()
        .find(|line| line.starts_with(&format!("<path d=\"M{x},{y} H")));
    let to = attribute(rest.expect("the rest"), "d")
        .split_once('H')
        .expect("a line")
        .1;
    is_near((float(to), 0.0), (time.at(0.06), 0.0));
    assert!(
        picture.contains("<title>mark &quot;request&quot; at 0.030 s</title>"),
        "{picture}"
    );
    assert!(!picture.contains('\u{1b}'), "{picture}");
}

#[test]
fn other_files_are_refused() {
    let folder = with_logs("show-timeline-errors", &[("a", sites())]);
    let parts = ["out.png does not end in .svg", "hint: give another name"];
    refuses(&folder, "timeline -o out.png a.memlog", &parts);
    std::fs::create_dir(folder.path("x.svg")).expect("mkdir");
    refuses(&folder, "timeline -o x.svg a.memlog", &["x.svg"]);
    refuses(&folder, "timeline -o nowhere/x.svg a.memlog", &["nowhere"]);
}

/// Of chosen blocks a page does not speak as of all.
#[test]
fn pages_of_chosen_blocks_say_so() {
    let folder = with_logs("show-timeline-chosen", &[("a", sites())]);
    let all = says(&folder, "timeline a.memlog");
    assert!(
        all.contains("heap peak") && !all.contains("of all blocks"),
        "{all}"
    );
    let some = says(&folder, "timeline --where size>=1 a.memlog");
    assert!(some.contains(" heap peak of all blocks"), "{some}");
    let all = says(&folder, "threads a.memlog");
    assert!(
        all.contains("\nwhat each thread allocated and freed:\n"),
        "{all}"
    );
    let some = says(&folder, "threads --where size>=1 a.memlog");
    let title = "\nwhat each thread allocated and freed, of blocks where size >= 1:\n";
    assert!(some.contains(title), "{some}");
}
