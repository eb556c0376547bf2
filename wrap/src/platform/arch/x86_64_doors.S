/* The doorstep on x86_64, and the few words of assembly that Rust cannot say.
 *
 * A door hands its handler the program's arguments where the ABI puts them
 * and, one argument further, a DoorFrame: the caller's registers as they were.
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 rbx  24 r12  32 r13  40 r14  48 r15  56 rbp
 *  64 (the handler's mark)
 *  72 return address; the caller's sp is 80 above the frame
 *
 * Shapes: MEMLOG_STATIC prefixes __wrap_ and takes __real_; otherwise the
 * names are exported and the real ones come from memlog_reals. */

#include "doors-shape.h"

#define LIFE_ON 2

.macro door name, symbol, frame, index
        .globl  \symbol
        .type   \symbol, @function
        .p2align 4
\symbol:
        .cfi_startproc
        endbr64
        subq    $72, %rsp
        .cfi_adjust_cfa_offset 72
        movq    %rbx, 16(%rsp)
        movq    %r12, 24(%rsp)
        movq    %r13, 32(%rsp)
        movq    %r14, 40(%rsp)
        movq    %r15, 48(%rsp)
        movq    %rbp, 56(%rsp)
        /* Life before everything, TLS included: a call may come before
         * relocation or before there is a thread pointer. */
        xorl    %eax, %eax
        cmpl    $LIFE_ON, memlog_life(%rip)
        jne     1f
        movq    memlog_tls@gottpoff(%rip), %rax
        movq    %fs:(%rax), %rax
1:      movq    %rax, (%rsp)
#ifdef MEMLOG_STATIC
        movq    __real_\name@GOTPCREL(%rip), %rax
#else
        movq    memlog_reals+8*\index(%rip), %rax
#endif
        movq    %rax, 8(%rsp)
        .ifc \frame, stack
        pushq   $0
        .cfi_adjust_cfa_offset 8
        leaq    8(%rsp), %rax
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        call    memlog_on_\name
        addq    $88, %rsp
        .cfi_adjust_cfa_offset -88
        .else
        movq    %rsp, \frame
        call    memlog_on_\name
        addq    $72, %rsp
        .cfi_adjust_cfa_offset -72
        .endif
        ret
        .cfi_endproc
        .size   \symbol, . - \symbol
.endm

/* What a watched call may be that its handler wants to hear of. */
#define PRCTL 157
#define SECCOMP 317

/* A call of any number of arguments that goes on by a jump: with the stack as
 * it was, for it may return twice, or on another stack. The handler returns
 * where to. */
.macro watch name, symbol, index, always
        .globl  \symbol
        .type   \symbol, @function
        .p2align 4
\symbol:
        .cfi_startproc
        endbr64
        .ifeq \always
        cmpl    $PRCTL, %edi
        je      1f
        cmpl    $SECCOMP, %edi
        je      1f
#ifdef MEMLOG_STATIC
        movq    __real_\name@GOTPCREL(%rip), %r11
#else
        movq    memlog_reals+8*\index(%rip), %r11
        testq   %r11, %r11
        je      1f
#endif
        jmp     *%r11
        .endif
1:      subq    $120, %rsp
        .cfi_adjust_cfa_offset 120
        movq    %rdi, (%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rcx, 24(%rsp)
        movq    %r8, 32(%rsp)
        movq    %r9, 40(%rsp)
        movq    %rbx, 64(%rsp)
        movq    %r12, 72(%rsp)
        movq    %r13, 80(%rsp)
        movq    %r14, 88(%rsp)
        movq    %r15, 96(%rsp)
        movq    %rbp, 104(%rsp)
        xorl    %eax, %eax
        cmpl    $LIFE_ON, memlog_life(%rip)
        jne     2f
        movq    memlog_tls@gottpoff(%rip), %rax
        movq    %fs:(%rax), %rax
2:      movq    %rax, 48(%rsp)
#ifdef MEMLOG_STATIC
        movq    __real_\name@GOTPCREL(%rip), %rax
#else
        movq    memlog_reals+8*\index(%rip), %rax
#endif
        movq    %rax, 56(%rsp)
        leaq    48(%rsp), %rcx
        call    memlog_on_\name
        movq    %rax, %r11
        movq    (%rsp), %rdi
        movq    8(%rsp), %rsi
        movq    16(%rsp), %rdx
        movq    24(%rsp), %rcx
        movq    32(%rsp), %r8
        movq    40(%rsp), %r9
        addq    $120, %rsp
        .cfi_adjust_cfa_offset -120
        xorl    %eax, %eax
        testq   %r11, %r11
        je      3f
        jmp     *%r11
3:      decq    %rax
        ret
        .cfi_endproc
        .size   \symbol, . - \symbol
.endm

#define FRAME_0 %rdi
#define FRAME_1 %rsi
#define FRAME_2 %rdx
#define FRAME_3 %rcx
#define FRAME_4 %r8
#define FRAME_5 %r9
#define FRAME_6 stack

        .text
#define DOOR_AT(name, arguments, index) door name, MEMLOG_SYMBOL(name), FRAME_##arguments, index
#define WATCH_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 0
#define TELL_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 1
#include "doors-list.h"

#ifndef MEMLOG_MEMBER
/* Our own dynamic section, by which the loader's list knows us; none in the
 * static shape, where malloc_usable_size is the program's own. */
        .globl  memlog_own_dynamic
        .hidden memlog_own_dynamic
        .type   memlog_own_dynamic, @function
memlog_own_dynamic:
        .cfi_startproc
        endbr64
#ifdef MEMLOG_STATIC
        xorl    %eax, %eax
#else
        .hidden _DYNAMIC
        leaq    _DYNAMIC(%rip), %rax
#endif
        ret
        .cfi_endproc
        .size   memlog_own_dynamic, . - memlog_own_dynamic

        .globl  memlog_static_usable
        .hidden memlog_static_usable
        .type   memlog_static_usable, @function
memlog_static_usable:
        .cfi_startproc
        endbr64
#ifdef MEMLOG_STATIC
        .weak   malloc_usable_size
        movq    malloc_usable_size@GOTPCREL(%rip), %rax
#else
        xorl    %eax, %eax
#endif
        ret
        .cfi_endproc
        .size   memlog_static_usable, . - memlog_static_usable
#endif

        .section .note.GNU-stack, "", @progbits
