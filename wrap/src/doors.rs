//! The doors by number: the order of `doors.h`, in which the assembly finds
//! the real functions.

/// A hooked function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each is the function of that name
#[repr(usize)]
pub enum Door {
    Malloc,
    Free,
    Calloc,
    Realloc,
    Memalign,
    Reallocarray,
    Cfree,
    PosixMemalign,
    AlignedAlloc,
    Valloc,
    Pvalloc,
    FreeSized,
    FreeAlignedSized,
    MallocUsableSize,
    Mmap,
    Mmap64,
    Munmap,
    Mremap,
    Brk,
    Sbrk,
    Fork,
    ImmediateExit,
    Dlclose,
    CxaFinalize,
    RegisterFrame,
    DeregisterFrame,
    Prctl,
    Syscall,
    ExitC,
    QuickExit,
    Abort,
    Daemon,
    Forkpty,
    Dlopen,
    Dlmopen,
    Setuid,
    Setgid,
    Seteuid,
    Setegid,
    Setreuid,
    Setregid,
    Setresuid,
    Setresgid,
    Capset,
    Chroot,
    Unshare,
    Execve,
    Execv,
    Execvp,
    Execvpe,
    Execl,
    Execlp,
    Execle,
    Fexecve,
}

/// The names, by number.
pub static NAMES: [&[u8]; 54] = [
    b"malloc",
    b"free",
    b"calloc",
    b"realloc",
    b"memalign",
    b"reallocarray",
    b"cfree",
    b"posix_memalign",
    b"aligned_alloc",
    b"valloc",
    b"pvalloc",
    b"free_sized",
    b"free_aligned_sized",
    b"malloc_usable_size",
    b"mmap",
    b"mmap64",
    b"munmap",
    b"mremap",
    b"brk",
    b"sbrk",
    b"fork",
    b"_exit",
    b"dlclose",
    b"__cxa_finalize",
    b"__register_frame",
    b"__deregister_frame",
    b"prctl",
    b"syscall",
    b"_Exit",
    b"quick_exit",
    b"abort",
    b"daemon",
    b"forkpty",
    b"dlopen",
    b"dlmopen",
    b"setuid",
    b"setgid",
    b"seteuid",
    b"setegid",
    b"setreuid",
    b"setregid",
    b"setresuid",
    b"setresgid",
    b"capset",
    b"chroot",
    b"unshare",
    b"execve",
    b"execv",
    b"execvp",
    b"execvpe",
    b"execl",
    b"execlp",
    b"execle",
    b"fexecve",
];

#[cfg(all(test, not(loom)))]
mod tests {
    use super::NAMES;

    #[test]
    fn the_table_is_that_of_the_assembly() {
        let listed: Vec<&str> = include_str!("doors.h")
            .lines()
            .filter_map(|line| line.split_once('('))
            .filter(|(kind, _)| ["CORE", "DOOR", "WATCH", "TELL"].contains(kind))
            .filter_map(|(_, line)| line.split(',').next())
            .collect();
        let named: Vec<&str> = NAMES
            .iter()
            .map(|name| std::str::from_utf8(name).unwrap())
            .collect();
        assert_eq!(listed, named);
    }
}
