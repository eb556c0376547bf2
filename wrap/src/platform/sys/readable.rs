//! How far memory can be read, where no call tells it of a range at once.

use super::Errno;
use super::signals::Signals;

/// Asks about the bytes at an address, which is not null, by a call that changes
/// nothing, and that every kernel has and no filter forbids: to do with signals
/// what no such call does. Where it looks at the signals first they can be read
/// if it says so.
pub(super) fn ask(
    address: u64,
    call: impl FnOnce(libc::c_long, [usize; 6]) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    const NOTHING_TO_DO: usize = usize::MAX;
    const SET_BYTES: usize = size_of::<Signals>();
    let Ok(set) = usize::try_from(address) else {
        return Err(Errno(libc::EFAULT));
    };
    let set = set & !(SET_BYTES - 1);
    let arguments = [NOTHING_TO_DO, set, 0, SET_BYTES, 0, 0];
    call(libc::SYS_rt_sigprocmask, arguments)
}

/// How far down from an address memory can be read, for so many bytes at most, as
/// each page says: the address of the lowest byte.
pub(super) fn below(high: u64, bytes: u64, page: u64, can_read: impl Fn(u64) -> bool) -> u64 {
    let lowest = high.saturating_sub(bytes);
    let mut reached = high;
    while reached > lowest {
        let first = (reached - 1) & !page.wrapping_sub(1);
        if !can_read(first) {
            break;
        }
        reached = first.max(lowest);
    }
    reached
}
