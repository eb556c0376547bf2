/* The one table of hooked names: DOOR(name, number of arguments). A WATCH is
 * only looked at: its handler is asked for a few numbers that the first
 * argument may be, and every call goes on by a jump that leaves no frame. So
 * does that of a TELL, whose handler always hears of it first.
 *
 * Read by the shims of every architecture, by the build script (exported
 * names, memlog_s_ld_cmds, the members of memlog_s.a) and by a test that holds
 * it against the handlers. CORE doors are the five names of the original's
 * link line and always lie in the archive's first object. */
CORE(malloc, 1)
CORE(free, 1)
CORE(calloc, 2)
CORE(realloc, 2)
CORE(memalign, 2)
DOOR(reallocarray, 3)
DOOR(cfree, 1)
DOOR(posix_memalign, 3)
DOOR(aligned_alloc, 2)
DOOR(valloc, 1)
DOOR(pvalloc, 1)
DOOR(free_sized, 2)
DOOR(free_aligned_sized, 3)
DOOR(malloc_usable_size, 1)
DOOR(mmap, 6)
DOOR(mmap64, 6)
DOOR(munmap, 2)
DOOR(mremap, 5)
DOOR(brk, 1)
DOOR(sbrk, 1)
DOOR(fork, 0)
DOOR(_exit, 1)
DOOR(dlclose, 1)
DOOR(__cxa_finalize, 1)
DOOR(__register_frame, 1)
DOOR(__deregister_frame, 1)
DOOR(prctl, 5)
WATCH(syscall, 7)
TELL(_Exit, 1)
TELL(quick_exit, 1)
TELL(abort, 0)
TELL(daemon, 2)
TELL(forkpty, 4)
TELL(dlopen, 2)
TELL(dlmopen, 3)
