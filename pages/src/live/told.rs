//! The figures of a look as text, for programs and for who has no other screen.

use std::cmp::Reverse;
use std::fmt::Write;

use super::{Live, Look, SiteRow};
use crate::open::Life;

/// Stacks with most live bytes, the largest last, as mem-trace printed them.
pub fn top_ten(live: &mut Live, look: &Look, most: usize) -> anyhow::Result<String> {
    let mut stacks: Vec<_> = look.sites.iter().flat_map(|site| &site.stacks).collect();
    stacks.sort_unstable_by_key(|(stack, held)| (Reverse(held.bytes), *stack));
    stacks.truncate(most);
    let mut text = format!("Allocations: {:.3} s\n", look.program_seconds);
    for (index, &&(stack, held)) in stacks.iter().enumerate().rev() {
        let _ = writeln!(
            text,
            "# {index}: {} bytes in {} blocks",
            held.bytes, held.blocks
        );
        for frame in live.frames(stack)? {
            let _ = match &frame.location {
                Some(location) => writeln!(text, "    {} at {location}", frame.function),
                None => writeln!(text, "    {}", frame.function),
            };
        }
    }
    Ok(text + "\n")
}

/// A metric: name, type, help, and what it is of the whole process.
type Metric<'l> = (&'l str, &'l str, &'l str, Option<f64>);

/// The text form of Prometheus, with so many sites at most: those that hold most.
pub fn prometheus(live: &Live, look: &Look, most: usize) -> String {
    let seen = live.seen();
    let process = format!(
        "program=\"{}\",pid=\"{}\",host=\"{}\"",
        escaped(&seen.program),
        seen.pid,
        escaped(&seen.host)
    );
    let number = |number: u64| Some(number as f64);
    let resident = seen.resident.map(|resident| resident.bytes as f64);
    let metrics: [Metric; 16] = [
        (
            "memlog_up",
            "gauge",
            "1 while the program runs",
            Some(f64::from(u8::from(*live.life() == Life::Running))),
        ),
        (
            "memlog_recording",
            "gauge",
            "1 while what the program does is recorded",
            Some(f64::from(u8::from(
                *live.life() == Life::Running && !seen.is_off,
            ))),
        ),
        (
            "memlog_start_time_seconds",
            "gauge",
            "When the program began, since 1970",
            Some(seen.start_unix_ns as f64 / 1e9),
        ),
        (
            "memlog_heap_live_bytes",
            "gauge",
            "Bytes asked for and not freed",
            number(look.live.bytes),
        ),
        (
            "memlog_heap_live_blocks",
            "gauge",
            "Blocks that are not freed",
            number(look.live.blocks),
        ),
        (
            "memlog_heap_peak_bytes",
            "gauge",
            "The most that was live",
            number(look.heap_peak.0),
        ),
        (
            "memlog_allocations_total",
            "counter",
            "Allocations",
            number(look.totals.allocations),
        ),
        (
            "memlog_allocated_bytes_total",
            "counter",
            "Bytes asked for",
            number(look.totals.bytes),
        ),
        (
            "memlog_frees_total",
            "counter",
            "Releases",
            number(look.totals.releases),
        ),
        (
            "memlog_freed_bytes_total",
            "counter",
            "Bytes freed",
            number(look.freed_bytes),
        ),
        (
            "memlog_temporary_allocations_total",
            "counter",
            "Allocations freed before the next one of their thread",
            number(look.totals.temporary),
        ),
        (
            "memlog_resident_bytes",
            "gauge",
            "Resident memory as last read, the recorder in it",
            resident,
        ),
        (
            "memlog_resident_peak_bytes",
            "gauge",
            "The most resident memory that was read",
            number(seen.resident_peak_bytes),
        ),
        (
            "memlog_lost_events_total",
            "counter",
            "Events that are missing in the log",
            number(seen.lost_events),
        ),
        (
            "memlog_marks_total",
            "counter",
            "Marks that the program set",
            number(seen.marks),
        ),
        (
            "memlog_threads",
            "gauge",
            "Threads that hold memory",
            number(look.threads.len() as u64),
        ),
    ];
    let mut text = String::new();
    for (name, kind, help, value) in metrics {
        // A file has no metric without a value.
        if let Some(value) = value {
            let _ = write!(
                text,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{name}{{{process}}} {value}\n"
            );
        }
    }
    let mut sites: Vec<&SiteRow> = look.sites.iter().collect();
    sites.sort_unstable_by_key(|site| (Reverse(site.live.bytes), site.label));
    sites.truncate(most);
    type Of = fn(&SiteRow) -> u64;
    let of_sites: [(&str, &str, &str, Of); 4] = [
        (
            "memlog_site_live_bytes",
            "gauge",
            "Live bytes by the function that asked",
            |site| site.live.bytes,
        ),
        (
            "memlog_site_live_blocks",
            "gauge",
            "Live blocks by the function that asked",
            |site| site.live.blocks,
        ),
        (
            "memlog_site_allocated_bytes_total",
            "counter",
            "Bytes asked for by the function that asked",
            |site| site.allocated.bytes,
        ),
        (
            "memlog_site_allocations_total",
            "counter",
            "Allocations by the function that asked",
            |site| site.allocated.blocks,
        ),
    ];
    for (name, kind, help, of) in of_sites {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for site in &sites {
            let Some(place) = live.name(site.label) else {
                continue;
            };
            let _ = writeln!(
                text,
                "{name}{{{process},site=\"{}\",location=\"{}\",module=\"{}\"}} {}",
                escaped(&place.function),
                escaped(place.location.as_deref().unwrap_or_default()),
                escaped(place.module.as_deref().unwrap_or_default()),
                of(site)
            );
        }
    }
    text
}

/// A label's value: names are without control characters already.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}
