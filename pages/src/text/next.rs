//! What to run next.

use crate::page::others::Next;
use crate::screen::{Role, Screen};
use crate::words::typed;

const NAME: &str = "next: ";

/// The first commands. Where columns are few without what each is for, and where not
/// even the log's name fits with FILE in its place, for a piece of a command is none.
pub fn of(next: &Next, most: usize, screen: &Screen) -> String {
    let list = &next.list[..most.min(next.list.len())];
    let columns = screen.columns().unwrap_or(usize::MAX);
    let of = |file: &str, is_told: bool| {
        let log = format!("{}{file}", next.options);
        typed_out(list, &log, is_told)
    };
    let file = typed(&next.file);
    let forms = [of(&file, true), of(&file, false), of("FILE", true)];
    let is_wide = |line: &String| NAME.len() + line.chars().count() > columns;
    let fitting = forms.into_iter().find(|lines| !lines.iter().any(is_wide));
    let lines = fitting.unwrap_or_else(|| of("FILE", false));
    let lines = lines.iter().enumerate().map(|(index, line)| {
        let name = match index {
            0 => screen.colours.paint(Role::Title, "next") + ": ",
            _ => " ".repeat(NAME.len()),
        };
        format!("{name}{line}\n")
    });
    format!("\n{}", lines.collect::<String>())
}

/// With the log, and with what each is for.
fn typed_out(list: &[(&str, &str)], log: &str, is_told: bool) -> Vec<String> {
    let list = list.iter();
    let list = list.map(|(command, what)| (format!("memlog {command} {log}"), what));
    let list: Vec<_> = list.collect();
    let widest = list.iter().map(|(command, _)| command.chars().count());
    let widest = widest.max().unwrap_or(0);
    let lines = list.into_iter().map(|(command, what)| match is_told {
        true => format!("{command:widest$}  {what}"),
        false => command,
    });
    lines.collect()
}
