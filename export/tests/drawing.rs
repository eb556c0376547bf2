//! The files: one golden, and what readers of each format ask for.
//! `MEMLOG_BLESS=1` writes the golden anew.

mod samples;

use memlog_export::Graph;
use memlog_export::draw::{self, Paper};
use memlog_export::layout::{self, Line, Placed};
use proptest::prelude::*;

const GOLDEN: &str = "tests/samples/small.svg";

fn lines(placed: &Placed) -> impl Iterator<Item = &Line> {
    let labels = placed
        .arrows
        .iter()
        .filter_map(|arrow| arrow.label.as_ref());
    let sheets = placed.boxes.iter().chain(labels).chain(&placed.legend);
    sheets.flat_map(|sheet| &sheet.lines)
}

#[test]
fn svg_is_golden() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    let graph = samples::small();
    let svg = draw::svg(&graph, &layout::place(&graph));
    if std::env::var_os("MEMLOG_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &svg).expect(GOLDEN);
    }
    let golden = std::fs::read_to_string(&path).expect(GOLDEN);
    let differs = golden
        .lines()
        .zip(svg.lines())
        .find(|(golden, now)| golden != now);
    assert_eq!(differs, None, "the first line that differs");
    assert_eq!(golden.len(), svg.len());
}

#[test]
fn equal_graphs_are_drawn_equally() {
    for (name, graph) in samples::all() {
        let files = || {
            let placed = layout::place(&graph);
            let svg = draw::svg(&graph, &placed);
            (
                svg,
                draw::ps(&graph, &placed, Paper::A4),
                draw::pdf(&graph, &placed, Paper::A4),
            )
        };
        assert!(files() == files(), "{name}");
    }
}

/// What is between tags, when it is sure that tags match.
fn texts(svg: &str) -> Vec<String> {
    let mut open = Vec::new();
    let mut texts = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag has an end");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty());
        if tag.starts_with('/') {
            assert_eq!(open.pop(), name);
        } else if !tag.ends_with(['/', '?']) {
            open.push(name.expect("a name"));
        }
        for entity in text.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;"];
            assert!(
                known.iter().any(|known| entity.starts_with(known)),
                "{entity}"
            );
        }
        let text = text
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"");
        texts.push(text.replace("&amp;", "&"));
    }
    assert!(open.is_empty());
    texts
}

fn check_svg(graph: &Graph, placed: &Placed) -> Vec<String> {
    let svg = draw::svg(graph, placed);
    let is_sound = |c: char| c == '\n' || !(c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}'));
    assert!(svg.chars().all(is_sound));
    let texts = texts(&svg);
    for line in lines(placed) {
        assert!(texts.contains(&line.text), "{}", line.text);
    }
    texts
}

fn check_ps(graph: &Graph, placed: &Placed) {
    let ps = String::from_utf8(draw::ps(graph, placed, Paper::A4)).expect("ASCII");
    assert!(ps.starts_with("%!PS-Adobe-3.0\n") && ps.ends_with("%%EOF\n"));
    assert!(ps.is_ascii());
    assert!(ps.lines().all(|line| line.len() <= 255));
    let bounds = ps
        .lines()
        .find_map(|line| line.strip_prefix("%%BoundingBox: "))
        .expect("bounds");
    let bounds: Vec<i32> = bounds
        .split(' ')
        .map(|part| part.parse().expect("whole"))
        .collect();
    assert!(
        bounds[0] >= 0 && bounds[1] >= 0 && bounds[2] <= 595 && bounds[3] <= 842,
        "{bounds:?}"
    );
    assert!(bounds[0] < bounds[2] && bounds[1] < bounds[3], "{bounds:?}");
    let mut depth = 0;
    let mut is_escaped = false;
    let code = ps
        .split_inclusive('\n')
        .filter(|line| !line.starts_with('%'));
    for c in code.flat_map(str::chars) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        assert!((0..=1).contains(&depth), "strings are not nested");
    }
    assert_eq!(depth, 0);
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// What is drawn on the page.
fn check_pdf(graph: &Graph, placed: &Placed) -> Vec<u8> {
    let pdf = draw::pdf(graph, placed, Paper::A4);
    assert!(pdf.starts_with(b"%PDF-1.") && pdf.trim_ascii_end().ends_with(b"%%EOF"));
    assert_eq!(find(&pdf, b"CreationDate"), None);
    let after = |what: &[u8]| find(&pdf, what).expect("it is there") + what.len();
    let number = |at: usize| {
        let digits = pdf[at..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
    };
    let table = number(after(b"startxref\n"));
    assert!(pdf[table..].starts_with(b"xref\n0 8\n"));
    for object in 1..8 {
        // Entries have 20 bytes; the first is of object 0.
        let entry = table + b"xref\n0 8\n".len() + 20 * object;
        let start = format!("{object} 0 obj");
        assert!(
            pdf[number(entry)..].starts_with(start.as_bytes()),
            "{start}"
        );
    }
    let stream = after(b"stream\n");
    let length = number(after(b"/Length "));
    let content = &pdf[stream..stream + length];
    miniz_oxide::inflate::decompress_to_vec_zlib(content).expect("deflated")
}

#[test]
fn samples_are_sound_files() {
    for (_, graph) in samples::all() {
        let placed = layout::place(&graph);
        check_svg(&graph, &placed);
        check_ps(&graph, &placed);
        check_pdf(&graph, &placed);
    }
}

#[test]
fn what_was_shortened_is_in_the_svg_in_full() {
    let graph = samples::odd();
    let texts = check_svg(&graph, &layout::place(&graph));
    assert!(texts.iter().any(|text| text.contains(&"x".repeat(2000))));
    let edge = "main(int, char**) → ";
    assert!(
        texts
            .iter()
            .any(|text| text.starts_with(edge) && text.ends_with("\n256.0 MiB"))
    );
}

#[test]
fn what_leads_through_others_is_dashed() {
    let mut graph = samples::small();
    let dashed = |graph: &Graph| {
        let placed = layout::place(graph);
        let ps = String::from_utf8(draw::ps(graph, &placed, Paper::A4)).expect("ASCII");
        let content = String::from_utf8(check_pdf(graph, &placed)).expect("ASCII");
        let svg = draw::svg(graph, &placed);
        [
            svg.matches("stroke-dasharray").count(),
            ps.matches(" setdash ").count(),
            content.matches(" d\n").count(),
        ]
    };
    assert_eq!(dashed(&graph), [0; 3]);
    graph.edges[1].is_call = false;
    // On, and off again.
    assert_eq!(dashed(&graph), [1, 1, 2]);
    let dot = memlog_export::dot(&graph);
    assert_eq!(dot.matches("style=dashed").count(), 1);
}

#[test]
fn a_run_is_told_in_full() {
    let mut graph = samples::small();
    let run = ["one [a.c:1]", "two [b.c:2]", "three [c.c:3]"];
    graph.nodes[1].run = run.map(str::to_owned).to_vec();
    let texts = check_svg(&graph, &layout::place(&graph));
    let all = run.join("\n");
    assert!(texts.iter().any(|text| text.starts_with(&all)));
    let dot = memlog_export::dot(&graph);
    assert!(dot.contains("tooltip=\"one [a.c:1]\\ntwo [b.c:2]\\nthree [c.c:3]\\n\""));
}

#[test]
fn pdf_and_ps_speak_code_page_1252() {
    let graph = Graph {
        nodes: vec![samples::node(&["é (€) \\ …日"], 1.0, 0.0)],
        ..Graph::default()
    };
    let placed = layout::place(&graph);
    let content = check_pdf(&graph, &placed);
    // As hexadecimal digits, for it is not ASCII.
    assert!(find(&content, b"<E920288029205C20853F> Tj").is_some());
    let ps = draw::ps(&graph, &placed, Paper::A4);
    assert!(find(&ps, br"(\351 \(\200\) \\ \205?)").is_some());
}

/// However long the picture is.
#[test]
fn a_page_is_a_sheet_of_paper() {
    let many = (0..400).map(|_| samples::node(&["f"], 1.0, 1.0)).collect();
    let edges = (1..400).map(|to| samples::edge(to - 1, to, 1.0)).collect();
    let graph = Graph {
        nodes: many,
        edges,
        ..Graph::default()
    };
    let placed = layout::place(&graph);
    assert!(placed.height > 20_000.0);
    let has = |paper, page: &str| {
        let pdf = draw::pdf(&graph, &placed, paper);
        find(&pdf, format!("/MediaBox [{page}]").as_bytes()).is_some()
    };
    assert!(has(Paper::A4, "0 0 595 842") && has(Paper::Letter, "0 0 612 792"));
    let smallest = Paper::A4.smallest_name(&placed).expect("a name");
    assert!(smallest < 2.0, "{smallest}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_makes_sound_files(names in proptest::collection::vec("\\PC{0,40}|.{0,40}|[ -~]{0,300}", 1..6)) {
        let mut graph = Graph { legend: names.clone(), ..Graph::default() };
        for (at, name) in names.iter().enumerate() {
            graph.nodes.push(samples::node(&[name, name], 0.5, 0.1));
            let mut edge = samples::edge(at, 0, 0.2);
            edge.label.clone_from(name);
            graph.edges.push(edge);
        }
        let placed = layout::place(&graph);
        check_svg(&graph, &placed);
        check_ps(&graph, &placed);
        check_pdf(&graph, &placed);
    }
}
