//! `memlog pack`: a log with all its names, in a file that any machine reads.

mod public;

use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use memlog_analysis::{ModuleKey, Site};
use memlog_format::kept::KeptFile;
use memlog_format::meta::{CodeName, Module};
use memlog_pack::archive::{self, Member};
use memlog_pack::{Hidden, Hider, Image, Keeper};
use memlog_read::Log;
use memlog_symbols::Unwindable;

use crate::heading::{COMPILERS, unwindable};
use crate::names::{NameStore, Names, SymbolFiles, jit_names, symbol_options};
use crate::open::{Files, PACK_AGAIN, Room, Watch};
use crate::words::Advice;
use public::PUBLIC;

/// What was packed.
pub struct Packed {
    /// Addresses that stacks have, and that have names now.
    pub places: u64,
    /// Logs: the one that was asked for, and its parents'.
    pub logs: usize,
    /// What is not in it, in sentences.
    pub remarks: Vec<String>,
}

/// Packs a log and those of its parents.
pub fn pack(
    file: &Path,
    symbol_files: &SymbolFiles,
    hidden: Hidden,
    out: &mut dyn Write,
) -> anyhow::Result<Packed> {
    let options = symbol_options(symbol_files)?;
    let watch = Watch::begin();
    let files = Files::load(file, &watch)?;
    let family = files.family()?;
    let mut hider = Hider::new(hidden, PUBLIC);
    files.logs().for_each(|(_, bytes)| hider.learn(bytes));
    let mut remarks: Vec<String> = family
        .missing_parent
        .map(str::to_owned)
        .into_iter()
        .collect();
    let (mut members, mut places) = (Vec::new(), 0);
    for (number, (path, bytes)) in files.logs().enumerate() {
        let logs = &family.logs[number..];
        let store = NameStore::default();
        let mut names = Names::new(&store, &options, &logs[0], path);
        let mut keeper = Keeper::new(&mut hider);
        // Who was forked has stacks of its parents'.
        logs.iter()
            .for_each(|log| keep(log, &mut names, &mut keeper));
        keep_made(&logs[0], path, &mut keeper);
        if number == 0 {
            places = keeper.places();
            remarks.extend(names.remarks().map(str::to_owned));
        }
        let kept = keeper.finish();
        let image = Image::new(bytes, &kept, &mut hider);
        members.push(Member {
            name: hider.file_name(&file_name(path, number)),
            changed: changed(path, hidden),
            length: image.length(),
            content: image,
        });
    }
    watch.end();
    let logs = members.len();
    archive::write(members, out)?;
    Ok(Packed {
        places,
        logs,
        remarks,
    })
}

/// The names of all places of a log.
fn keep(log: &Log, names: &mut Names, keeper: &mut Keeper) {
    let has_cuts = log.has_cut_stacks();
    names.expect_log(log);
    for module in log.modules() {
        let codes = log.codes().filter(|code| code.module == module.id);
        let mut number = None;
        let mut seen = HashSet::new();
        for code in codes.filter(|code| seen.insert(code.lookup_address())) {
            let site = Site {
                address: code.address,
                exact: code.exact,
                module: None,
            };
            if let Some(functions) = names.to_keep(&site, &ModuleKey::from(module)) {
                let number = number.get_or_insert_with(|| {
                    keeper.file(kept_file(
                        module,
                        has_cuts.then(|| unwindable(log, module.path)).flatten(),
                    ))
                });
                keeper.place(*number, code.lookup_address(), &functions);
            }
        }
    }
}

fn kept_file<'m>(module: &Module<'m>, unwindable: Option<Unwindable>) -> KeptFile<'m> {
    let number = |seen: &Unwindable| COMPILERS.iter().position(|it| *it == seen.compiler);
    KeptFile {
        number: 0,
        bias: module.bias,
        compiler: unwindable
            .as_ref()
            .and_then(number)
            .map(|number| number as u8),
        code_bytes: unwindable.map_or(0, |seen| seen.code_bytes),
        covered_bytes: unwindable.map_or(0, |seen| seen.covered_bytes),
        build_id: module.build_id,
        path: module.path,
    }
}

/// What run-time compilers wrote down beside the log, if it is not in it.
fn keep_made(log: &Log, file: &Path, keeper: &mut Keeper) {
    let is_lacking = log.code_names().is_empty() && log.codes_of_no_file().next().is_some();
    let found = is_lacking.then(|| jit_names(log, file)).flatten();
    for (address, made) in found.iter().flat_map(|found| found.all()) {
        keeper.made(CodeName {
            address,
            line: made.line,
            file: &made.file,
            name: &made.name,
        });
    }
}

/// What the log is called; a parent's where the packed file is all there is.
fn file_name(path: &Path, number: usize) -> Vec<u8> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(ENDING).unwrap_or(&name);
    let name = name.strip_suffix(".memlog").unwrap_or(name);
    let parent = if number > 0 && !path.exists() {
        ".parent"
    } else {
        ""
    };
    format!("{name}{parent}.memlog").into_bytes()
}

/// What a packed log's name ends with.
pub const ENDING: &str = ".tar.zst";

fn changed(path: &Path, hidden: Hidden) -> u64 {
    let time = std::fs::metadata(path).and_then(|file| file.modified());
    let time = time
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let time = time.filter(|_| hidden != Hidden::Full);
    time.map_or(0, |since| since.as_secs())
}

/// What gets each log of a packed file.
type Take<'t> = dyn FnMut(archive::Packed) -> io::Result<()> + 't;

/// Unpacks the logs of a packed file into a folder: `take` gets each, by its file's name.
pub fn extract(
    file: &Path,
    folder: &Path,
    mut take: impl FnMut(&[u8], &mut dyn Read) -> io::Result<()>,
) -> anyhow::Result<()> {
    let shown = crate::words::shown(file);
    const NAMED: &str = "give a file that `memlog pack` made";
    let opened = std::fs::File::open(file)
        .map_err(|error| Advice::error(format!("cannot read {shown}: {error}"), NAMED))?;
    let damaged = |error: io::Error| {
        let hint = match error.kind() {
            io::ErrorKind::StorageFull => {
                "give a folder that has room, if the file is to be trusted"
            }
            _ => PACK_AGAIN,
        };
        Advice::error(format!("cannot unpack {shown}: {error}"), hint)
    };
    let read = |take: &mut Take| archive::read(BufReader::new(&opened), take).map_err(damaged);
    // Its checksum stands at the end, and nothing is to come out of it that is wrong.
    let mut room = Room::of(folder);
    let is_packed = read(&mut |log| {
        room.take(log.length)?;
        io::copy(log.content, &mut io::sink()).map(drop)
    })?;
    (&opened).rewind()?;
    match is_packed && read(&mut |log| take(log.name, log.content))? {
        true => Ok(()),
        false => Err(Advice::error(format!("{shown} is no packed log"), NAMED)),
    }
}

/// The path of a log without what packing put behind its name.
pub fn packed_name(log: &str) -> String {
    format!("{}{ENDING}", log.strip_suffix(ENDING).unwrap_or(log))
}
