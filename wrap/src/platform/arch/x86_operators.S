/* libmemlog_new.so on 32-bit x86: the C++ operators in front of the next ones.
 *
 * What an operator is, its mode says: 0 not known, 2 plain, else own; see
 * x86_64_operators.S.
 *
 * The DoorFrame is that of the doors; its first word is the handler's. */

#define MODE_PLAIN 2
#define REALS_AT 80     /* the modes of twenty operators */
#define ALIGNED 4       /* from here on operator new takes an alignment */
#define FRAME 32        /* of a DoorFrame, without what the call itself pushed */
#define OPERATORS memlog_operators@GOTOFF

        .text
        .type   memlog_operators_pc, @function
memlog_operators_pc:
        .cfi_startproc
        movl    (%esp), %ecx
        ret
        .cfi_endproc
        .size   memlog_operators_pc, . - memlog_operators_pc

.macro lower bytes
        subl    $\bytes, %esp
        .cfi_adjust_cfa_offset \bytes
.endm
.macro raise bytes
        addl    $\bytes, %esp
        .cfi_adjust_cfa_offset -\bytes
.endm
.macro table
        call    memlog_operators_pc
        addl    $_GLOBAL_OFFSET_TABLE_, %ecx
.endm

.macro operator name, index, kind
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        table
        cmpl    $MODE_PLAIN, OPERATORS+4*\index(%ecx)
        jne     1f
        jmp     *OPERATORS+REALS_AT+4*\index(%ecx)
1:      movl    $\index, %eax
        jmp     \kind
        .cfi_endproc
        .size   \name, . - \name
.endm

/* From an index in eax and the table of addresses in ecx, both of which stay, to
 * what is to be done. */
.macro resolve kind
        movl    OPERATORS(%ecx,%eax,4), %edx
        testl   %edx, %edx
        jne     1f
        lower   28
        movl    %eax, (%esp)
        movl    %eax, 20(%esp)
        leal    OPERATORS(%ecx), %edx
        movl    %edx, 4(%esp)
        leal    _DYNAMIC@GOTOFF(%ecx), %edx
        movl    %edx, 8(%esp)
        movl    $0, 12(%esp)
        movl    %ebx, 24(%esp)
        .cfi_rel_offset %ebx, 24
        movl    %ecx, %ebx
        call    memlog_operator_find@PLT
        movl    %ebx, %ecx
        movl    24(%esp), %ebx
        .cfi_restore %ebx
        pushl   %eax
        .cfi_adjust_cfa_offset 4
        movl    24(%esp), %eax
        movl    OPERATORS(%ecx,%eax,4), %edx
        testl   %edx, %edx
        jne     3f
        popl    %edx
        .cfi_adjust_cfa_offset -4
        raise   28
        testl   %edx, %edx
        je      .Lno_\kind
        jmp     *%edx
3:      .cfi_adjust_cfa_offset 32
        raise   32
1:      cmpl    $MODE_PLAIN, %edx
        jne     2f
        jmp     *OPERATORS+REALS_AT(%ecx,%eax,4)
2:
.endm

/* The caller's registers, into a DoorFrame at this distance above sp; ebx is
 * for the table of addresses then, as calls of others want it. */
.macro save at
        movl    %ebx, \at+12(%esp)
        .cfi_rel_offset %ebx, \at+12
        movl    %esi, \at+16(%esp)
        movl    %edi, \at+20(%esp)
        movl    %ebp, \at+24(%esp)
        movl    OPERATORS+REALS_AT(%ecx,%eax,4), %edx
        movl    $0, \at(%esp)
        movl    $0, \at+4(%esp)
        movl    %edx, \at+8(%esp)
        movl    $0, \at+28(%esp)
        movl    %ecx, %ebx
.endm

        .hidden _DYNAMIC
        .type   memlog_new, @function
        .p2align 4
memlog_new:
        .cfi_startproc
        resolve new
        /* Five words for calls, one for the block, one for the index. */
        lower   FRAME+28
        save    28
        movl    %eax, 20(%esp)
        leal    28(%esp), %eax
        movl    %eax, (%esp)
        call    memlog_operator_new_begins@PLT
        .irp    word, 0, 1, 2
        movl    FRAME+28+4+4*\word(%esp), %eax
        movl    %eax, 4*\word(%esp)
        .endr
        call    *28+8(%esp)
        movl    %eax, (%esp)
        movl    %eax, 24(%esp)
        movl    FRAME+28+4(%esp), %eax
        movl    %eax, 4(%esp)
        movl    FRAME+28+8(%esp), %eax
        movl    %eax, 8(%esp)
        movl    20(%esp), %eax
        movl    %eax, 12(%esp)
        leal    28(%esp), %eax
        movl    %eax, 16(%esp)
        call    memlog_operator_new_done@PLT
        movl    24(%esp), %eax
        movl    28+12(%esp), %ebx
        .cfi_restore %ebx
        raise   FRAME+28
        ret
/* No definition anywhere: as the standard's own would begin. */
.Lno_new:
        cmpl    $ALIGNED, %eax
        jae     1f
        jmp     *malloc@GOT(%ecx)
1:      movl    4(%esp), %eax
        movl    8(%esp), %edx
        movl    %eax, 8(%esp)
        movl    %edx, 4(%esp)
        jmp     *memalign@GOT(%ecx)
        .cfi_endproc
        .size   memlog_new, . - memlog_new

        .type   memlog_delete, @function
        .p2align 4
memlog_delete:
        .cfi_startproc
        resolve delete
        lower   FRAME+28
        save    28
        movl    %eax, 12(%esp)
        leal    28(%esp), %eax
        movl    %eax, 16(%esp)
        .irp    word, 0, 1, 2
        movl    FRAME+28+4+4*\word(%esp), %eax
        movl    %eax, 4*\word(%esp)
        .endr
        call    memlog_operator_delete@PLT
        movl    28+12(%esp), %ebx
        .cfi_restore %ebx
        raise   FRAME+28
        ret
.Lno_delete:
        jmp     *free@GOT(%ecx)
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
        .skip   REALS_AT + 4 * 20
        .size   memlog_operators, . - memlog_operators

        .section .note.GNU-stack, "", @progbits
