/* What of Blue Gene's kernel interface the program has linked, and the time
 * base: a table of function addresses (under ELFv1: of their descriptors), in
 * which 0 is a function that is not there. */

        .weak   Kernel_GetRank
        .weak   Kernel_GetJobID
        .weak   Kernel_GetMemorySize

        .section .data.rel.ro.memlog_cnk_functions, "aw"
        .globl  memlog_cnk_functions
        .hidden memlog_cnk_functions
        .type   memlog_cnk_functions, @object
        .balign 8
memlog_cnk_functions:
        .quad   Kernel_GetRank
        .quad   Kernel_GetJobID
        .quad   Kernel_GetMemorySize
#if defined(__powerpc64__) && _CALL_ELF != 2
        .quad   memlog_time_base
#else
        .quad   0
#endif
        .size   memlog_cnk_functions, . - memlog_cnk_functions

#if defined(__powerpc64__) && _CALL_ELF != 2
/* u64 memlog_time_base(void) */
        .hidden memlog_time_base
        .globl  memlog_time_base
        .type   memlog_time_base, @function
        .section .opd, "aw"
        .p2align 3
memlog_time_base:
        .quad   .Lcode_memlog_time_base, .TOC.@tocbase, 0
        .text
        .p2align 4
.Lcode_memlog_time_base:
        mfspr   3, 268
        blr
#endif

        .section .note.GNU-stack, "", @progbits
