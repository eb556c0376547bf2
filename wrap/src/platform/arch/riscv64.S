/* The few words of 64-bit RISC-V assembly that Rust cannot say: system calls,
 * the thread's word, private copies of the memory functions, and the static
 * data that the doors read.
 *
 * pic: `la` is by the table of addresses, `lla` by the distance. norelax: of
 * what `ld -r` joined, a last link that takes bytes out aligns nothing anew. */

        .option pic
        .option norelax

.macro function symbol
        .text
        .globl  \symbol
        .hidden \symbol
        .type   \symbol, @function
        .p2align 4
\symbol:
        .cfi_startproc
.endm
.macro end symbol
        .cfi_endproc
        .size   \symbol, . - \symbol
.endm

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno */
        function memlog_syscall
        mv      a7, a0
        mv      a0, a1
        mv      a1, a2
        mv      a2, a3
        mv      a3, a4
        mv      a4, a5
        mv      a5, a6
        ecall
        ret
        end memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set */
        function memlog_tls_word
        la.tls.ie a0, memlog_tls
        add     a0, a0, tp
        ret
        end memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        function memlog_stack_end
        la      a0, __libc_stack_end
        beqz    a0, 1f
        ld      a0, 0(a0)
1:      ret
        end memlog_stack_end

/* What the doors say of their shape, where no doors are linked (tests). */
        .weak   memlog_own_dynamic
        function memlog_own_dynamic
        li      a0, 0
        ret
        end memlog_own_dynamic
        .weak   memlog_static_usable
        function memlog_static_usable
        li      a0, 0
        ret
        end memlog_static_usable

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. By words only where
 * they are aligned: elsewhere the kernel may have to do each of them. */
        function memcpy
.Lforwards:
        mv      t0, a0
        or      t1, a0, a1
        andi    t1, t1, 7
        bnez    t1, 2f
        li      t2, 8
1:      bltu    a2, t2, 2f
        ld      t1, 0(a1)
        sd      t1, 0(t0)
        addi    a1, a1, 8
        addi    t0, t0, 8
        addi    a2, a2, -8
        j       1b
2:      beqz    a2, 4f
        add     a2, t0, a2
3:      lbu     t1, 0(a1)
        sb      t1, 0(t0)
        addi    a1, a1, 1
        addi    t0, t0, 1
        bne     t0, a2, 3b
4:      ret
        end memcpy

        function memmove
        sub     t0, a0, a1
        bgeu    t0, a2, .Lforwards
        add     a1, a1, a2
        add     t0, a0, a2
        or      t1, t0, a1
        andi    t1, t1, 7
        bnez    t1, 2f
        li      t2, 8
1:      bltu    a2, t2, 2f
        addi    a1, a1, -8
        addi    t0, t0, -8
        ld      t1, 0(a1)
        sd      t1, 0(t0)
        addi    a2, a2, -8
        j       1b
2:      beqz    a2, 4f
3:      addi    a1, a1, -1
        addi    t0, t0, -1
        lbu     t1, 0(a1)
        sb      t1, 0(t0)
        bne     t0, a0, 3b
4:      ret
        end memmove

        function memset
        mv      t0, a0
        andi    t1, a0, 7
        bnez    t1, 2f
        andi    a1, a1, 0xff
        slli    t1, a1, 8
        or      a1, a1, t1
        slli    t1, a1, 16
        or      a1, a1, t1
        slli    t1, a1, 32
        or      a1, a1, t1
        li      t2, 8
1:      bltu    a2, t2, 2f
        sd      a1, 0(t0)
        addi    t0, t0, 8
        addi    a2, a2, -8
        j       1b
2:      beqz    a2, 4f
        add     a2, t0, a2
3:      sb      a1, 0(t0)
        addi    t0, t0, 1
        bne     t0, a2, 3b
4:      ret
        end memset

        function memcmp
.Lcompare:
        beqz    a2, 2f
        add     a2, a0, a2
1:      lbu     t0, 0(a0)
        lbu     t1, 0(a1)
        bne     t0, t1, 3f
        addi    a0, a0, 1
        addi    a1, a1, 1
        bne     a0, a2, 1b
2:      li      a0, 0
        ret
3:      sub     a0, t0, t1
        ret
        end memcmp

        function bcmp
        j       .Lcompare
        end bcmp

/* Fork wipes this page, so the child's first look says that it is one. */
        .section .bss.memlog_life, "aw", @nobits
        .globl  memlog_life
        .hidden memlog_life
        .type   memlog_life, @object
        .balign 4096
memlog_life:
        .skip   4096
        .size   memlog_life, 4096

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
