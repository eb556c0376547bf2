/* The doorstep on 64-bit MIPS.
 *
 * A door hands its handler the program's arguments in a0 on and, one register
 * further, a DoorFrame, which ends at the caller's stack pointer:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 (the handler's mark)   24 gp   32 s0 to s7   96 s8   104 return address
 *
 * Only registers that no argument uses are touched: t0 to t3, t8, t9, v0, v1.
 * Whoever is called or jumped to has its own address in t9. Shapes as on x86_64. */

#include "doors-shape.h"

#define LIFE_ON 2
#define FRAME_BYTES 112
#define FRAME_AT 0

        .abicalls
        .option pic2

.macro function symbol
        .text
        .globl  \symbol
        .type   \symbol, @function
        .p2align 4
        .ent    \symbol
\symbol:
        .cfi_startproc
.endm
.macro end symbol
        .cfi_endproc
        .end    \symbol
        .size   \symbol, . - \symbol
.endm

/* See mips64.S. */
.macro table register, symbol
        lui     \register, %hi(%neg(%gp_rel(\symbol)))
        daddiu  \register, \register, %lo(%neg(%gp_rel(\symbol)))
        daddu   \register, \register, $t9
.endm

/* Opens a frame of so many bytes with the DoorFrame at its end; the caller's
 * registers and its return address as they were. gp is ours from here on. */
.macro enter symbol, bytes, at
        daddiu  $sp, $sp, -\bytes
        .cfi_def_cfa_offset \bytes
        sd      $ra, \at+104($sp)
        sd      $s8, \at+96($sp)
        sd      $gp, \at+24($sp)
        .cfi_offset 31, -8
        .cfi_offset 30, -16
        .cfi_offset 28, -88
        sd      $s0, \at+32($sp)
        sd      $s1, \at+40($sp)
        sd      $s2, \at+48($sp)
        sd      $s3, \at+56($sp)
        sd      $s4, \at+64($sp)
        sd      $s5, \at+72($sp)
        sd      $s6, \at+80($sp)
        sd      $s7, \at+88($sp)
        table   $gp, \symbol
.endm

.macro leave bytes
        ld      $ra, \bytes-8($sp)
        ld      $gp, \bytes-88($sp)
        daddiu  $sp, $sp, \bytes
        .cfi_def_cfa_offset 0
        .cfi_restore 31
        .cfi_restore 30
        .cfi_restore 28
.endm

/* The real function of a door, by the table of addresses. */
.macro real register, name, index, table
#ifdef MEMLOG_STATIC
        ld      \register, %got_disp(__real_\name)(\table)
#else
        ld      \register, %got_disp(memlog_reals)(\table)
        ld      \register, 8*\index(\register)
#endif
.endm

.macro call symbol
        ld      $t9, %got_disp(\symbol)($gp)
        jalr    $t9
.endm

/* The thread's word and the real function, into the DoorFrame. Life before
 * everything, TLS included: a call may come before there is a thread pointer. */
.macro know name, index, at
        move    $t1, $zero
        ld      $t0, %got_disp(memlog_life)($gp)
        lw      $t0, 0($t0)
        li      $t2, LIFE_ON
        bne     $t0, $t2, 9f
        ld      $t1, %gottprel(memlog_tls)($gp)
        rdhwr   $v1, $29
        daddu   $t1, $t1, $v1
        ld      $t1, 0($t1)
9:      real    $t2, \name, \index, $gp
        sd      $t1, \at($sp)
        sd      $t2, \at+8($sp)
.endm

.macro door name, symbol, arguments, index
        function \symbol
        enter   \symbol, FRAME_BYTES, FRAME_AT
        know    \name, \index, FRAME_AT
        daddiu  $a\arguments, $sp, FRAME_AT
        call    memlog_on_\name
        leave   FRAME_BYTES
        jr      $ra
        end \symbol
.endm

/* What a watched call may be that its handler wants to hear of. */
#define PRCTL 5153
#define SECCOMP 5312
#define WATCH_BYTES 176
#define WATCH_AT_END 64

/* A call of any number of arguments that goes on by a jump: with the stack as
 * it was, for it may return twice, or on another stack. The handler returns
 * where to. */
.macro watch name, symbol, index, always
        function \symbol
        .ifeq \always
        li      $t1, PRCTL
        beq     $a0, $t1, 1f
        li      $t1, SECCOMP
        beq     $a0, $t1, 1f
        table   $v1, \symbol
        real    $t1, \name, \index, $v1
#ifndef MEMLOG_STATIC
        beqz    $t1, 1f
#endif
        move    $t9, $t1
        jr      $t9
        .endif
1:      enter   \symbol, WATCH_BYTES, WATCH_AT_END
        sd      $a0, 0($sp)
        sd      $a1, 8($sp)
        sd      $a2, 16($sp)
        sd      $a3, 24($sp)
        sd      $a4, 32($sp)
        sd      $a5, 40($sp)
        sd      $a6, 48($sp)
        sd      $a7, 56($sp)
        know    \name, \index, WATCH_AT_END
        daddiu  $a3, $sp, WATCH_AT_END
        call    memlog_on_\name
        move    $t9, $v0
        ld      $a0, 0($sp)
        ld      $a1, 8($sp)
        ld      $a2, 16($sp)
        ld      $a3, 24($sp)
        ld      $a4, 32($sp)
        ld      $a5, 40($sp)
        ld      $a6, 48($sp)
        ld      $a7, 56($sp)
        leave   WATCH_BYTES
        beqz    $t9, 3f
        jr      $t9
3:      li      $v0, -1
        jr      $ra
        end \symbol
.endm

#define DOOR_AT(name, arguments, index) door name, MEMLOG_SYMBOL(name), arguments, index
#define WATCH_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 0
#define TELL_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 1
#include "doors-list.h"

#ifndef MEMLOG_MEMBER
/* Our own dynamic section, by which the loader's list knows us; none in the
 * static shape, where malloc_usable_size is the program's own. */
        .hidden memlog_own_dynamic
        function memlog_own_dynamic
#ifdef MEMLOG_STATIC
        move    $v0, $zero
#else
        .hidden _DYNAMIC
        table   $v0, memlog_own_dynamic
        ld      $v0, %got_disp(_DYNAMIC)($v0)
#endif
        jr      $ra
        end memlog_own_dynamic

        .hidden memlog_static_usable
        function memlog_static_usable
#ifdef MEMLOG_STATIC
        .weak   malloc_usable_size
        table   $v0, memlog_static_usable
        ld      $v0, %got_disp(malloc_usable_size)($v0)
#else
        move    $v0, $zero
#endif
        jr      $ra
        end memlog_static_usable
#endif

        .section .note.GNU-stack, "", @progbits
