//! Whether the kernel's fine clock can be read without a call of the kernel.

use super::linux::VDSO_CLOCK;
use super::{call::call, files};
use core::sync::atomic::Ordering;

/// Sources by which the kernel's own object tells the time without the kernel.
const READABLE: [&[u8]; 7] = [
    b"tsc",
    b"kvm-clock",
    b"hyperv_clocksource_tsc_page",
    b"arch_sys_counter",
    b"timebase",
    b"tod",
    b"riscv_clocksource",
];

const SOURCE: &[u8] = b"/sys/devices/system/clocksource/clocksource0/current_clocksource\0";

/// Whether it can, or why not.
pub(super) fn check() -> Result<(), &'static [u8]> {
    if VDSO_CLOCK.load(Ordering::Relaxed) == 0 {
        return Err(b"this kernel has no clock that is read without a system call");
    }
    if !may_read_counter() {
        return Err(b"this process may not read the processor's counter (PR_SET_TSC)");
    }
    let mut name = [0; 64];
    match files::read_start(SOURCE, &mut name) {
        [] => Err(b"the kernel does not say what its clock is (current_clocksource)"),
        line if is_readable(line) => Ok(()),
        _ => Err(b"the kernel's clock takes a system call (current_clocksource)"),
    }
}

fn is_readable(line: &[u8]) -> bool {
    READABLE.contains(&line.trim_ascii_end())
}

/// Who may not is ended by it. Where the kernel does not know the question,
/// everybody may.
fn may_read_counter() -> bool {
    let (mut how, what) = (libc::PR_TSC_ENABLE, libc::PR_GET_TSC as usize);
    let place = &raw mut how as usize;
    let told = call(libc::SYS_prctl, [what, place, 0, 0, 0, 0]);
    told.is_err() || how == libc::PR_TSC_ENABLE
}

#[cfg(test)]
mod tests {
    use super::is_readable;

    #[test]
    fn sources_are_known_by_their_whole_name() {
        for name in ["tsc\n", "kvm-clock\n", "arch_sys_counter\n", "timebase"] {
            assert!(is_readable(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            "\n",
            "hpet\n",
            "acpi_pm\n",
            "tsc-early\n",
            "ts",
            "jiffies\n",
        ] {
            assert!(!is_readable(name.as_bytes()), "{name}");
        }
    }
}
