//! Runs a program under ptrace and refuses one of the system calls that come
//! out of one library.

use super::{Fault, Outcome};
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether a child can be traced here.
pub fn may_trace() -> bool {
    let mut command = Command::new("true");
    trace_me(&mut command);
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    // The child is stopped at its exec and runs on when it is let go.
    let stopped = wait(child.id() as i32);
    request(libc::PTRACE_CONT, child.id() as i32, 0);
    let _ = child.wait();
    libc::WIFSTOPPED(stopped)
}

fn trace_me(command: &mut Command) {
    // SAFETY: one system call, which is all that is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

fn request(what: libc::c_uint, child: i32, data: usize) {
    // SAFETY: no memory of this process is involved.
    unsafe { libc::ptrace(what, child, 0usize, data) };
}

fn wait(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: a child of this process, and room for its status.
    let waited = unsafe { libc::waitpid(child, &mut status, libc::__WALL) };
    assert_eq!(waited, child, "waitpid");
    status
}

fn registers(child: i32) -> libc::user_regs_struct {
    // SAFETY: plain integers, and room for them.
    unsafe {
        let mut registers = std::mem::zeroed();
        libc::ptrace(libc::PTRACE_GETREGS, child, 0usize, &raw mut registers);
        registers
    }
}

fn set_registers(child: i32, registers: &libc::user_regs_struct) {
    // SAFETY: they are only read.
    unsafe {
        libc::ptrace(
            libc::PTRACE_SETREGS,
            child,
            0usize,
            std::ptr::from_ref(registers),
        )
    };
}

/// Where a library's code lies in a process, if it is mapped.
fn code_of(child: i32, library: &str) -> Option<std::ops::Range<u64>> {
    let maps = std::fs::read_to_string(format!("/proc/{child}/maps")).ok()?;
    let line = maps
        .lines()
        .find(|line| line.ends_with(library) && line.contains(" r-xp "))?;
    let (low, high) = line.split(' ').next()?.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(number(low)?..number(high)?)
}

/// Runs a program of one thread to its end.
pub fn run(
    program: &Path,
    args: &[&str],
    library: &Path,
    logs: &Path,
    settings: &[(&str, &str)],
    fault: Option<Fault>,
) -> Outcome {
    let errors = logs.with_extension("stderr");
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command.stderr(File::create(&errors).expect("a file for stderr"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEMLOG_") {
            command.env_remove(name);
        }
    }
    // Where not even the environment can be read the log goes to the folder
    // that the program is in.
    command
        .env("LD_PRELOAD", library)
        .env("MEMLOG_DIR", logs)
        .envs(settings.iter().copied())
        .current_dir(logs);
    trace_me(&mut command);
    #[allow(clippy::zombie_processes)] // it is waited for below, stop by stop
    let child = command.spawn().expect("it starts").id() as i32;
    let mut outcome = follow(child, &library.display().to_string(), fault);
    let mut text = String::new();
    let _ = File::open(&errors).and_then(|mut file| file.read_to_string(&mut text));
    let _ = std::fs::remove_file(&errors);
    outcome.errors = text;
    outcome
}

fn follow(child: i32, library: &str, fault: Option<Fault>) -> Outcome {
    const STOPPED_AT_CALL: i32 = libc::SIGTRAP | 0x80;
    let mut status = wait(child);
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SETOPTIONS, child, options as usize);
    let mut outcome = Outcome {
        status,
        errors: String::new(),
        calls: 0,
        failed: None,
    };
    let (mut code, mut is_inside, mut refused) = (None, false, None);
    while libc::WIFSTOPPED(status) {
        let signal = libc::WSTOPSIG(status);
        let mut passed_on = 0;
        if signal == STOPPED_AT_CALL {
            is_inside = !is_inside;
            let mut registers = registers(child);
            if is_inside {
                code = code.or_else(|| code_of(child, library));
                let is_ours = code
                    .as_ref()
                    .is_some_and(|code| code.contains(&registers.rip));
                outcome.calls += u64::from(is_ours && can_fail(registers.orig_rax));
                let is_meant = fault.filter(|fault| {
                    is_ours && can_fail(registers.orig_rax) && fault.call == outcome.calls
                });
                if let Some(fault) = is_meant {
                    outcome.failed = Some(registers.orig_rax);
                    refused = Some(fault.error);
                    registers.orig_rax = u64::MAX;
                    set_registers(child, &registers);
                }
            } else if let Some(error) = refused.take() {
                registers.rax = -i64::from(error) as u64;
                set_registers(child, &registers);
            }
        } else if signal != libc::SIGTRAP {
            passed_on = signal as usize;
        }
        // Once it has failed nothing is left to be watched.
        let on = match outcome.failed.is_some() && refused.is_none() {
            true => libc::PTRACE_CONT,
            false => libc::PTRACE_SYSCALL,
        };
        request(on, child, passed_on);
        status = wait(child);
    }
    outcome.status = status;
    outcome
}

/// Those that only tell something are never refused.
fn can_fail(number: u64) -> bool {
    let never = [
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_getppid,
        libc::SYS_sched_yield,
    ];
    !never.contains(&(number as i64))
}
