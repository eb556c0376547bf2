//! The picture in the user's viewer: started and left alone. Who cannot be shown
//! it is told which file it is; the files are what was asked for.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memlog_export::quoted;
use memlog_pages::tell_note;

use crate::args::Format;
use crate::files::Outputs;

/// Best as SVG, else the first that was drawn.
pub(crate) fn open(outputs: &Outputs) {
    let mut drawn = outputs.formats().iter().filter(|format| !format.is_text());
    let svg = drawn.clone().find(|&&format| format == Format::Svg);
    let Some(&format) = svg.or_else(|| drawn.next()) else {
        return;
    };
    open_file(&outputs.path(format));
}

/// A file that is there.
pub fn open_file(file: &Path) {
    // What begins with a hyphen is no option to anybody.
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let started = viewer().and_then(|viewer| start(&viewer, &file));
    if let Err(why) = started {
        tell_note(&format!("{why}; open {}", quoted(&file)));
    }
}

/// $BROWSER, which works without a display too where the user is elsewhere;
/// else what the desktop has.
fn viewer() -> Result<PathBuf, String> {
    let is_set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(browsers) = is_set("BROWSER") {
        return Ok(first(&browsers));
    }
    match is_set("DISPLAY").or_else(|| is_set("WAYLAND_DISPLAY")) {
        Some(_) => Ok("xdg-open".into()),
        None => Err("there is no display to show the picture on".into()),
    }
}

/// Of a list with colons the first.
fn first(browsers: &OsStr) -> PathBuf {
    let mut names = env::split_paths(browsers);
    names
        .next()
        .unwrap_or_else(|| OsString::from(browsers).into())
}

/// In a group of its own: Ctrl-C in the terminal is not meant for it.
fn start(viewer: &Path, file: &Path) -> Result<(), String> {
    let mut command = Command::new(viewer);
    command
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    let started = command.spawn();
    started.map(drop).map_err(|error| {
        let viewer = memlog_export::shown(viewer);
        format!("{viewer} cannot be started: {error}")
    })
}
