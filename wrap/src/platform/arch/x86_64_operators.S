/* libmemlog_new.so on x86_64: the C++ operators in front of the next ones.
 *
 * What an operator is, its mode says:
 *   0  not known: memlog_operator_find looks for the next definition
 *   2  plain: it ends in malloc, so that one jump leads on and no frame is left
 *   else  own: it ends in an allocator's internals and is recorded here
 *
 * An own operator new is called with nothing held, for it may throw or jump
 * away: the frame below is crossed by its CFI alone. An own operator delete
 * does neither and is called by its handler, as free is.
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
        endbr64
        cmpl    $MODE_PLAIN, memlog_operators+4*\index(%rip)
        jne     1f
        jmp     *memlog_operators+REALS_AT+8*\index(%rip)
1:      movl    $\index, %eax
        jmp     \kind
        .cfi_endproc
        .size   \name, . - \name
.endm

/* From an index in eax to what is to be done; the arguments stay where they are. */
.macro resolve kind
        leaq    memlog_operators(%rip), %r11
        movl    (%r11,%rax,4), %ecx
        testl   %ecx, %ecx
        jne     1f
        subq    $40, %rsp
        .cfi_adjust_cfa_offset 40
        movq    %rdi, (%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rax, 24(%rsp)
        movl    %eax, %edi
        movq    %r11, %rsi
        leaq    _DYNAMIC(%rip), %rdx
        call    *memlog_operator_find@GOTPCREL(%rip)
        movq    %rax, %r10
        movq    (%rsp), %rdi
        movq    8(%rsp), %rsi
        movq    16(%rsp), %rdx
        movq    24(%rsp), %rax
        addq    $40, %rsp
        .cfi_adjust_cfa_offset -40
        leaq    memlog_operators(%rip), %r11
        movl    (%r11,%rax,4), %ecx
        testl   %ecx, %ecx
        jne     1f
        testq   %r10, %r10
        je      .Lno_\kind
        jmp     *%r10
1:      cmpl    $MODE_PLAIN, %ecx
        jne     2f
        jmp     *REALS_AT(%r11,%rax,8)
2:
.endm

/* The caller's registers, into a DoorFrame at this distance above sp. */
.macro save at
        movq    REALS_AT(%r11,%rax,8), %r11
        movq    $0, \at(%rsp)
        movq    %r11, \at+8(%rsp)
        movq    %rbx, \at+16(%rsp)
        movq    %r12, \at+24(%rsp)
        movq    %r13, \at+32(%rsp)
        movq    %r14, \at+40(%rsp)
        movq    %r15, \at+48(%rsp)
        movq    %rbp, \at+56(%rsp)
        movq    $0, \at+64(%rsp)
.endm

        .hidden _DYNAMIC
        .text
        .type   memlog_new, @function
        .p2align 4
memlog_new:
        .cfi_startproc
        resolve new
        subq    $104, %rsp
        .cfi_adjust_cfa_offset 104
        save    32
        movq    %rdi, (%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rax, 24(%rsp)
        leaq    32(%rsp), %rdi
        call    *memlog_operator_new_begins@GOTPCREL(%rip)
        movq    (%rsp), %rdi
        movq    8(%rsp), %rsi
        movq    16(%rsp), %rdx
        call    *40(%rsp)
        movq    %rax, %rdi
        movq    (%rsp), %rsi
        movq    8(%rsp), %rdx
        movq    24(%rsp), %rcx
        leaq    32(%rsp), %r8
        movq    %rax, 24(%rsp)
        call    *memlog_operator_new_done@GOTPCREL(%rip)
        movq    24(%rsp), %rax
        addq    $104, %rsp
        .cfi_adjust_cfa_offset -104
        ret
/* No definition anywhere: as the standard's own would begin. */
.Lno_new:
        cmpl    $ALIGNED, %eax
        jae     1f
        jmp     *malloc@GOTPCREL(%rip)
1:      xchgq   %rdi, %rsi
        jmp     *memalign@GOTPCREL(%rip)
        .cfi_endproc
        .size   memlog_new, . - memlog_new

        .type   memlog_delete, @function
        .p2align 4
memlog_delete:
        .cfi_startproc
        resolve delete
        subq    $72, %rsp
        .cfi_adjust_cfa_offset 72
        save    0
        movq    %rax, %rcx
        movq    %rsp, %r8
        call    *memlog_operator_delete@GOTPCREL(%rip)
        addq    $72, %rsp
        .cfi_adjust_cfa_offset -72
        ret
.Lno_delete:
        jmp     *free@GOTPCREL(%rip)
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
