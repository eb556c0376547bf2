/* The few words of 32-bit ARM assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions. */

#include "skeleton.h"

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno */
        own     memlog_syscall
        push    {r4-r7}
        .save   {r4-r7}
        mov     r7, r0
        mov     r0, r1
        mov     r1, r2
        mov     r2, r3
        ldr     r3, [sp, #16]
        ldr     r4, [sp, #20]
        ldr     r5, [sp, #24]
        svc     #0
        pop     {r4-r7}
        bx      lr
        end     memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set */
        own     memlog_tls_word
        mrc     p15, 0, r0, c13, c0, 3
        ldr     r1, 2f
1:      ldr     r1, [pc, r1]
        add     r0, r0, r1
        bx      lr
2:      .word   memlog_tls(GOTTPOFF) + (. - 1b - 8)
        end     memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        own     memlog_stack_end
        ldr     r0, 2f
1:      ldr     r0, [pc, r0]
        cmp     r0, #0
        ldrne   r0, [r0]
        bx      lr
2:      .word   __libc_stack_end(GOT_PREL) + (. - 1b - 8)
        end     memlog_stack_end

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. Words need not be
 * aligned. */
        own     memcpy
.Lforwards:
        mov     r3, r0
1:      subs    r2, r2, #4
        blo     2f
        ldr     ip, [r1], #4
        str     ip, [r3], #4
        b       1b
2:      adds    r2, r2, #4
        bxeq    lr
3:      ldrb    ip, [r1], #1
        strb    ip, [r3], #1
        subs    r2, r2, #1
        bne     3b
        bx      lr
        end     memcpy

        own     memmove
        sub     r3, r0, r1
        cmp     r3, r2
        bhs     .Lforwards
        add     r1, r1, r2
        add     r3, r0, r2
1:      subs    r2, r2, #4
        blo     2f
        ldr     ip, [r1, #-4]!
        str     ip, [r3, #-4]!
        b       1b
2:      adds    r2, r2, #4
        bxeq    lr
3:      ldrb    ip, [r1, #-1]!
        strb    ip, [r3, #-1]!
        subs    r2, r2, #1
        bne     3b
        bx      lr
        end     memmove

        own     memset
        mov     r3, r0
        and     r1, r1, #0xff
        orr     r1, r1, r1, lsl #8
        orr     r1, r1, r1, lsl #16
1:      subs    r2, r2, #4
        blo     2f
        str     r1, [r3], #4
        b       1b
2:      adds    r2, r2, #4
        bxeq    lr
3:      strb    r1, [r3], #1
        subs    r2, r2, #1
        bne     3b
        bx      lr
        end     memset

        own     memcmp
.Lcompare:
        mov     r3, r0
        mov     r0, #0
1:      subs    r2, r2, #1
        bxlo    lr
        ldrb    r0, [r3], #1
        ldrb    ip, [r1], #1
        subs    r0, r0, ip
        beq     1b
        bx      lr
        end     memcmp

        own     bcmp
        b       .Lcompare
        end     bcmp

#include "words.h"
