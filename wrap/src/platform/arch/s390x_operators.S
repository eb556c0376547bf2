/* libmemlog_new.so on 64-bit IBM Z: the C++ operators in front of the next
 * ones.
 *
 * What an operator is, its mode says: 0 not known, 2 plain, else own; see
 * x86_64_operators.S.
 *
 * The DoorFrame is that of the doors; its first word is the handler's. */

#define MODE_PLAIN 2
#define REALS_AT 80     /* the modes of twenty operators */
#define ALIGNED 4       /* from here on operator new takes an alignment */

.macro operator name, index, kind
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        larl    %r1, memlog_operators
        l       %r0, 4*\index(%r1)
        chi     %r0, MODE_PLAIN
        jne     1f
        lg      %r1, REALS_AT+8*\index(%r1)
        br      %r1
1:      lghi    %r0, \index
        jg      \kind
        .cfi_endproc
        .size   \name, . - \name
.endm

.macro keep bytes
        stmg    %r6, %r15, 48(%r15)
        .cfi_offset r6, -112
        .cfi_offset r7, -104
        .cfi_offset r8, -96
        .cfi_offset r9, -88
        .cfi_offset r10, -80
        .cfi_offset r11, -72
        .cfi_offset r12, -64
        .cfi_offset r13, -56
        .cfi_offset r14, -48
        .cfi_offset r15, -40
        aghi    %r15, -\bytes
        .cfi_def_cfa_offset 160+\bytes
.endm

.macro restore bytes
        lmg     %r6, %r15, \bytes+48(%r15)
        .cfi_def_cfa_offset 160
        .cfi_restore r6
        .cfi_restore r7
        .cfi_restore r8
        .cfi_restore r9
        .cfi_restore r10
        .cfi_restore r11
        .cfi_restore r12
        .cfi_restore r13
        .cfi_restore r14
        .cfi_restore r15
.endm

/* The mode of the operator in r0 into r1, the table into r5. */
.macro mode
        larl    %r5, memlog_operators
        sllg    %r1, %r0, 2
        l       %r1, 0(%r1, %r5)
.endm

/* From an index in r0 to what is to be done; the arguments stay where they
 * are. Leaves the table in r5. */
.macro resolve kind
        mode
        ltr     %r1, %r1
        jne     1f
        keep    192
        stmg    %r2, %r4, 160(%r15)
        stg     %r0, 184(%r15)
        lgr     %r2, %r0
        lgr     %r3, %r5
        larl    %r4, _DYNAMIC
        brasl   %r14, memlog_operator_find@PLT
        lgr     %r1, %r2
        lmg     %r2, %r4, 160(%r15)
        lg      %r0, 184(%r15)
        larl    %r5, memlog_operators
        sllg    %r6, %r0, 2
        lt      %r6, 0(%r6, %r5)
        restore 192
        jne     1f
        ltgr    %r1, %r1
        je      .Lno_\kind
        br      %r1
1:      mode
        chi     %r1, MODE_PLAIN
        jne     2f
        sllg    %r1, %r0, 3
        lg      %r1, REALS_AT(%r1, %r5)
        br      %r1
2:
.endm

/* Opens a frame of so many bytes with the DoorFrame at its end. */
.macro enter bytes, at
        keep    \bytes
        stmg    %r6, %r14, \at+16(%r15)
        lghi    %r6, 0
        sllg    %r7, %r0, 3
        lg      %r7, REALS_AT(%r7, %r5)
        stmg    %r6, %r7, \at(%r15)
        stg     %r6, \at+88(%r15)
.endm

        .hidden _DYNAMIC
        .text
        .type   memlog_new, @function
        .p2align 4
memlog_new:
        .cfi_startproc
        resolve new
        enter   288, 192
        stmg    %r2, %r4, 160(%r15)
        stg     %r0, 184(%r15)
        la      %r2, 192(%r15)
        brasl   %r14, memlog_operator_new_begins@PLT
        lmg     %r2, %r4, 160(%r15)
        lg      %r1, 192+8(%r15)
        basr    %r14, %r1
        lmg     %r3, %r4, 160(%r15)
        lg      %r5, 184(%r15)
        la      %r6, 192(%r15)
        stg     %r2, 184(%r15)
        brasl   %r14, memlog_operator_new_done@PLT
        lg      %r2, 184(%r15)
        restore 288
        br      %r14
/* No definition anywhere: as the standard's own would begin. */
.Lno_new:
        cghi    %r0, ALIGNED
        jhe     1f
        jg      malloc@PLT
1:      lgr     %r1, %r2
        lgr     %r2, %r3
        lgr     %r3, %r1
        jg      memalign@PLT
        .cfi_endproc
        .size   memlog_new, . - memlog_new

        .type   memlog_delete, @function
        .p2align 4
memlog_delete:
        .cfi_startproc
        resolve delete
        enter   256, 160
        lgr     %r5, %r0
        la      %r6, 160(%r15)
        brasl   %r14, memlog_operator_delete@PLT
        restore 256
        br      %r14
.Lno_delete:
        jg      free@PLT
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
