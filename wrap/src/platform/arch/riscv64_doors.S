/* The doorstep on 64-bit RISC-V.
 *
 * A door hands its handler the program's arguments in a0 on and, one register
 * further, a DoorFrame, which ends at the caller's stack pointer:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 (the handler's mark)   24 s1 to s11   112 s0   120 return address
 *
 * Only registers that no argument uses are touched: t0 on. None of the jumps
 * is through t0, which processors take for a return. Shapes as on x86_64. */

#include "doors-shape.h"

#define LIFE_ON 2
#define FRAME_BYTES 128
#define FRAME_AT 0

        .option pic
        .option norelax         /* see riscv64.S */

.macro function symbol
        .text
        .globl  \symbol
        .type   \symbol, @function
        .p2align 4
\symbol:
        .cfi_startproc
.endm

/* Opens a frame of so many bytes with the DoorFrame at its end; the caller's
 * registers and its return address as they were. */
.macro enter bytes, at
        addi    sp, sp, -\bytes
        .cfi_def_cfa_offset \bytes
        sd      ra, \at+120(sp)
        sd      s0, \at+112(sp)
        .cfi_offset ra, -8
        .cfi_offset s0, -16
        sd      s1, \at+24(sp)
        sd      s2, \at+32(sp)
        sd      s3, \at+40(sp)
        sd      s4, \at+48(sp)
        sd      s5, \at+56(sp)
        sd      s6, \at+64(sp)
        sd      s7, \at+72(sp)
        sd      s8, \at+80(sp)
        sd      s9, \at+88(sp)
        sd      s10, \at+96(sp)
        sd      s11, \at+104(sp)
        addi    s0, sp, \bytes
.endm

.macro leave bytes
        ld      ra, \bytes-8(sp)
        ld      s0, \bytes-16(sp)
        addi    sp, sp, \bytes
        .cfi_def_cfa_offset 0
        .cfi_restore ra
        .cfi_restore s0
.endm

/* The real function of a door. */
.macro real register, name, index
#ifdef MEMLOG_STATIC
        la      \register, __real_\name
#else
        ld      \register, memlog_reals+8*\index
#endif
.endm

/* The thread's word and the real function, into the DoorFrame. Life before
 * everything, TLS included: a call may come before relocation or before there
 * is a thread pointer. */
.macro know name, index, at
        li      t1, 0
        lw      t0, memlog_life
        li      t2, LIFE_ON
        bne     t0, t2, 9f
        la.tls.ie t1, memlog_tls
        add     t1, t1, tp
        ld      t1, 0(t1)
9:      real    t2, \name, \index
        sd      t1, \at(sp)
        sd      t2, \at+8(sp)
.endm

.macro door name, symbol, arguments, index
        function \symbol
        enter   FRAME_BYTES, FRAME_AT
        know    \name, \index, FRAME_AT
        addi    a\arguments, sp, FRAME_AT
        call    memlog_on_\name
        leave   FRAME_BYTES
        ret
        .cfi_endproc
        .size   \symbol, . - \symbol
.endm

/* What a watched call may be that its handler wants to hear of. */
#define PRCTL 167
#define SECCOMP 277
#define WATCH_BYTES 192
#define WATCH_AT_END 64

/* A call of any number of arguments that goes on by a jump: with the stack as
 * it was, for it may return twice, or on another stack. The handler returns
 * where to. */
.macro watch name, symbol, index, always
        function \symbol
        .ifeq \always
        li      t1, PRCTL
        beq     a0, t1, 1f
        li      t1, SECCOMP
        beq     a0, t1, 1f
        real    t1, \name, \index
#ifndef MEMLOG_STATIC
        beqz    t1, 1f
#endif
        jr      t1
        .endif
1:      enter   WATCH_BYTES, WATCH_AT_END
        sd      a0, 0(sp)
        sd      a1, 8(sp)
        sd      a2, 16(sp)
        sd      a3, 24(sp)
        sd      a4, 32(sp)
        sd      a5, 40(sp)
        sd      a6, 48(sp)
        sd      a7, 56(sp)
        know    \name, \index, WATCH_AT_END
        addi    a3, sp, WATCH_AT_END
        call    memlog_on_\name
        mv      t1, a0
        ld      a0, 0(sp)
        ld      a1, 8(sp)
        ld      a2, 16(sp)
        ld      a3, 24(sp)
        ld      a4, 32(sp)
        ld      a5, 40(sp)
        ld      a6, 48(sp)
        ld      a7, 56(sp)
        leave   WATCH_BYTES
        beqz    t1, 3f
        jr      t1
3:      li      a0, -1
        ret
        .cfi_endproc
        .size   \symbol, . - \symbol
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
        li      a0, 0
#else
        .hidden _DYNAMIC
        lla     a0, _DYNAMIC
#endif
        ret
        .cfi_endproc

        .hidden memlog_static_usable
        function memlog_static_usable
#ifdef MEMLOG_STATIC
        .weak   malloc_usable_size
        la      a0, malloc_usable_size
#else
        li      a0, 0
#endif
        ret
        .cfi_endproc
#endif

        .section .note.GNU-stack, "", @progbits
