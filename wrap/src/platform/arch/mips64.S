/* The few words of 64-bit MIPS assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions. */

#include "skeleton.h"

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno. The
 * kernel says in a3 whether it is an error. */
        own     memlog_syscall
        move    $v0, $a0
        move    $a0, $a1
        move    $a1, $a2
        move    $a2, $a3
        move    $a3, $a4
        move    $a4, $a5
        move    $a5, $a6
        syscall
        beqz    $a3, 1f
        dnegu   $v0, $v0
1:      jr      $ra
        end     memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set. Kernels know
 * the one instruction, with v1, on processors that do not. */
        own     memlog_tls_word
        table   $v0, memlog_tls_word
        ld      $v0, %gottprel(memlog_tls)($v0)
        rdhwr   $v1, $29
        daddu   $v0, $v0, $v1
        jr      $ra
        end     memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        own     memlog_stack_end
        table   $v0, memlog_stack_end
        ld      $v0, %got_disp(__libc_stack_end)($v0)
        beqz    $v0, 1f
        ld      $v0, 0($v0)
1:      jr      $ra
        end     memlog_stack_end

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. By words only where
 * they are aligned: elsewhere the kernel would have to do each of them. */
        own     memcpy
.Lforwards:
        move    $v0, $a0
        move    $t0, $a0
        or      $t1, $a0, $a1
        andi    $t1, $t1, 7
        bnez    $t1, 2f
1:      sltiu   $t1, $a2, 8
        bnez    $t1, 2f
        ld      $t1, 0($a1)
        sd      $t1, 0($t0)
        daddiu  $a1, $a1, 8
        daddiu  $t0, $t0, 8
        daddiu  $a2, $a2, -8
        b       1b
2:      beqz    $a2, 4f
        daddu   $a2, $t0, $a2
3:      lbu     $t1, 0($a1)
        sb      $t1, 0($t0)
        daddiu  $a1, $a1, 1
        daddiu  $t0, $t0, 1
        bne     $t0, $a2, 3b
4:      jr      $ra
        end     memcpy

        own     memmove
        dsubu   $t0, $a0, $a1
        sltu    $t0, $t0, $a2
        beqz    $t0, .Lforwards
        move    $v0, $a0
        daddu   $a1, $a1, $a2
        daddu   $t0, $a0, $a2
        or      $t1, $t0, $a1
        andi    $t1, $t1, 7
        bnez    $t1, 2f
1:      sltiu   $t1, $a2, 8
        bnez    $t1, 2f
        daddiu  $a1, $a1, -8
        daddiu  $t0, $t0, -8
        ld      $t1, 0($a1)
        sd      $t1, 0($t0)
        daddiu  $a2, $a2, -8
        b       1b
2:      beqz    $a2, 4f
3:      daddiu  $a1, $a1, -1
        daddiu  $t0, $t0, -1
        lbu     $t1, 0($a1)
        sb      $t1, 0($t0)
        bne     $t0, $a0, 3b
4:      jr      $ra
        end     memmove

        own     memset
        move    $v0, $a0
        move    $t0, $a0
        andi    $t1, $a0, 7
        bnez    $t1, 2f
        andi    $a1, $a1, 0xff
        dsll    $t1, $a1, 8
        or      $a1, $a1, $t1
        dsll    $t1, $a1, 16
        or      $a1, $a1, $t1
        dsll32  $t1, $a1, 0
        or      $a1, $a1, $t1
1:      sltiu   $t1, $a2, 8
        bnez    $t1, 2f
        sd      $a1, 0($t0)
        daddiu  $t0, $t0, 8
        daddiu  $a2, $a2, -8
        b       1b
2:      beqz    $a2, 4f
        daddu   $a2, $t0, $a2
3:      sb      $a1, 0($t0)
        daddiu  $t0, $t0, 1
        bne     $t0, $a2, 3b
4:      jr      $ra
        end     memset

        own     memcmp
.Lcompare:
        move    $v0, $zero
        beqz    $a2, 2f
        daddu   $a2, $a0, $a2
1:      lbu     $t0, 0($a0)
        lbu     $t1, 0($a1)
        bne     $t0, $t1, 3f
        daddiu  $a0, $a0, 1
        daddiu  $a1, $a1, 1
        bne     $a0, $a2, 1b
2:      jr      $ra
3:      subu    $v0, $t0, $t1
        jr      $ra
        end     memcmp

        own     bcmp
        b       .Lcompare
        end     bcmp

#include "words.h"
