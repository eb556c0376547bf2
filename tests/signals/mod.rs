//! Signals as a program that is started from a terminal has them.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// A test run by nohup, or behind a shell's `&`, ignores signals, which its
/// children would inherit; a shell cannot change that.
pub fn usual(command: &mut Command) {
    // SAFETY: between fork and exec only these system calls are made.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}
