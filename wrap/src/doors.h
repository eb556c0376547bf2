/* The one list of hooked functions. A line is
 *
 *   kind(name, number of arguments, the `Door` of Rust, the log's `Api` or -)
 *
 * and its number is that of the slot with the real function. Kinds:
 *
 *   CORE   one of the five names of the original's link line, which always lie
 *          in the archive's first object
 *   DOOR   any other: the handler makes the call
 *   WATCH  only looked at: the handler is asked for a few numbers that the first
 *          argument may be, and every call goes on by a jump that leaves no frame
 *   TELL   goes on by such a jump as well, but the handler always hears of it
 *
 * wrap/build makes of it `enum Door`, its names and a check of the handlers'
 * arguments, and what the assembly expands; cdylib/link makes the exported names,
 * staticlib/prelink memlog_s_ld_cmds and the members of memlog_s.a. */
CORE(malloc, 1, Malloc, Malloc)
CORE(free, 1, Free, Free)
CORE(calloc, 2, Calloc, Calloc)
CORE(realloc, 2, Realloc, Realloc)
CORE(memalign, 2, Memalign, Memalign)
DOOR(reallocarray, 3, Reallocarray, Reallocarray)
DOOR(cfree, 1, Cfree, Cfree)
DOOR(posix_memalign, 3, PosixMemalign, PosixMemalign)
DOOR(aligned_alloc, 2, AlignedAlloc, AlignedAlloc)
DOOR(valloc, 1, Valloc, Valloc)
DOOR(pvalloc, 1, Pvalloc, Pvalloc)
DOOR(free_sized, 2, FreeSized, FreeSized)
DOOR(free_aligned_sized, 3, FreeAlignedSized, FreeAlignedSized)
DOOR(malloc_usable_size, 1, MallocUsableSize, -)
DOOR(mallopt, 2, Mallopt, -)
DOOR(mmap, 6, Mmap, Mmap)
DOOR(mmap64, 6, Mmap64, Mmap)
DOOR(munmap, 2, Munmap, Munmap)
DOOR(mremap, 5, Mremap, Mremap)
DOOR(brk, 1, Brk, Brk)
DOOR(sbrk, 1, Sbrk, Sbrk)
DOOR(fork, 0, Fork, -)
DOOR(_exit, 1, ImmediateExit, -)
DOOR(dlclose, 1, Dlclose, -)
DOOR(__cxa_finalize, 1, CxaFinalize, -)
DOOR(__register_frame, 1, RegisterFrame, -)
DOOR(__deregister_frame, 1, DeregisterFrame, -)
DOOR(prctl, 5, Prctl, -)
WATCH(syscall, 7, Syscall, -)
TELL(_Exit, 1, ExitC, -)
TELL(quick_exit, 1, QuickExit, -)
TELL(abort, 0, Abort, -)
TELL(daemon, 2, Daemon, -)
TELL(forkpty, 4, Forkpty, -)
TELL(dlopen, 2, Dlopen, -)
TELL(dlmopen, 3, Dlmopen, -)
TELL(setuid, 1, Setuid, -)
TELL(setgid, 1, Setgid, -)
TELL(seteuid, 1, Seteuid, -)
TELL(setegid, 1, Setegid, -)
TELL(setreuid, 2, Setreuid, -)
TELL(setregid, 2, Setregid, -)
TELL(setresuid, 3, Setresuid, -)
TELL(setresgid, 3, Setresgid, -)
TELL(capset, 2, Capset, -)
TELL(chroot, 1, Chroot, -)
TELL(unshare, 1, Unshare, -)
TELL(execve, 3, Execve, -)
TELL(execv, 2, Execv, -)
TELL(execvp, 2, Execvp, -)
TELL(execvpe, 3, Execvpe, -)
TELL(execl, 2, Execl, -)
TELL(execlp, 2, Execlp, -)
TELL(execle, 2, Execle, -)
TELL(fexecve, 3, Fexecve, -)
