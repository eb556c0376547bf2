/* The few words of 64-bit RISC-V assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions. */

#include "skeleton.h"

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno */
        own     memlog_syscall
        mv      a7, a0
        mv      a0, a1
        mv      a1, a2
        mv      a2, a3
        mv      a3, a4
        mv      a4, a5
        mv      a5, a6
        ecall
        ret
        end     memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set */
        own     memlog_tls_word
        la.tls.ie a0, memlog_tls
        add     a0, a0, tp
        ret
        end     memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        own     memlog_stack_end
        la      a0, __libc_stack_end
        beqz    a0, 1f
        ld      a0, 0(a0)
1:      ret
        end     memlog_stack_end

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. By words only where
 * they are aligned: elsewhere the kernel may have to do each of them. */
        own     memcpy
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
        end     memcpy

        own     memmove
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
        end     memmove

        own     memset
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
        end     memset

        own     memcmp
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
        end     memcmp

        own     bcmp
        j       .Lcompare
        end     bcmp

#include "words.h"
