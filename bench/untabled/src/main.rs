//! Derives the unwind rows of x86_64 files from their instructions alone, and judges
//! them by the files' own unwind tables.

mod image;
mod judge;
mod jumps;
mod known;
mod rows;
mod state;
mod sure;
mod ways;

use image::Image;
use known::CLASSES;
use std::process::ExitCode;
use std::time::Instant;

const HEAD: &str = "file MB returns exact% unlike wrong unknown landing unreached unsure other \
    exported entry called pointed s s/MB table of_calls eh_frame peak_MB";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["--head"] {
        println!("{HEAD}");
        return ExitCode::SUCCESS;
    }
    let (flags, files): (Vec<_>, Vec<_>) = words.iter().partition(|word| word.starts_with("--"));
    let why = flags.iter().find_map(|flag| flag.strip_prefix("--why=0x"));
    let why = why.and_then(|why| u64::from_str_radix(why, 16).ok());
    let has = |flag: &str| flags.iter().any(|word| *word == flag);
    let mut is_good = !files.is_empty();
    for file in files {
        is_good &= measure(file, has("--strict"), has("--list"), why).is_some();
    }
    match is_good {
        true => ExitCode::SUCCESS,
        false => {
            eprintln!(
                "usage: untabled [--strict] [--list] [--why=0xADDRESS] FILE...    x86_64 ELF files with .eh_frame"
            );
            ExitCode::FAILURE
        }
    }
}

/// A line of figures, and what is wrong if that is asked for.
fn measure(path: &str, is_strict: bool, lists: bool, why: Option<u64>) -> Option<()> {
    const MEGABYTE: f64 = 1e6;
    let file = std::fs::read(path).ok()?;
    let began = Instant::now();
    let image = Image::read(&file)?;
    let rows = rows::derive(&image, is_strict, why);
    let (table, of_calls) = (rows.table_bytes(false), rows.table_bytes(true));
    let seconds = began.elapsed().as_secs_f64();
    let peak = peak_bytes();
    let told = judge::judge(&file, &image, &rows)?;
    let megabytes = image.code_bytes() as f64 / MEGABYTE;
    let (exact, unlike) = (told.sum(|one| one.exact), told.sum(|one| one.unlike));
    let wrong = told.sum(|one| one.wrong);
    let absent = told.absent;
    let all = exact + unlike + wrong + absent.sum() + told.other;
    let classes = CLASSES.map(|class| {
        let one = told.of(class);
        format!("{}/{}", one.exact + one.unlike, one.wrong)
    });
    println!(
        "{} {megabytes:.2} {all} {:.2} {unlike} {wrong} {} {} {} {} {} {} {seconds:.2} {:.2} {table} {of_calls} {} {:.0}",
        path.rsplit('/').next().unwrap_or(path),
        100. * exact as f64 / all.max(1) as f64,
        absent.unknown,
        absent.landing,
        absent.unreached,
        absent.unsure,
        told.other,
        classes.join(" "),
        seconds / megabytes,
        told.frames_bytes,
        peak as f64 / MEGABYTE,
    );
    if lists {
        told.wrong
            .iter()
            .chain(&told.missing)
            .for_each(|line| println!("    {line}"));
    }
    Some(())
}

/// The most memory that this process had.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
