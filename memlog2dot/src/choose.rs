//! One log: the one that is named, or of all that match a pattern the one
//! whose process was biggest.

use std::path::{Path, PathBuf};

use memlog_export::size;

use crate::{Logs, Trouble, note};

/// The log to draw.
pub(crate) fn log(name: &Path, logs: &dyn Logs, say: impl Fn(&str)) -> anyhow::Result<PathBuf> {
    let has_signs = |text: &str| text.contains(['*', '?', '[']);
    // A file may have a star in its name.
    match name.to_str().filter(|text| has_signs(text)) {
        Some(pattern) if name.symlink_metadata().is_err() => matching(pattern, logs, say),
        _ => Ok(name.to_owned()),
    }
}

fn matching(pattern: &str, logs: &dyn Logs, say: impl Fn(&str)) -> anyhow::Result<PathBuf> {
    say(&format!("Searching all files matching '{pattern}'"));
    let paths = glob::glob(pattern).map_err(|error| {
        Trouble::error(
            format!("'{pattern}' is no pattern: {error}"),
            "a pattern has *, ? and [abc], as in '*.memlog'",
        )
    })?;
    let mut best: Option<(u64, PathBuf)> = None;
    let (mut read, mut skipped) = (0, 0);
    for path in paths {
        let peak = path
            .map_err(anyhow::Error::from)
            .and_then(|path| Ok((logs.rss_peak_bytes(&path)?, path)));
        match peak {
            Ok((peak, path)) => {
                read += 1;
                // Of equals the first by name.
                if best.as_ref().is_none_or(|(highest, _)| peak > *highest) {
                    best = Some((peak, path));
                }
            }
            Err(error) => {
                skipped += 1;
                note(&format!("skipped: {error:#}"));
            }
        }
    }
    let Some((peak, path)) = best else {
        return Err(nothing(pattern, skipped));
    };
    let (shown, peak) = (path.display(), size(peak));
    say(&match read {
        1 => format!("Using {shown}, the only log; its RSS peak is {peak}"),
        count => format!("Using {shown}, whose RSS peak of {peak} is the highest of {count} logs"),
    });
    Ok(path)
}

fn nothing(pattern: &str, skipped: u64) -> anyhow::Error {
    match skipped {
        0 => Trouble::error(
            format!("no file matches '{pattern}'"),
            "see `ls`: a log is named HOST.PID.memlog, as `memlog record` said",
        ),
        _ => Trouble::error(
            format!("no file that matches '{pattern}' is a log that can be read"),
            "give a pattern of .memlog files, such as '*.memlog'",
        ),
    }
}
