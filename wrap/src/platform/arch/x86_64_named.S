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

        .globl  memlog_named
        .type   memlog_named, @function
        .p2align 4
memlog_named:
        .cfi_startproc
        endbr64
        subq    $312, %rsp
        .cfi_adjust_cfa_offset 312
        movups  %xmm0, (%rsp)
        movups  %xmm1, 16(%rsp)
        movups  %xmm2, 32(%rsp)
        movups  %xmm3, 48(%rsp)
        movups  %xmm4, 64(%rsp)
        movups  %xmm5, 80(%rsp)
        movups  %xmm6, 96(%rsp)
        movups  %xmm7, 112(%rsp)
        movq    %rax, 128(%rsp)
        movq    %rdi, 152(%rsp)
        movq    %rsi, 160(%rsp)
        movq    %rdx, 168(%rsp)
        movq    %rcx, 176(%rsp)
        movq    %r8, 184(%rsp)
        movq    %r9, 192(%rsp)
        movq    %r11, 200(%rsp)
        movq    %rbx, 256(%rsp)
        movq    %r12, 264(%rsp)
        movq    %r13, 272(%rsp)
        movq    %r14, 280(%rsp)
        movq    %r15, 288(%rsp)
        movq    %rbp, 296(%rsp)
        movq    $0, 304(%rsp)
        leaq    152(%rsp), %rdi
        call    memlog_named_begins
        movq    %rax, %r11
        testq   %rax, %rax
        je      1f
        movups  (%rsp), %xmm0
        movups  16(%rsp), %xmm1
        movups  32(%rsp), %xmm2
        movups  48(%rsp), %xmm3
        movups  64(%rsp), %xmm4
        movups  80(%rsp), %xmm5
        movups  96(%rsp), %xmm6
        movups  112(%rsp), %xmm7
        movq    128(%rsp), %rax
        movq    152(%rsp), %rdi
        movq    160(%rsp), %rsi
        movq    168(%rsp), %rdx
        movq    176(%rsp), %rcx
        movq    184(%rsp), %r8
        movq    192(%rsp), %r9
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
        .cfi_endproc
        .size   memlog_named, . - memlog_named

        .section .note.GNU-stack, "", @progbits
