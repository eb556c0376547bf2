/* The few words of 64-bit ARM assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions. */

#include "skeleton.h"

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno */
        own     memlog_syscall
        mov     x8, x0
        mov     x0, x1
        mov     x1, x2
        mov     x2, x3
        mov     x3, x4
        mov     x4, x5
        mov     x5, x6
        svc     #0
        ret
        end     memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set */
        own     memlog_tls_word
        mrs     x0, tpidr_el0
        adrp    x1, :gottprel:memlog_tls
        ldr     x1, [x1, #:gottprel_lo12:memlog_tls]
        add     x0, x0, x1
        ret
        end     memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        own     memlog_stack_end
        adrp    x0, :got:__libc_stack_end
        ldr     x0, [x0, #:got_lo12:__libc_stack_end]
        cbz     x0, 1f
        ldr     x0, [x0]
1:      ret
        end     memlog_stack_end

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. */
        own     memcpy
.Lforwards:
        mov     x3, x0
1:      subs    x2, x2, #8
        b.lo    2f
        ldr     x4, [x1], #8
        str     x4, [x3], #8
        b       1b
2:      adds    x2, x2, #8
        b.eq    4f
3:      ldrb    w4, [x1], #1
        strb    w4, [x3], #1
        subs    x2, x2, #1
        b.ne    3b
4:      ret
        end     memcpy

        own     memmove
        sub     x3, x0, x1
        cmp     x3, x2
        b.hs    .Lforwards
        add     x1, x1, x2
        add     x3, x0, x2
1:      subs    x2, x2, #8
        b.lo    2f
        ldr     x4, [x1, #-8]!
        str     x4, [x3, #-8]!
        b       1b
2:      adds    x2, x2, #8
        b.eq    4f
3:      ldrb    w4, [x1, #-1]!
        strb    w4, [x3, #-1]!
        subs    x2, x2, #1
        b.ne    3b
4:      ret
        end     memmove

        own     memset
        mov     x3, x0
        and     x1, x1, #0xff
        orr     x1, x1, x1, lsl #8
        orr     x1, x1, x1, lsl #16
        orr     x1, x1, x1, lsl #32
1:      subs    x2, x2, #8
        b.lo    2f
        str     x1, [x3], #8
        b       1b
2:      adds    x2, x2, #8
        b.eq    4f
3:      strb    w1, [x3], #1
        subs    x2, x2, #1
        b.ne    3b
4:      ret
        end     memset

        own     memcmp
.Lcompare:
        mov     x3, #0
1:      cmp     x3, x2
        b.eq    2f
        ldrb    w4, [x0, x3]
        ldrb    w5, [x1, x3]
        add     x3, x3, #1
        cmp     w4, w5
        b.eq    1b
        sub     w0, w4, w5
        ret
2:      mov     w0, #0
        ret
        end     memcmp

        own     bcmp
        b       .Lcompare
        end     bcmp

#include "words.h"
