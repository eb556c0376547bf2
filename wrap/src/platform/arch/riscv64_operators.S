/* libmemlog_new.so on 64-bit RISC-V: the C++ operators in front of the next
 * ones.
 *
 * What an operator is, its mode says: 0 not known, 2 plain, else own; see
 * x86_64_operators.S. The mode is read before the function that it is of.
 *
 * The DoorFrame is that of the doors; its first word is the handler's. */

#define MODE_PLAIN 2
#define REALS_AT 80     /* the modes of twenty operators */
#define ALIGNED 4       /* from here on operator new takes an alignment */

        .option pic

.macro operator name, index, kind
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        lla     t1, memlog_operators
        lw      t0, 4*\index(t1)
        fence   r, rw
        li      t2, MODE_PLAIN
        bne     t0, t2, 1f
        ld      t1, REALS_AT+8*\index(t1)
        jr      t1
1:      li      t3, \index
        j       \kind
        .cfi_endproc
        .size   \name, . - \name
.endm

.macro mode
        lla     t1, memlog_operators
        slli    t0, t3, 2
        add     t0, t0, t1
        lw      t0, 0(t0)
        fence   r, rw
.endm

/* From an index in t3 to what is to be done; the arguments stay where they
 * are. Leaves the table in t1. */
.macro resolve kind
        mode
        bnez    t0, 1f
        addi    sp, sp, -48
        .cfi_def_cfa_offset 48
        sd      ra, 40(sp)
        .cfi_offset ra, -8
        sd      a0, 0(sp)
        sd      a1, 8(sp)
        sd      a2, 16(sp)
        sd      t3, 24(sp)
        mv      a0, t3
        mv      a1, t1
        lla     a2, _DYNAMIC
        call    memlog_operator_find
        mv      t4, a0
        ld      a0, 0(sp)
        ld      a1, 8(sp)
        ld      a2, 16(sp)
        ld      t3, 24(sp)
        ld      ra, 40(sp)
        addi    sp, sp, 48
        .cfi_def_cfa_offset 0
        .cfi_restore ra
        mode
        bnez    t0, 1f
        beqz    t4, .Lno_\kind
        jr      t4
1:      li      t2, MODE_PLAIN
        bne     t0, t2, 2f
        slli    t0, t3, 3
        add     t0, t0, t1
        ld      t1, REALS_AT(t0)
        jr      t1
2:
.endm

/* Opens a frame of so many bytes with the DoorFrame at its end. */
.macro enter bytes, at
        addi    sp, sp, -\bytes
        .cfi_def_cfa_offset \bytes
        sd      ra, \at+120(sp)
        sd      s0, \at+112(sp)
        .cfi_offset ra, -8
        .cfi_offset s0, -16
        slli    t0, t3, 3
        add     t0, t0, t1
        ld      t0, REALS_AT(t0)
        sd      zero, \at(sp)
        sd      t0, \at+8(sp)
        sd      zero, \at+16(sp)
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
        ret
.endm

        .hidden _DYNAMIC
        .text
        .type   memlog_new, @function
        .p2align 4
memlog_new:
        .cfi_startproc
        resolve new
        enter   160, 32
        sd      a0, 0(sp)
        sd      a1, 8(sp)
        sd      a2, 16(sp)
        sd      t3, 24(sp)
        addi    a0, sp, 32
        call    memlog_operator_new_begins
        ld      a0, 0(sp)
        ld      a1, 8(sp)
        ld      a2, 16(sp)
        ld      t1, 32+8(sp)
        jalr    t1
        ld      a1, 0(sp)
        ld      a2, 8(sp)
        ld      a3, 24(sp)
        addi    a4, sp, 32
        sd      a0, 24(sp)
        call    memlog_operator_new_done
        ld      a0, 24(sp)
        leave   160
/* No definition anywhere: as the standard's own would begin. */
.Lno_new:
        li      t0, ALIGNED
        bgeu    t3, t0, 1f
        tail    malloc
1:      mv      t0, a0
        mv      a0, a1
        mv      a1, t0
        tail    memalign
        .cfi_endproc
        .size   memlog_new, . - memlog_new

        .type   memlog_delete, @function
        .p2align 4
memlog_delete:
        .cfi_startproc
        resolve delete
        enter   128, 0
        mv      a3, t3
        mv      a4, sp
        call    memlog_operator_delete
        leave   128
.Lno_delete:
        tail    free
        .cfi_endproc
        .size   memlog_delete, . - memlog_delete

#define NEW(index, name) operator name, index, memlog_new
#define DELETE(index, name) operator name, index, memlog_delete
#include "operators.h"

/* `Operators` of operators.rs: the modes, then the real functions. */
        .section .bss.memlog_operators, "aw", @nobits
        .type   memlog_operators, @object
        .balign 8
memlog_operators:
        .skip   REALS_AT + 8 * 20
        .size   memlog_operators, . - memlog_operators

        .section .note.GNU-stack, "", @progbits
