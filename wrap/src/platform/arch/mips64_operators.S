/* libmemlog_new.so on 64-bit MIPS: the C++ operators in front of the next
 * ones.
 *
 * What an operator is, its mode says: 0 not known, 2 plain, else own; see
 * x86_64_operators.S. The mode is read before the function that it is of.
 *
 * The DoorFrame is that of the doors; its first word is the handler's. Where
 * the table of addresses is, the operator finds from t9 and leaves in v1. */

#define MODE_PLAIN 2
#define REALS_AT 80     /* the modes of twenty operators */
#define ALIGNED 4       /* from here on operator new takes an alignment */

        .abicalls
        .option pic2

.macro operator name, index, kind
        .globl  \name
        .type   \name, @function
        .p2align 4
        .ent    \name
\name:
        .cfi_startproc
        lui     $v1, %hi(%neg(%gp_rel(\name)))
        daddiu  $v1, $v1, %lo(%neg(%gp_rel(\name)))
        daddu   $v1, $v1, $t9
        ld      $t1, %got_disp(memlog_operators)($v1)
        lw      $t0, 4*\index($t1)
        sync
        li      $t2, MODE_PLAIN
        bne     $t0, $t2, 1f
        ld      $t9, REALS_AT+8*\index($t1)
        jr      $t9
1:      li      $t3, \index
        b       \kind
        .cfi_endproc
        .end    \name
        .size   \name, . - \name
.endm

.macro mode
        ld      $t1, %got_disp(memlog_operators)($v1)
        dsll    $t0, $t3, 2
        daddu   $t0, $t0, $t1
        lw      $t0, 0($t0)
        sync
.endm

.macro call symbol
        ld      $t9, %got_disp(\symbol)($gp)
        jalr    $t9
.endm

/* Onwards by a jump, as if the caller had called it. */
.macro tail symbol
        ld      $t9, %got_disp(\symbol)($v1)
        jr      $t9
.endm

/* From an index in t3 to what is to be done; the arguments stay where they
 * are. Leaves the table of operators in t1. */
.macro resolve kind
        mode
        bnez    $t0, 1f
        daddiu  $sp, $sp, -64
        .cfi_def_cfa_offset 64
        sd      $ra, 56($sp)
        sd      $gp, 40($sp)
        .cfi_offset 31, -8
        .cfi_offset 28, -24
        sd      $a0, 0($sp)
        sd      $a1, 8($sp)
        sd      $a2, 16($sp)
        sd      $t3, 24($sp)
        sd      $v1, 32($sp)
        move    $gp, $v1
        move    $a0, $t3
        move    $a1, $t1
        ld      $a2, %got_disp(_DYNAMIC)($gp)
        call    memlog_operator_find
        move    $t9, $v0
        ld      $a0, 0($sp)
        ld      $a1, 8($sp)
        ld      $a2, 16($sp)
        ld      $t3, 24($sp)
        ld      $v1, 32($sp)
        ld      $gp, 40($sp)
        ld      $ra, 56($sp)
        daddiu  $sp, $sp, 64
        .cfi_def_cfa_offset 0
        .cfi_restore 31
        .cfi_restore 28
        mode
        bnez    $t0, 1f
        beqz    $t9, .Lno_\kind
        jr      $t9
1:      li      $t2, MODE_PLAIN
        bne     $t0, $t2, 2f
        dsll    $t0, $t3, 3
        daddu   $t0, $t0, $t1
        ld      $t9, REALS_AT($t0)
        jr      $t9
2:
.endm

/* Opens a frame of so many bytes with the DoorFrame at its end. */
.macro enter bytes, at
        daddiu  $sp, $sp, -\bytes
        .cfi_def_cfa_offset \bytes
        sd      $ra, \at+104($sp)
        sd      $s8, \at+96($sp)
        sd      $gp, \at+24($sp)
        .cfi_offset 31, -8
        .cfi_offset 30, -16
        .cfi_offset 28, -88
        dsll    $t0, $t3, 3
        daddu   $t0, $t0, $t1
        ld      $t0, REALS_AT($t0)
        sd      $zero, \at($sp)
        sd      $t0, \at+8($sp)
        sd      $zero, \at+16($sp)
        sd      $s0, \at+32($sp)
        sd      $s1, \at+40($sp)
        sd      $s2, \at+48($sp)
        sd      $s3, \at+56($sp)
        sd      $s4, \at+64($sp)
        sd      $s5, \at+72($sp)
        sd      $s6, \at+80($sp)
        sd      $s7, \at+88($sp)
        move    $gp, $v1
.endm

.macro leave bytes
        ld      $ra, \bytes-8($sp)
        ld      $gp, \bytes-88($sp)
        .set    noreorder       /* said of each file; compilers' are so */
        jr      $ra
        daddiu  $sp, $sp, \bytes
        .set    reorder
        .cfi_def_cfa_offset 0
        .cfi_restore 31
        .cfi_restore 30
        .cfi_restore 28
.endm

        .hidden _DYNAMIC
        .text
        .type   memlog_new, @function
        .p2align 4
        .ent    memlog_new
memlog_new:
        .cfi_startproc
        resolve new
        enter   144, 32
        sd      $a0, 0($sp)
        sd      $a1, 8($sp)
        sd      $a2, 16($sp)
        sd      $t3, 24($sp)
        daddiu  $a0, $sp, 32
        call    memlog_operator_new_begins
        ld      $a0, 0($sp)
        ld      $a1, 8($sp)
        ld      $a2, 16($sp)
        ld      $t9, 32+8($sp)
        jalr    $t9
        move    $a0, $v0
        ld      $a1, 0($sp)
        ld      $a2, 8($sp)
        ld      $a3, 24($sp)
        daddiu  $a4, $sp, 32
        sd      $v0, 24($sp)
        call    memlog_operator_new_done
        ld      $v0, 24($sp)
        leave   144
/* No definition anywhere: as the standard's own would begin. */
.Lno_new:
        sltiu   $t0, $t3, ALIGNED
        beqz    $t0, 1f
        tail    malloc
1:      move    $t0, $a0
        move    $a0, $a1
        move    $a1, $t0
        tail    memalign
        .cfi_endproc
        .end    memlog_new
        .size   memlog_new, . - memlog_new

        .type   memlog_delete, @function
        .p2align 4
        .ent    memlog_delete
memlog_delete:
        .cfi_startproc
        resolve delete
        enter   112, 0
        move    $a3, $t3
        move    $a4, $sp
        call    memlog_operator_delete
        leave   112
.Lno_delete:
        tail    free
        .cfi_endproc
        .end    memlog_delete
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
