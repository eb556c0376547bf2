//! What is drawn is what there was.

use std::fs;

use crate::Leaky;

/// The points of each series from below, as pixels.
fn series(svg: &str) -> Vec<Vec<(f64, f64)>> {
    let mut all: Vec<Vec<(f64, f64)>> = svg
        .lines()
        .filter(|line| line.contains("class=\"series\""))
        .map(|line| {
            let (_, rest) = line.split_once("points=\"").expect("points");
            let (points, _) = rest.split_once('"').expect("their end");
            let points = points.split(' ').map(|point| {
                let (x, y) = point.split_once(',').expect("a point");
                (x.parse().expect("x"), y.parse().expect("y"))
            });
            points.collect()
        })
        .collect();
    // Those above are drawn first.
    all.reverse();
    all
}

/// Where the floor is.
const FLOOR: f64 = 704.0;

#[test]
fn series_stand_upon_each_other() {
    let leaky = Leaky::get();
    leaky.says(
        "graph().add(\"kept\", allocations().only_leaked()).add(\"<&>\", allocations()).save(\"two.svg\");\n\
         allocations().group_by_backtrace().ungroup().save_as_graph(\"one.svg\");",
    );
    let read = |name: &str| fs::read_to_string(leaky.folder.path(name)).expect("a picture");
    let (two, one) = (read("two.svg"), read("one.svg"));
    assert!(
        two.contains("&lt;&amp;&gt;") && two.contains("kept"),
        "{two}"
    );
    assert!(two.contains("width=\"1024\" height=\"768\""));
    let both = series(&two);
    let [kept, all] = &both[..] else {
        panic!("two series: {two}");
    };
    // All of them together are all.
    assert_eq!(all, &series(&one)[0]);
    let height = |point: &(f64, f64)| FLOOR - point.1;
    let highest = all.iter().map(height).fold(0.0, f64::max);
    let page = leaky.asked(&["timeline", "--points", "100000"]);
    let bytes = |point: &serde_json::Value| point["heap_bytes"].as_u64().expect("bytes");
    let points = page["points"].as_array().expect("points");
    let most = points.iter().map(bytes).max().expect("a point") as f64;
    let end = points.last().map(bytes).expect("a point") as f64;
    // The last point but the corner below.
    let last = |series: &[(f64, f64)]| height(&series[series.len() - 2]);
    for series in [kept, all] {
        let part = last(series) / highest;
        assert!((part - end / most).abs() < 0.001, "{part} {}", end / most);
    }
}

#[test]
fn what_stands_around_can_be_left_out() {
    let leaky = Leaky::get();
    leaky.says(
        "let both = graph().add(\"none\", allocations() - allocations()).add(\"all\", allocations());\n\
         both.save(\"plain.svg\");\n\
         both.only_non_empty_series().save(\"some.svg\");\n\
         both.without_legend().save(\"legend.svg\");\n\
         both.without_axes().without_grid().without_legend().save(\"bare.svg\");\n\
         both.end_at(ms(500)).save(\"half.svg\");\n\
         both.start_at(ms(500)).trim_right().show_new_allocations().save(\"rate.svg\");\n\
         both.with_gradient_color_scheme(\"#ff0000\", \"#0000ff\").save(\"colours.svg\");",
    );
    let read = |name: &str| fs::read_to_string(leaky.folder.path(name)).expect("a picture");
    assert!(read("plain.svg").contains(">none</text>"));
    assert!(!read("some.svg").contains(">none</text>"));
    assert!(read("some.svg").contains(">all</text>"));
    assert!(!read("legend.svg").contains(">all</text>"));
    assert!(!read("bare.svg").contains("<text"));
    assert!(read("half.svg").contains("+500 ms"));
    assert!(!read("half.svg").contains("+1 s"));
    assert!(read("rate.svg").contains("New allocations"));
    assert!(read("colours.svg").contains("fill=\"#0000ff\""));
    assert!(read("plain.svg").contains("Memory usage"));
}

#[test]
fn flame_graphs_have_all_bytes() {
    let leaky = Leaky::get();
    leaky.says("allocations().only_leaked().save_as_flamegraph(\"flame.svg\");");
    let flame = fs::read_to_string(leaky.folder.path("flame.svg")).expect("a picture");
    let (blocks, _) = leaky.table("leaked");
    assert!(flame.contains("linear_leak") && flame.contains("Allocations where leaked"));
    assert!(flame.contains(&format!(
        "in {},{:03} allocations",
        blocks / 1000,
        blocks % 1000
    )));
}
