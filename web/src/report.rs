//! `memlog html`: the same page as one file, with the answers in it and no server behind
//! it. How large it gets does not depend on the log: where its answers take too much room
//! they are asked for again with fewer rows, and the page says so.

use std::path::Path;

use memlog_export::digest::source;
use memlog_export::flame::harmless;
use memlog_pages::blocks::{Ask, Desk, Failure, Opened};
use memlog_pages::{SymbolFiles, Watch, damaged, info, value_of};
use serde_json::{Map, Value, json};

use crate::api::question;
use crate::assets;
use crate::shelf::complete;

/// What a page without a server asks for, as `web/ui/src/static.ts` has it: the rest of
/// each is the query, which the page sends so, byte for byte.
pub const REQUESTS: [(&str, &str); 14] = [
    ("timeline", "points=4000"),
    ("table", "by=function&curve=1&at=rss-peak&top=1000"),
    ("table", "by=function&curve=1&at=heap-peak&top=1000"),
    ("table", "by=function&curve=1&at=end&top=1000"),
    ("table", "by=function&curve=1&top=1000"),
    ("table", "by=line&curve=1&at=rss-peak&top=1000"),
    ("table", "by=module&curve=1&at=rss-peak&top=1000"),
    ("flame", "by=live&at=rss-peak&nodes=20000"),
    ("flame", "by=live&at=heap-peak&nodes=20000"),
    ("flame", "by=live&at=end&nodes=20000"),
    ("flame", "by=allocated&nodes=20000"),
    ("leaks", "by=function&curve=1&top=1000"),
    ("leaks", "by=function&growing=1&top=1000"),
    (
        "table",
        "by=function&curve=1&where=died%20%3E%3D%2098%25%20and%20lifetime%20%3E%2050%25&top=1000",
    ),
];

/// Bytes of all answers. A mail takes that, packed.
const MOST_BYTES: usize = 8 << 20;

/// How many points, rows and branches there are, from all that the page asks for to what
/// always has room.
const LEVELS: [(u32, u32, u32); 5] = [
    (4000, 1000, 20_000),
    (2000, 300, 8000),
    (1000, 100, 3000),
    (500, 40, 1000),
    (200, 10, 200),
];

/// A page.
pub struct Report {
    /// The file.
    pub html: String,
    /// Whether Ctrl-C came before all of the log was read.
    pub is_part: bool,
}

/// The page of a log.
pub fn report(file: &Path, symbol_files: &SymbolFiles) -> anyhow::Result<Report> {
    report_within(file, symbol_files, MOST_BYTES)
}

fn report_within(
    file: &Path,
    symbol_files: &SymbolFiles,
    most_bytes: usize,
) -> anyhow::Result<Report> {
    let watch = Watch::interruptible();
    let row = info::row(file)?;
    for is_again in [false, true] {
        let opened = Opened {
            file,
            symbol_files,
            watch: &watch,
            is_again,
        };
        let made = opened.work(
            |_| Ok(()),
            |desk| Ok((answers(desk, &row, most_bytes)?, desk.is_part())),
        )?;
        if let Some((answers, is_part)) = made {
            if let Some(interrupt) = watch.end() {
                interrupt.ignore();
            }
            return Ok(Report {
                html: page(&answers),
                is_part,
            });
        }
    }
    Err(damaged())
}

/// All answers, by what the page asks.
fn answers(desk: &Desk, row: &Value, most_bytes: usize) -> Result<Map<String, Value>, Failure> {
    // What all have in common is told once.
    let mut overview = desk.overview();
    let mut list = json!({
        "id": 1, "generation": 0, "state": "ready", "is_running": false, "is_outlier": false,
        "parent_id": null, "has_course": overview["has_course"],
    });
    if let (Some(list), Some(row)) = (list.as_object_mut(), row.as_object()) {
        list.extend(row.clone());
    }
    complete(&mut list, &overview["stats"]);
    for level in LEVELS {
        let is_last = level == LEVELS[LEVELS.len() - 1];
        let room = if is_last { usize::MAX } else { most_bytes };
        let Some(found) = at_level(desk, level, room)? else {
            continue;
        };
        let mut all = found.answers;
        if found.is_cut
            && let Some(notes) = overview["notes"].as_array_mut()
        {
            let (points, rows, branches) = level;
            notes.push(Value::from(format!(
                "this report has the {rows} largest rows of each table, the {branches} largest \
                 branches of each flame graph and {points} points in time; memlog server shows all"
            )));
        }
        all.insert("logs".to_owned(), json!({ "count": 1, "logs": [list] }));
        all.insert("logs/1".to_owned(), overview);
        return Ok(all);
    }
    Ok(Map::new())
}

/// Answers by what the page asks.
struct Answers {
    answers: Map<String, Value>,
    /// Whether there is more than they have.
    is_cut: bool,
}

/// The answers with so many rows; nothing if they take more room. What this log cannot tell
/// is left out, and so is what the page would show of it.
fn at_level(
    desk: &Desk,
    (points, rows, branches): (u32, u32, u32),
    room: usize,
) -> Result<Option<Answers>, Failure> {
    let (mut answers, mut bytes, mut is_cut) = (Map::new(), 0, false);
    for (name, query) in REQUESTS {
        let query = match desk.has_course() {
            true => query.to_owned(),
            false => query.replace("&curve=1", ""),
        };
        let asked = query
            .replace("points=4000", &format!("points={points}"))
            .replace("top=1000", &format!("top={rows}"))
            .replace("nodes=20000", &format!("nodes={branches}"));
        let ask = question::parse(name, &asked);
        let Ok(ask) = ask else { continue };
        let answer = match told(desk, &*ask) {
            Ok(answer) => answer,
            Err(Failure::Damaged) => return Err(Failure::Damaged),
            Err(Failure::Said(_)) => continue,
        };
        let is_full = |key: &str, most: u32| {
            let list = answer[key].as_array();
            list.is_some_and(|list| list.len() >= most as usize)
        };
        is_cut |= is_full("rows", rows) || is_full("points", points);
        is_cut |= answer["left_out"]["nodes"].as_u64().unwrap_or(0) > 0;
        bytes += harmless(&answer.to_string()).len();
        if bytes > room {
            return Ok(None);
        }
        answers.insert(format!("logs/1/{name}?{query}"), answer);
    }
    Ok(Some(Answers { answers, is_cut }))
}

fn told(desk: &Desk, ask: &dyn Ask) -> Result<Value, Failure> {
    let mut answer = value_of(&desk.page(ask)?);
    if let Some(answer) = answer.as_object_mut() {
        answer.remove("stats");
        // The page draws bytes.
        for row in answer
            .get_mut("rows")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(row) = row.as_object_mut() {
                row.remove("live_blocks");
            }
        }
    }
    Ok(answer)
}

/// The page's own files and the answers, in one.
fn page(answers: &Map<String, Value>) -> String {
    let (script, style) = (assets::SCRIPT, assets::STYLE);
    let policy = format!(
        "default-src 'none'; img-src data:; style-src '{}'; script-src '{}'",
        source(style),
        source(script)
    );
    let data = harmless(&Value::from(answers.clone()).to_string());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>memlog</title>\n\
         <style>{style}</style>\n</head>\n<body>\n<div id=\"page\"></div>\n\
         <noscript>This page needs JavaScript.</noscript>\n\
         <script type=\"application/json\" id=\"memlog-data\">{data}</script>\n\
         <script type=\"module\">{script}</script>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One list in two languages.
    #[test]
    fn the_page_asks_for_what_is_there() {
        let page = include_str!("../ui/src/static.ts");
        let lines = page
            .lines()
            .filter_map(|line| line.trim().strip_prefix("'logs/{id}/"));
        let asked: Vec<&str> = lines.filter_map(|line| line.strip_suffix("',")).collect();
        let told = REQUESTS.map(|(name, query)| format!("{name}?{query}"));
        assert_eq!(asked, told);
    }

    #[test]
    fn where_there_is_no_room_there_is_less() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/");
        let opened = Opened {
            file: &Path::new(golden).join("cross/x86_64-musl.memlog"),
            symbol_files: &SymbolFiles::default(),
            watch: &Watch::silent(),
            is_again: false,
        };
        let made = opened.work(
            |_| Ok(()),
            |desk| {
                let all = at_level(desk, LEVELS[0], usize::MAX)?.expect("room");
                let few = at_level(desk, (1, 1, 1), usize::MAX)?.expect("room");
                assert!(!all.is_cut && few.is_cut);
                assert_eq!(all.answers.len(), few.answers.len());
                for (key, answer) in &few.answers {
                    let list = answer["rows"].as_array().or(answer["points"].as_array());
                    // The peaks and the end are points in any case.
                    assert!(list.is_none_or(|list| list.len() <= 4), "{key}");
                }
                assert!(at_level(desk, LEVELS[0], 1000)?.is_none());
                let row = json!({});
                let notes = |room| {
                    Ok::<_, Failure>(answers(desk, &row, room)?["logs/1"]["notes"].to_string())
                };
                assert!(!notes(usize::MAX)?.contains("this report has"));
                // The last level has room in any case; here it is all there is.
                assert_eq!(notes(1)?, notes(usize::MAX)?);
                Ok(())
            },
        );
        assert!(made.expect("a log").is_some());
    }

    #[test]
    fn nothing_in_the_page_ends_a_script() {
        let text = harmless("{\"a\":\"</script><!--&\u{2028}\"}");
        assert_eq!(
            text,
            "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\"}"
        );
        assert!(!assets::SCRIPT.contains("</script") && !assets::SCRIPT.contains("<script"));
        assert!(!assets::STYLE.contains("</style"));
    }
}
