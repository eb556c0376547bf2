/* The few words of IBM Z assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions. */

#include "skeleton.h"

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno. r6 and
 * r7 are the caller's, so they wait in his area. mmap takes its arguments from
 * memory. */
#define MMAP 90
        own     memlog_syscall
        stmg    %r6, %r7, 48(%r15)
        .cfi_offset r6, -112
        .cfi_offset r7, -104
        lgr     %r1, %r2
        lgr     %r2, %r3
        lgr     %r3, %r4
        lgr     %r4, %r5
        lgr     %r5, %r6
        lg      %r6, 160(%r15)
        lg      %r7, 168(%r15)
        cghi    %r1, MMAP
        je      1f
        svc     0
        lmg     %r6, %r7, 48(%r15)
        br      %r14
1:      aghi    %r15, -48
        .cfi_adjust_cfa_offset 48
        stmg    %r2, %r7, 0(%r15)
        lgr     %r2, %r15
        svc     0
        aghi    %r15, 48
        .cfi_adjust_cfa_offset -48
        lmg     %r6, %r7, 48(%r15)
        br      %r14
        end     memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set */
        own     memlog_tls_word
        ear     %r1, %a0
        sllg    %r1, %r1, 32
        ear     %r1, %a1
        larl    %r2, memlog_tls@indntpoff
        lg      %r2, 0(%r2)
        la      %r2, 0(%r2, %r1)
        br      %r14
        end     memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        own     memlog_stack_end
        larl    %r2, __libc_stack_end@GOTENT
        lg      %r2, 0(%r2)
        ltgr    %r2, %r2
        je      1f
        lg      %r2, 0(%r2)
1:      br      %r14
        end     memlog_stack_end

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. */
        own     memcpy
.Lforwards:
        ltgr    %r4, %r4
        ber     %r14
        lgr     %r5, %r2
1:      aghi    %r4, -8
        jl      2f
        lg      %r1, 0(%r3)
        stg     %r1, 0(%r5)
        la      %r3, 8(%r3)
        la      %r5, 8(%r5)
        j       1b
2:      aghi    %r4, 8
        ber     %r14
3:      ic      %r1, 0(%r3)
        stc     %r1, 0(%r5)
        la      %r3, 1(%r3)
        la      %r5, 1(%r5)
        brctg   %r4, 3b
        br      %r14
        end     memcpy

        own     memmove
        lgr     %r1, %r2
        sgr     %r1, %r3
        clgr    %r1, %r4
        jnl     .Lforwards
        ltgr    %r4, %r4
        ber     %r14
        la      %r3, 0(%r3, %r4)
        la      %r5, 0(%r2, %r4)
1:      aghi    %r3, -1
        aghi    %r5, -1
        ic      %r1, 0(%r3)
        stc     %r1, 0(%r5)
        brctg   %r4, 1b
        br      %r14
        end     memmove

        own     memset
        ltgr    %r4, %r4
        ber     %r14
        lgr     %r5, %r2
1:      stc     %r3, 0(%r5)
        la      %r5, 1(%r5)
        brctg   %r4, 1b
        br      %r14
        end     memset

        own     memcmp
.Lcompare:
        ltgr    %r4, %r4
        je      2f
1:      llgc    %r1, 0(%r2)
        llgc    %r5, 0(%r3)
        la      %r2, 1(%r2)
        la      %r3, 1(%r3)
        sgr     %r1, %r5
        jne     3f
        brctg   %r4, 1b
2:      lghi    %r2, 0
        br      %r14
3:      lgr     %r2, %r1
        br      %r14
        end     memcmp

        own     bcmp
        j       .Lcompare
        end     bcmp

#include "words.h"
