//! Graphs of different kinds, each the same at every run.
#![allow(dead_code)] // each that includes this needs a part of it

use memlog_export::{Edge, Graph, Node};

const NAMES: [&str; 16] = [
    "main",
    "std::vector<net::Packet, std::allocator<net::Packet> >::_M_realloc_insert<net::Packet const&>",
    "parse_request",
    "http::Server::handle(http::Request const&, http::Response&)",
    "g_hash_table_insert",
    "cache_fill",
    "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)",
    "read_file",
    "tokio::runtime::scheduler::multi_thread::worker::Context::run_task",
    "json_parse_value",
    "Interpreter::eval",
    "<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter",
    "png_read_image",
    "buffer_grow",
    "sqlite3VdbeExec",
    "boost::asio::detail::scheduler::do_run_one(boost::asio::detail::conditionally_enabled_mutex::scoped_lock&)",
];

/// The samples by their names.
pub fn all() -> Vec<(&'static str, Graph)> {
    vec![
        ("empty", Graph::default()),
        ("small", small()),
        ("wide", wide()),
        ("deep", deep()),
        ("recursive", recursive()),
        ("odd", odd()),
        ("sinks", sinks()),
        ("hundred", power_law(100, 160, 5)),
        ("large", power_law(300, 420, 7)),
        ("dense", power_law(300, 600, 11)),
    ]
}

pub fn node(lines: &[&str], share: f64, own_share: f64) -> Node {
    Node {
        lines: lines.iter().map(|&line| line.to_owned()).collect(),
        names: lines.len().min(1),
        run: Vec::new(),
        share,
        own_share,
        is_mapped: false,
        font_size: 50.0 * share.powf(0.125),
    }
}

pub fn edge(from: usize, to: usize, share: f64) -> Edge {
    Edge {
        from,
        to,
        label: format!("{:.1} MiB", share * 512.0),
        share,
        width: 8.0 * share.sqrt(),
        font_size: 40.0 * share.powf(0.125),
        is_call: true,
        leads_back: false,
    }
}

pub fn legend() -> Vec<String> {
    [
        "server: heap at its peak",
        "512.0 MiB in 81,234 blocks, after 12.4 s",
        "nodes below 0.1 % are left out",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn described(name: &str, share: f64, own_share: f64) -> Node {
    let held = format!("{:.1} MiB ({:.1} %)", share * 512.0, share * 100.0);
    let own = format!("{:.1} MiB itself", own_share * 512.0);
    node(
        &[
            name,
            "src/server/main.cpp:128",
            "libserver.so.1",
            &held,
            &own,
        ],
        share,
        own_share,
    )
}

fn graph(nodes: Vec<Node>, edges: Vec<Edge>) -> Graph {
    Graph {
        legend: legend(),
        key: Vec::new(),
        nodes,
        edges,
    }
}

pub fn small() -> Graph {
    let nodes = vec![
        described("main", 1.0, 0.0),
        described("parse_request", 0.55, 0.05),
        described("cache_fill", 0.45, 0.0),
        described("read_file", 0.3, 0.3),
        described("buffer_grow", 0.6, 0.6),
        described("log_line", 0.05, 0.05),
    ];
    let edges = vec![
        edge(0, 1, 0.55),
        edge(0, 2, 0.4),
        edge(1, 3, 0.2),
        edge(1, 4, 0.3),
        edge(2, 4, 0.3),
        edge(2, 3, 0.1),
        edge(0, 5, 0.05),
    ];
    graph(nodes, edges)
}

pub fn wide() -> Graph {
    let mut nodes = vec![described("main", 1.0, 0.0)];
    let mut edges = Vec::new();
    for leaf in 1..=40 {
        let share = 0.5 / leaf as f64 / 2.2;
        nodes.push(described(NAMES[leaf % NAMES.len()], share, share));
        edges.push(edge(0, leaf, share));
    }
    graph(nodes, edges)
}

pub fn deep() -> Graph {
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    for at in 0..60 {
        let share = 1.0 - at as f64 / 64.0;
        nodes.push(described(NAMES[at % NAMES.len()], share, 0.0));
        if at > 0 {
            edges.push(edge(at - 1, at, share));
        }
    }
    for branch in (4..60).step_by(5) {
        let leaf = nodes.len();
        nodes.push(described(NAMES[branch % 7], 1.0 / 64.0, 1.0 / 64.0));
        edges.push(edge(branch, leaf, 1.0 / 64.0));
        if branch > 20 {
            edges.push(edge(branch - 15, leaf, 0.01));
        }
    }
    graph(nodes, edges)
}

pub fn recursive() -> Graph {
    let nodes = vec![
        described("main", 1.0, 0.0),
        described("Interpreter::eval", 0.9, 0.1),
        described("Interpreter::call", 0.8, 0.05),
        described("json_parse_value", 0.4, 0.1),
        described("json_parse_array", 0.3, 0.3),
        described("isolated", 0.05, 0.05),
    ];
    let edges = vec![
        edge(0, 1, 0.9),
        edge(1, 2, 0.8),
        edge(2, 1, 0.5),
        edge(1, 1, 0.2),
        edge(2, 3, 0.4),
        edge(3, 4, 0.3),
        edge(4, 3, 0.25),
        edge(4, 1, 0.02),
        edge(3, 3, 0.1),
        edge(3, 3, 0.05),
    ];
    graph(nodes, edges)
}

/// Many places call few.
pub fn sinks() -> Graph {
    let mut graph = power_law(40, 40, 3);
    for sink in 0..3 {
        let share = 0.5 / (1.0 + sink as f64);
        graph.nodes.push(described(NAMES[sink * 5], share, share));
        for caller in (1..40).filter(|caller| caller % 3 != sink) {
            let share = graph.nodes[caller].own_share / 2.0;
            graph.edges.push(edge(caller, 40 + sink, share));
        }
    }
    graph
}

/// What nobody should meet, and somebody will.
pub fn odd() -> Graph {
    let template = format!(
        "std::map<{}>::insert(int)",
        "std::pair<int, std::vector<long> >, ".repeat(60)
    );
    let endless = "x".repeat(2000);
    let mut nodes = vec![
        node(
            &["main(int, char**)", "naïve – café “quoted” (a\\b) 5 €"],
            1.0,
            0.0,
        ),
        node(&[&template, "C:\\sources\\(old)\\main.cpp:12"], 0.5, 0.1),
        node(&[&endless, "日本語の名前", "Привет"], 0.3, 0.1),
        node(
            &["\u{1}\u{1B}[31mred\u{7}", "a<b && c>d \"q\" 'r'"],
            0.2,
            0.2,
        ),
        node(&[], 0.1, 0.1),
        node(&["tiny"], 1e-9, 0.0),
        node(&["not a number"], f64::NAN, f64::NAN),
        node(&["huge"], 0.5, 0.5),
    ];
    nodes[7].font_size = f64::INFINITY;
    let mut edges = vec![
        edge(0, 1, 0.5),
        edge(0, 2, 0.3),
        edge(1, 3, 0.2),
        edge(1, 3, 0.1),
        edge(2, 4, 0.1),
    ];
    edges.extend([
        edge(0, 5, 1e-9),
        edge(2, 6, f64::NAN),
        edge(3, 0, 0.01),
        edge(0, 99, 0.5),
        edge(7, 7, 0.5),
    ]);
    edges[1].label = "two\nlines".to_owned();
    edges[4].label = String::new();
    graph(nodes, edges)
}

/// As graphs of real programs are: few places carry most.
pub fn power_law(count: usize, edge_count: usize, seed: u64) -> Graph {
    let mut random = Random(seed);
    let mut depth = vec![0_usize; count];
    let mut callers = vec![0; count];
    for at in 1..count {
        // Of some tries the deepest: chains, as stacks are.
        let tries = (0..2)
            .map(|_| random.below(at))
            .max_by_key(|&caller| depth[caller]);
        callers[at] = tries.unwrap_or(0);
        depth[at] = depth[callers[at]] + 1;
    }
    let mut own: Vec<f64> = (0..count)
        .map(|at| 1.0 / (1.0 + ((at * 7919) % count) as f64).powf(1.2))
        .collect();
    let all: f64 = own.iter().sum();
    own.iter_mut().for_each(|own| *own /= all);
    let mut shares = own.clone();
    for at in (1..count).rev() {
        shares[callers[at]] += shares[at];
    }
    let name = |at: usize| {
        if at < 16 {
            NAMES[at].to_owned()
        } else {
            format!("{}_{at}", NAMES[at % 16])
        }
    };
    let nodes = (0..count)
        .map(|at| described(&name(at), shares[at].min(1.0), own[at]))
        .collect();
    let mut edges: Vec<Edge> = (1..count)
        .map(|at| edge(callers[at], at, shares[at].min(1.0)))
        .collect();
    while edges.len() < edge_count {
        let to = 1 + random.below(count - 1);
        let from = random.below(count);
        // Most lead down a little, a few lead back.
        let is_near = depth[from] < depth[to] && depth[to] <= depth[from] + 4;
        if from != to && (is_near || random.below(40) == 0) {
            edges.push(edge(from, to, shares[to].min(1.0) / 4.0));
        }
    }
    graph(nodes, edges)
}

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end as u64) as usize
    }
}
