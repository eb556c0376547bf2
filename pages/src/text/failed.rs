//! Who asked for memory and got none.

use crate::page::others::FailedCalls;
use crate::screen::{Role, Screen};
use crate::words::{asked, counted, grouped, no_memory_but, sized};

/// Callers that are shown with their stacks.
const MOST: usize = 5;

/// Below a tree; nothing where no call failed.
pub fn of(list: &[FailedCalls], screen: &Screen) -> String {
    if list.is_empty() {
        return String::new();
    }
    let title = "allocations that failed, by who asked for most";
    let title = screen.colours.paint(Role::Title, title);
    let mut lines = vec![format!("\n{title}:")];
    for calls in list.iter().take(MOST) {
        lines.push(heading(calls));
        lines.extend(calls.stack.iter().map(|place| format!("    {place}")));
    }
    if list.len() > MOST {
        let more = counted((list.len() - MOST) as u64, "other place");
        lines.push(format!("and {more}"));
    }
    lines.join("\n") + "\n"
}

fn heading(calls: &FailedCalls) -> String {
    let at_most = if calls.calls == 1 { "" } else { "at most " };
    let name = calls.thread_name.as_ref();
    let name = name.map_or(String::new(), |name| format!(" ({name})"));
    format!(
        "  {} of {} for {at_most}{}{}, first at {:.3} s by thread {}{name}",
        counted(calls.calls, "call"),
        calls.function,
        bytes(calls.largest_bytes),
        no_memory_but(calls.errno),
        calls.first_seconds,
        calls.tid
    )
}

fn bytes(size: u64) -> String {
    match size {
        u64::MAX => asked(size),
        ..1024 => format!("{size}B"),
        _ => format!("{}B ({})", grouped(size), sized(size)),
    }
}
