/* The one door of all named functions on x86_64; see named.rs. A stub, which
 * memlog writes for each name, comes here by a jump with the address of its
 * entry in r11.
 *
 * The function is called from here with the stack as it was but for what is
 * beside the arguments, so it may throw: the frame below is crossed by its CFI.
 *
 *   0  xmm0 to xmm7; later, from 96 on, what was returned in xmm0 and xmm1
 * 128  rax, for functions of variable arguments; later rax and rdx
 * 152  Call: six arguments, 200 the entry, 208 and 232 of the handlers,
 * 240  DoorFrame, which ends with the return address */

#include "skeleton.h"

        function memlog_named
        subq    $312, %rsp
        .cfi_adjust_cfa_offset 312
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movups  %xmm\n, 16*\n(%rsp)
        .endr
        movq    %rax, 128(%rsp)
        keep    152, %rdi, %rsi, %rdx, %rcx, %r8, %r9, %r11
        keep    256, %rbx, %r12, %r13, %r14, %r15, %rbp
        movq    $0, 304(%rsp)
        leaq    152(%rsp), %rdi
        call    memlog_named_begins
        movq    %rax, %r11
        testq   %rax, %rax
        je      1f
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movups  16*\n(%rsp), %xmm\n
        .endr
        movq    128(%rsp), %rax
        fetch   152, %rdi, %rsi, %rdx, %rcx, %r8, %r9
        call    *%r11
        movq    %rax, 128(%rsp)
        movq    %rdx, 136(%rsp)
        movups  %xmm0, 96(%rsp)
        movups  %xmm1, 112(%rsp)
        /* Most of the stack is used from here on: without what is done with. */
        addq    $96, %rsp
        .cfi_adjust_cfa_offset -96
        leaq    56(%rsp), %rdi
        movq    %rax, %rsi
        call    memlog_named_done
        movups  (%rsp), %xmm0
        movups  16(%rsp), %xmm1
        movq    32(%rsp), %rax
        movq    40(%rsp), %rdx
        addq    $216, %rsp
        .cfi_adjust_cfa_offset -216
        ret
        .cfi_adjust_cfa_offset 312
1:      addq    $312, %rsp
        .cfi_adjust_cfa_offset -312
        ret
        end     memlog_named
