//! What is to be known of operations besides themselves, in words.

use memlog_format::meta::Key;
use memlog_format::operations::Text;

use super::libraries::recorded_allocator;
use crate::open::{Analysis, Family};
use crate::words::{clean, counted, sized};

/// The program, its allocator, and what a replay lacks; `is_chosen`: of chosen blocks alone.
pub(super) fn texts(family: &Family, analysis: &Analysis, is_chosen: bool) -> Vec<u8> {
    let log = family.own();
    let mut texts = Vec::new();
    let mut add = |kind: Text, text: &[u8]| {
        texts.push(kind as u8);
        let mut room = [0; memlog_format::varint::MAX_VARINT];
        let mut writer = memlog_format::varint::Writer::new(&mut room);
        writer.var(text.len() as u64);
        let length = writer.finish().unwrap_or_default();
        texts.extend_from_slice(&room[..length]);
        texts.extend_from_slice(text);
    };
    let program = log.text(Key::Executable);
    add(Text::Executable, program.unwrap_or_default());
    let modules = log.modules().iter().map(|module| module.path);
    if let Some(path) = recorded_allocator(program, modules) {
        add(Text::Allocator, path);
    }
    let chosen = "only blocks that a filter chose are in it: resident memory is of all of them";
    let chosen = is_chosen.then(|| chosen.to_owned());
    for note in notes(family, analysis).into_iter().chain(chosen) {
        add(Text::Note, note.as_bytes());
    }
    texts
}

/// What a replay lacks, in sentences.
fn notes(family: &Family, analysis: &Analysis) -> Vec<String> {
    let log = family.own();
    let summary = &analysis.summary;
    let mut notes = Vec::new();
    if summary.mapped.calls > 0 {
        let (calls, bytes) = (summary.mapped.calls, sized(summary.mapped.peak_bytes));
        notes.push(format!(
            "what the program mapped itself is left out: {}, {bytes} at most",
            counted(calls, "call")
        ));
    }
    if !log.tunings().is_empty() {
        let calls = counted(log.tunings().len() as u64, "call");
        notes.push(format!("{calls} of mallopt are left out: see memlog info"));
    }
    if log.text(Key::Named).is_some() {
        notes.push("blocks of functions that --alloc-func named are taken for malloc's".to_owned());
    }
    if summary.is_lossy() {
        notes.push(format!(
            "the log lacks events ({} lost): what is live may be wrong",
            summary.lost_events
        ));
    }
    if log.flight().is_some() {
        notes.push("the log has only its last events: what was live before comes first".into());
    }
    if let Some(missing) = family.missing_parent {
        notes.push(missing.to_owned());
    } else if log.parent_pid().is_some() {
        notes.push("what the process inherited by fork comes first, by its addresses".into());
    }
    notes.iter().map(|note| clean(note.as_bytes())).collect()
}
