/* The few words of 64-bit PowerPC assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions. */

#include "skeleton.h"

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno */
        own     memlog_syscall
        mr      0, 3
        mr      3, 4
        mr      4, 5
        mr      5, 6
        mr      6, 7
        mr      7, 8
        mr      8, 9
        sc
        bnslr
        neg     3, 3
        blr
        end     memlog_syscall

/* u64 *memlog_tls_word(void) */
        own     memlog_tls_word
        addis   3, 2, memlog_tls@got@tprel@ha
        ld      3, memlog_tls@got@tprel@l(3)
        add     3, 3, memlog_tls@tls
        blr
        end     memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        .section .toc, "aw"
.Lstack_end:
        .tc     __libc_stack_end[TC], __libc_stack_end
        own     memlog_stack_end
        ld      3, .Lstack_end@toc(2)
        cmpdi   3, 0
        beqlr
        ld      3, 0(3)
        blr
        end     memlog_stack_end

/* Private copies: the compiler calls these by name. */
        own     memcpy
        cmpldi  5, 0
        beqlr
        mtctr   5
        addi    6, 3, -1
        addi    4, 4, -1
1:      lbzu    0, 1(4)
        stbu    0, 1(6)
        bdnz    1b
        blr
        end     memcpy

        own     memmove
        cmpldi  5, 0
        beqlr
        mtctr   5
        subf    0, 4, 3
        cmpld   0, 5
        blt     2f
        addi    6, 3, -1
        addi    4, 4, -1
1:      lbzu    0, 1(4)
        stbu    0, 1(6)
        bdnz    1b
        blr
2:      add     6, 3, 5
        add     4, 4, 5
3:      lbzu    0, -1(4)
        stbu    0, -1(6)
        bdnz    3b
        blr
        end     memmove

        own     memset
        cmpldi  5, 0
        beqlr
        mtctr   5
        addi    6, 3, -1
1:      stbu    4, 1(6)
        bdnz    1b
        blr
        end     memset

        own     memcmp
        b       .Lcompare
        end     memcmp
        own     bcmp
.Lcompare:
        cmpldi  5, 0
        beq     2f
        mtctr   5
        addi    3, 3, -1
        addi    4, 4, -1
1:      lbzu    6, 1(3)
        lbzu    7, 1(4)
        subf.   0, 7, 6
        bne     3f
        bdnz    1b
2:      li      3, 0
        blr
3:      mr      3, 0
        blr
        end     bcmp

#include "words.h"
