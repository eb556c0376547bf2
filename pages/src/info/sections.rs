//! What a log lists: its modules, its counters, and what is wrong with it.

use memlog_format::counter::{ALL, Counter};
use memlog_format::meta::{Key, Module};
use memlog_read::{Findings, Log};

use crate::facts::{Bounds, fate, reason};
use crate::page::others::Records;
use crate::words::{clean, grouped};

/// The files whose code was there.
pub fn modules(log: &Log) -> Records {
    let mut records = Records::below(format!("modules: {}", log.modules().len()), 0);
    for module in log.modules() {
        let gone = unloaded_seconds(log, module);
        let gone = gone.map_or(String::new(), |seconds| {
            format!(", unloaded by {seconds:.3} s")
        });
        records.add("", line_of(module) + &gone);
    }
    records
}

/// When it was gone, if it was.
pub fn unloaded_seconds(log: &Log, module: &Module) -> Option<f64> {
    let gone = log.unloads().iter().find(|(id, _)| *id == module.id);
    gone.map(|(_, tick)| log.seconds(*tick))
}

/// As tools write it, if there is one.
pub fn build_id(module: &Module) -> Option<String> {
    let bytes = module.build_id.iter();
    let id: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    (!id.is_empty()).then_some(id)
}

fn line_of(module: &Module) -> String {
    let id = build_id(module).unwrap_or_else(|| "no build-id".to_owned());
    format!(
        "{:#x}-{:#x} bias {:#x} {id} {}",
        module.low,
        module.high,
        module.bias,
        clean(module.path)
    )
}

/// What the recorder counted.
pub fn counters(log: &Log) -> Records {
    let mut records = Records::below("counters:".to_owned(), 22);
    let refused = log.counter(Counter::LogRefused);
    let bounds = Bounds::of(log.texts(Key::Setting)).refused(refused);
    for &(counter, name) in ALL {
        let count = log.counter(counter);
        if let Some(reason) = reason(counter, count) {
            records.add(name, reason);
            continue;
        }
        let value = grouped(count);
        let lost = match counter.is_loss() && count != 0 {
            true => format!("  events are missing: they {}", fate(counter, bounds)),
            false => String::new(),
        };
        records.add(name, format!("{value:>16}{lost}"));
    }
    records
}

/// What the reader found wrong.
pub fn findings(log: &Log, findings: &Findings) -> Records {
    let mut records = Records::below(format!("findings: {}", findings.count()), 0);
    for finding in findings.list() {
        records.add("", finding.to_string());
    }
    let more = findings.count() - findings.list().len() as u64;
    if more > 0 {
        records.add("", format!("and {more} more"));
    }
    if findings.order_gaps > 0 {
        let gaps = grouped(findings.order_gaps);
        let usual = usual(log);
        records.add("", format!("{gaps} order numbers without an event{usual}"));
    }
    if findings.order_breaks > 0 {
        let breaks = grouped(findings.order_breaks);
        records.add("", format!("{breaks} order numbers contradict others"));
    }
    records
}

fn usual(log: &Log) -> &'static str {
    match log.end() {
        None => ": usual where a program was killed between taking one and using it",
        Some(_) => "",
    }
}
