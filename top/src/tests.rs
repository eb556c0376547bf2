//! What is drawn of views that are made by hand, and what keys do.

use std::path::PathBuf;

use memlog_pages::live::{Held, Look, SiteRow, ThreadRow};
use memlog_pages::{Life, Name, Seen};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::app::{Act, App, Table};
use crate::batch::text;
use crate::reader::Request;
use crate::view::{Detail, LogRow, StackView, View};

fn seen() -> Seen {
    Seen {
        program: "server".into(),
        pid: 7748,
        host: "vm".into(),
        tick_ns: 1_000_000,
        lost_events: 3,
        mark: Some((1500, "loaded".into())),
        ..Seen::default()
    }
}

fn name(function: &str) -> Name {
    Name {
        function: function.into(),
        location: Some(format!("/src/{function}.c:12")),
        module: Some("server".into()),
    }
}

fn held(bytes: u64, blocks: u64) -> Held {
    Held { bytes, blocks }
}

fn view(is_folder: bool) -> View {
    let site = |label, bytes, grown| SiteRow {
        label,
        live: held(bytes, 7),
        grown,
        grown_since_first: grown * 2,
        allocated: held(bytes * 3, 20),
        came: held(4096, 5),
        temporary: held(10, 5),
        stacks: vec![(9, held(bytes, 7))],
    };
    let look = Look {
        seconds: 1.0,
        program_seconds: 12.5,
        live: held(5 << 20, 21),
        sites: vec![site(0, 1 << 20, -4096), site(1, 4 << 20, 1 << 20)],
        threads: vec![ThreadRow {
            tid: 7749,
            name: "worker".into(),
            live: held(5 << 20, 21),
            grown: 0,
        }],
        ..Look::default()
    };
    let detail = Detail {
        seen: seen(),
        life: Life::Running,
        is_over: false,
        look,
        names: vec![name("cache_answer"), name("daily_summary")],
        heap: [1, 5, 3, 9].into(),
        resident: [0, 0].into(),
        stacks: Some((
            1,
            vec![StackView {
                held: held(4 << 20, 7),
                frames: vec![name("daily_summary"), name("main")],
            }],
        )),
    };
    let log = |name: &str, bytes| LogRow {
        path: PathBuf::from(format!("/logs/{name}.memlog")),
        seen: seen(),
        life: Life::Killed("9 (SIGKILL)".into()),
        live: held(bytes, 2),
        ..LogRow::default()
    };
    View {
        logs: is_folder.then(|| vec![log("small", 10), log("large", 1 << 30)]),
        detail: Some(detail),
        ..View::default()
    }
}

fn app(is_folder: bool) -> App {
    let mut app = App::new(is_folder);
    app.take(view(is_folder));
    app
}

fn press(app: &mut App, code: KeyCode) -> Act {
    app.press(KeyEvent::new(code, KeyModifiers::NONE))
}

fn type_in(app: &mut App, text: &str) {
    for letter in text.chars() {
        press(app, KeyCode::Char(letter));
    }
}

#[test]
fn the_largest_site_is_the_first() {
    let app = app(false);
    let text = text(&app, 100, 24);
    for part in [
        "server  pid 7748 on vm",
        "running",
        "3 EVENTS LOST",
        "mark loaded at 1.5 s",
        "not read yet",
        "+1.0 MiB",
        "-4.0 KiB",
        "25%",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let at = |name: &str| text.find(name).expect(name);
    assert!(at("daily_summary [daily_summary.c:12]") < at("cache_answer [cache_answer.c:12]"));
}

#[test]
fn keys_sort_filter_and_go_in() {
    let mut app = app(false);
    // The selected line stays selected when another overtakes it.
    assert_eq!(app.selected, 0);
    type_in(&mut app, "r");
    app.take(view(false));
    assert_eq!(app.selected, 1);
    type_in(&mut app, "r/CACHE");
    assert!(text(&app, 100, 24).contains("filter: CACHE_"));
    assert_eq!(app.sites().len(), 1);
    press(&mut app, KeyCode::Enter);
    press(&mut app, KeyCode::Esc);
    assert_eq!((app.sites().len(), app.filter.as_str()), (2, ""));
    assert_eq!(
        press(&mut app, KeyCode::Enter),
        Act::Ask(Request::Stacks(Some(1)))
    );
    assert_eq!(app.table, Table::Stacks(1));
    let shown = text(&app, 100, 24);
    assert!(
        shown.contains("daily_summary at /src/daily_summary.c:12"),
        "{shown}"
    );
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Tab);
    assert!(text(&app, 100, 24).contains("7749 worker"));
    assert_eq!(
        press(&mut app, KeyCode::Char('p')),
        Act::Ask(Request::Pause(true))
    );
    assert!(text(&app, 100, 24).contains("PAUSED"));
    type_in(&mut app, "?");
    assert!(text(&app, 100, 24).contains("Ctrl-Z"));
    type_in(&mut app, "q");
    assert_eq!(press(&mut app, KeyCode::Char('q')), Act::Quit);
    let control = KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL);
    assert_eq!(app.press(control), Act::Suspend);
}

#[test]
fn a_folder_has_a_line_for_each_log() {
    let mut app = app(true);
    let shown = text(&app, 120, 24);
    assert!(shown.contains("2 logs, 0 running"), "{shown}");
    assert!(
        shown.find("large.memlog") < shown.find("small.memlog"),
        "{shown}"
    );
    assert!(shown.contains("killed by 9 (SIGKILL)"));
    let asked = press(&mut app, KeyCode::Enter);
    assert_eq!(
        asked,
        Act::Ask(Request::Open(Some(PathBuf::from("/logs/large.memlog"))))
    );
    assert_eq!(press(&mut app, KeyCode::Esc), Act::Ask(Request::Open(None)));
    assert_eq!(app.table, Table::Logs);
}

#[test]
fn no_terminal_is_too_small() {
    for table in [Table::Logs, Table::Sites, Table::Threads, Table::Stacks(1)] {
        for is_empty in [false, true] {
            let mut app = app(true);
            if is_empty {
                app.take(View::default());
            }
            app.table = table;
            app.shows_help = !is_empty;
            for width in 1..60 {
                for height in 1..20 {
                    text(&app, width, height);
                }
            }
        }
    }
}
