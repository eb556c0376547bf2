//! What the kernel laid at the bottom of the main stack: arguments,
//! environment, auxiliary vector. Asked where there is no /proc that tells of
//! them, as in a bare chroot.
#![allow(unsafe_code)]
//! # Safety
//! The C library says where the block lies; it is read during the first call
//! of the program, when all of it still is as the kernel made it.
//!
//! ```text
//! argc | argv[0] .. argv[argc - 1] | 0 | envp[0] .. | 0 | auxv[0] .. AT_NULL
//! ```

use crate::platform::arch;
use crate::platform::sys::{Os, Sys};

/// A static program's start has put a few words below the block by then.
const BELOW: usize = 4;
/// The kernel allows no more arguments, nor variables.
const MOST: usize = 1 << 22;

/// The block.
#[derive(Clone, Copy)]
pub struct Initial {
    arguments: *const usize,
    count: usize,
}

impl Initial {
    /// Finds it; nothing where this C library does not say.
    pub fn find() -> Option<Self> {
        // SAFETY: a function of the assembly.
        let at = unsafe { arch::memlog_stack_end() };
        match at.is_null() || !at.is_aligned() {
            true => Self::below_environment(),
            false => Self::above(at),
        }
    }

    /// Finds it below the environment, where libc says no more than that (musl).
    fn below_environment() -> Option<Self> {
        let place = arch::marks::environment() as *const *const usize;
        // SAFETY: libc's own word, or null.
        let environment = *unsafe { place.as_ref() }?;
        // A program may have made one of its own by then, elsewhere.
        let on_stack = &raw const place as usize;
        if (environment as usize) < on_stack || !environment.is_aligned() {
            return None;
        }
        (1..MOST).find_map(|count| {
            let arguments = environment.wrapping_sub(count + 1);
            // SAFETY: above this very frame the main stack is mapped. The words
            // in between are addresses, which are no small numbers.
            let is_count = unsafe { *arguments.wrapping_sub(1) } == count;
            is_count.then_some(Self { arguments, count })
        })
    }

    fn above(mut at: *const usize) -> Option<Self> {
        for _ in 0..BELOW {
            // SAFETY: from the C library's word up the main stack is mapped.
            let (count, arguments) = unsafe { (*at, at.add(1)) };
            // SAFETY: as above, if it is the count; a wrong one that is small
            // leads no further than the block's own size.
            let is_count = (1..MOST).contains(&count)
                && unsafe { *arguments } > at as usize
                && is_end(arguments, count);
            if is_count {
                return Some(Self { arguments, count });
            }
            at = arguments;
        }
        None
    }

    fn environment(&self) -> *const usize {
        self.arguments.wrapping_add(self.count + 1)
    }

    /// Runs over the environment.
    pub fn each_variable(&self, mut see: impl FnMut(&[u8])) {
        let mut at = self.environment();
        for _ in 0..MOST {
            // SAFETY: the list ends with a zero word, which was not met yet.
            let text = unsafe { *at } as *const u8;
            if text.is_null() {
                return;
            }
            // SAFETY: the kernel's own strings.
            see(unsafe { text_at(text) });
            at = at.wrapping_add(1);
        }
    }

    /// Runs over the auxiliary vector.
    pub fn each_auxiliary(&self, mut see: impl FnMut(u64, u64)) {
        let mut at = self.environment();
        // SAFETY: the environment ends with a zero word, and behind it pairs
        // of words begin, which end with a zero. Where a program has another's
        // rights the loader has taken variables out and moved the rest down,
        // which leaves a zero word for each.
        unsafe {
            while *at != 0 {
                at = at.add(1);
            }
            while *at == 0 {
                at = at.add(1);
            }
            while *at != 0 {
                see(*at as u64, *at.add(1) as u64);
                at = at.add(2);
            }
        }
    }

    /// The arguments, each ended by a zero byte, as far as there is room.
    pub fn command_line(&self, into: &mut [u8]) -> usize {
        let mut used = 0;
        for index in 0..self.count {
            // SAFETY: so many strings of the kernel's.
            let text = unsafe { text_at(*self.arguments.add(index) as *const u8) };
            used += copy(
                text.iter().chain(&[0]),
                into.get_mut(used..).unwrap_or(&mut []),
            );
        }
        used
    }

    /// The name that the program was started by, as far as there is room.
    pub fn executable(&self, into: &mut [u8]) -> usize {
        const AT_EXECFN: u64 = 31;
        let mut used = 0;
        self.each_auxiliary(|key, value| {
            if key == AT_EXECFN {
                // SAFETY: the kernel's own string.
                let name = unsafe { text_at(value as *const u8) };
                used = copy(name.iter(), into);
            }
        });
        used
    }
}

fn copy<'a>(from: impl Iterator<Item = &'a u8>, into: &mut [u8]) -> usize {
    let pairs = from.zip(into);
    pairs.map(|(&byte, place)| *place = byte).count()
}

/// A C string without its end.
///
/// # Safety
/// It is one, and stays.
unsafe fn text_at(text: *const u8) -> &'static [u8] {
    let mut length = 0;
    // SAFETY: by the caller; no zero was met so far. Volatile, for the compiler
    // makes a call of strlen of it, which there is none of.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    // SAFETY: as above.
    unsafe { core::slice::from_raw_parts(text, length) }
}

/// Whether the list of arguments ends after so many, and not before.
fn is_end(arguments: *const usize, count: usize) -> bool {
    for index in 0..count {
        // SAFETY: up to the first zero word it is a list, whatever its count.
        if unsafe { *arguments.wrapping_add(index) } == 0 {
            return false;
        }
    }
    // SAFETY: behind the last argument.
    unsafe { *arguments.wrapping_add(count) == 0 }
}

/// The program's own file.
pub fn executable(into: &mut [u8]) -> usize {
    match Os::read_link(b"/proc/self/exe\0", into) {
        0 => Initial::find().map_or(0, |initial| initial.executable(into)),
        length => length,
    }
}

#[cfg(test)]
mod tests {
    use super::Initial;

    /// By either of libc's words it is the same block.
    #[test]
    fn the_environment_leads_there_as_well() {
        if crate::platform::arch::marks::environment() == 0 {
            println!("SKIPPED nobody asks libc for the environment here");
            return;
        }
        let [above, below] = [Initial::find(), Initial::below_environment()]
            .map(|found| found.map(|initial| (initial.arguments, initial.count)));
        assert!(above.is_some() && above == below, "{above:?} {below:?}");
    }

    /// What /proc says of this very process.
    #[test]
    fn the_block_says_what_the_kernel_says() {
        let initial = Initial::find().expect("glibc says where");
        let mut mine = Vec::new();
        initial.each_variable(|text| mine.extend([text, &[0]].concat()));
        assert_eq!(mine, std::fs::read("/proc/self/environ").unwrap());
        let mut line = vec![0; 1 << 16];
        let length = initial.command_line(&mut line);
        assert_eq!(line[..length], std::fs::read("/proc/self/cmdline").unwrap());
        assert_eq!(initial.command_line(&mut line[..3]), 3);
        let length = initial.executable(&mut line);
        let name = String::from_utf8(line[..length].to_vec()).unwrap();
        assert_eq!(
            std::fs::canonicalize(name).unwrap(),
            std::env::current_exe().unwrap()
        );
        let mut words = Vec::new();
        initial.each_auxiliary(|key, value| words.extend([key, value]));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let told = std::fs::read("/proc/self/auxv").unwrap();
        assert!(words.len() > 20 && told.starts_with(&bytes));
    }
}
