/* The few words of 64-bit PowerPC assembly that Rust cannot say: system
 * calls, the thread's word, private copies of the memory functions, and the
 * static data that the doors read. */

.macro function symbol
        .globl  \symbol
        .hidden \symbol
        .type   \symbol, @function
#if _CALL_ELF == 2
        .text
        .p2align 4
\symbol:
0:      addis   2, 12, .TOC.-0b@ha
        addi    2, 2, .TOC.-0b@l
        .localentry \symbol, .-\symbol
#else
        .section .opd, "aw"
        .p2align 3
\symbol:
        .quad   .Lcode_\symbol, .TOC.@tocbase, 0
        .text
        .p2align 4
.Lcode_\symbol:
#endif
.endm

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno */
        function memlog_syscall
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

/* u64 *memlog_tls_word(void) */
        function memlog_tls_word
        addis   3, 2, memlog_tls@got@tprel@ha
        ld      3, memlog_tls@got@tprel@l(3)
        add     3, 3, memlog_tls@tls
        blr

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        .section .toc, "aw"
.Lstack_end:
        .tc     __libc_stack_end[TC], __libc_stack_end
        function memlog_stack_end
        ld      3, .Lstack_end@toc(2)
        cmpdi   3, 0
        beqlr
        ld      3, 0(3)
        blr

/* What the doors say of their shape, where no doors are linked (tests). */
        .weak   memlog_own_dynamic
        function memlog_own_dynamic
        li      3, 0
        blr
        .weak   memlog_static_usable
        function memlog_static_usable
        li      3, 0
        blr

/* Private copies: the compiler calls these by name. */
        function memcpy
        cmpldi  5, 0
        beqlr
        mtctr   5
        addi    6, 3, -1
        addi    4, 4, -1
1:      lbzu    0, 1(4)
        stbu    0, 1(6)
        bdnz    1b
        blr

        function memmove
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

        function memset
        cmpldi  5, 0
        beqlr
        mtctr   5
        addi    6, 3, -1
1:      stbu    4, 1(6)
        bdnz    1b
        blr

        function memcmp
        b       .Lcompare
        function bcmp
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
