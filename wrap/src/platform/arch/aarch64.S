/* The few words of 64-bit ARM assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions, and the static data
 * that the doors read. */

.macro function symbol
        .text
        .globl  \symbol
        .hidden \symbol
        .type   \symbol, @function
        .p2align 4
\symbol:
        .cfi_startproc
        hint    #34             /* bti c */
.endm
.macro end symbol
        .cfi_endproc
        .size   \symbol, . - \symbol
.endm

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno */
        function memlog_syscall
        mov     x8, x0
        mov     x0, x1
        mov     x1, x2
        mov     x2, x3
        mov     x3, x4
        mov     x4, x5
        mov     x5, x6
        svc     #0
        ret
        end memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set */
        function memlog_tls_word
        mrs     x0, tpidr_el0
        adrp    x1, :gottprel:memlog_tls
        ldr     x1, [x1, #:gottprel_lo12:memlog_tls]
        add     x0, x0, x1
        ret
        end memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        function memlog_stack_end
        adrp    x0, :got:__libc_stack_end
        ldr     x0, [x0, #:got_lo12:__libc_stack_end]
        cbz     x0, 1f
        ldr     x0, [x0]
1:      ret
        end memlog_stack_end

/* What the doors say of their shape, where no doors are linked (tests). */
        .weak   memlog_own_dynamic
        function memlog_own_dynamic
        mov     x0, #0
        ret
        end memlog_own_dynamic
        .weak   memlog_static_usable
        function memlog_static_usable
        mov     x0, #0
        ret
        end memlog_static_usable

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. */
        function memcpy
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
        end memcpy

        function memmove
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
        end memmove

        function memset
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
        end memset

        function memcmp
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
        end memcmp

        function bcmp
        b       .Lcompare
        end bcmp

/* Fork wipes this page, so the child's first look says that it is one. */
        .section .bss.memlog_life, "aw", @nobits
        .globl  memlog_life
        .hidden memlog_life
        .type   memlog_life, @object
        .balign 65536
memlog_life:
        .skip   65536
        .size   memlog_life, 65536

        .section .tbss, "awT", @nobits
        .globl  memlog_tls
        .hidden memlog_tls
        .type   memlog_tls, @object
        .balign 8
memlog_tls:
        .skip   8
        .size   memlog_tls, 8

        .section .bss.memlog_reals, "aw", @nobits
        .globl  memlog_reals
        .hidden memlog_reals
        .type   memlog_reals, @object
        .balign 8
memlog_reals:
        .skip   8 * 64
        .size   memlog_reals, 8 * 64

        .section .note.GNU-stack, "", @progbits
