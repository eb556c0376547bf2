//! `cnkrun [-k] [-m MIB] PROGRAM ARGUMENTS`: runs a static program with no
//! system calls but those of Blue Gene's compute node kernel, and no more memory
//! than it asks for and gets: address space beyond MIB (default 1024) is refused,
//! so that a reservation costs what it would cost there. With -k a call off the
//! list kills instead of failing: the shell then says 159.
//!
//! What it cannot do is what filters cannot see or change: a break that the
//! first mapping freezes, a figure of memory that falls, a link without a
//! length. Those are faked in the recorder's tests.

mod filter;

use filter::{Filter, Strictness};
use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

const USAGE: &str = "usage: cnkrun [-k] [-m MIB] PROGRAM ARGUMENTS";

struct Wanted {
    strictness: Strictness,
    mib: u64,
    command: Vec<CString>,
}

fn wanted() -> Result<Wanted, String> {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let mut wanted = Wanted {
        strictness: Strictness::Refuse,
        mib: 1024,
        command: Vec::new(),
    };
    while let Some(option) = arguments.next_if(|one| one.as_encoded_bytes().starts_with(b"-")) {
        match option.as_encoded_bytes() {
            b"-k" => wanted.strictness = Strictness::Kill,
            b"-m" => {
                let mib = arguments.next().and_then(|mib| mib.to_str()?.parse().ok());
                wanted.mib = mib.ok_or(USAGE)?;
            }
            _ => return Err(USAGE.to_string()),
        }
    }
    for argument in arguments {
        let argument = CString::new(argument.into_vec()).map_err(|error| error.to_string())?;
        wanted.command.push(argument);
    }
    match wanted.command.is_empty() {
        true => Err(USAGE.to_string()),
        false => Ok(wanted),
    }
}

fn last_error(of: &str) -> String {
    format!("cnkrun: {of}: {}", std::io::Error::last_os_error())
}

/// The bounds of memory, which the program inherits.
fn bound(mib: u64) -> Result<(), String> {
    let limit = libc::rlimit {
        rlim_cur: mib << 20,
        rlim_max: mib << 20,
    };
    for which in [libc::RLIMIT_AS, libc::RLIMIT_DATA] {
        // SAFETY: a limit of this very function.
        if unsafe { libc::setrlimit(which, &raw const limit) } != 0 {
            return Err(last_error("setrlimit"));
        }
    }
    Ok(())
}

/// From here on there is only CNK.
fn confine(filter: &mut Filter) -> Result<(), String> {
    let program = filter.program();
    // SAFETY: the filter's program lives until the call is over.
    let is_confined = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            ) == 0
    };
    match is_confined {
        true => Ok(()),
        false => Err(last_error("the filter")),
    }
}

fn run() -> Result<std::convert::Infallible, String> {
    let wanted = wanted()?;
    let path = wanted.command[0].as_ptr();
    let mut arguments: Vec<_> = wanted.command.iter().map(|one| one.as_ptr()).collect();
    arguments.push(std::ptr::null());
    let mut filter = Filter::new(wanted.strictness, path as u64);
    bound(wanted.mib)?;
    confine(&mut filter)?;
    // SAFETY: C strings, and a list of them that ends with null; the
    // environment is the one that this process was given.
    unsafe {
        unsafe extern "C" {
            static environ: *const *const libc::c_char;
        }
        libc::execve(path, arguments.as_ptr(), environ);
    }
    Err(last_error(&wanted.command[0].to_string_lossy()))
}

fn main() -> ExitCode {
    let trouble = match run() {
        Err(trouble) => trouble,
        Ok(never) => match never {},
    };
    eprintln!("{trouble}");
    ExitCode::from(2)
}
