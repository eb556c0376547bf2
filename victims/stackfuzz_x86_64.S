/* stackfuzz: frames that no compiler makes often, each described exactly; technique(f, depth).
 * And the switch of coroutines, and the processor's own stepping.
 */
#ifdef __x86_64__
        .text

        .macro begin name
        .globl \name
        .type \name, @function
\name:
        .cfi_startproc
        .endm
        .macro end name
        .cfi_endproc
        .size \name, . - \name
        .endm
        .macro pushed register
        push %\register
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset \register, 0
        .endm
        .macro popped register
        pop %\register
        .cfi_adjust_cfa_offset -8
        .cfi_restore \register
        .endm

/* The CFA is in rbx, below it a frame of a size that only the run knows. */
begin sf_cfa_in_rbx
        pushed rbx
        mov %rsp, %rbx
        .cfi_def_cfa_register rbx
        mov %esi, %eax
        and $15, %eax
        shl $5, %eax
        sub %rax, %rsp
        and $-64, %rsp
        call go@PLT
        mov %rbx, %rsp
        .cfi_def_cfa_register rsp
        popped rbx
        ret
end sf_cfa_in_rbx

/* The same in r12, with data in rbp that looks like a frame further in. */
begin sf_cfa_in_r12
        pushed rbp
        pushed r12
        mov %rsp, %r12
        .cfi_def_cfa_register r12
        lea -200(%rsp), %rbp
        and $-128, %rsp
        call go@PLT
        mov %r12, %rsp
        .cfi_def_cfa_register rsp
        popped r12
        popped rbp
        ret
end sf_cfa_in_r12

/* Data in rbp: another at each depth, and never a frame. */
begin sf_data_in_rbp
        pushed rbp
        imul $0x10001, %rsi, %rbp
        call go@PLT
        popped rbp
        ret
end sf_data_in_rbp

/* rbp is saved, but not right below the return address, and only on the second half of the way. */
begin sf_saves_late
        pushed r13
        pushed r14
        sub $8, %rsp
        .cfi_adjust_cfa_offset 8
        mov %rdi, %r13
        lea -1(%rsi), %r14
        call go@PLT
        add $8, %rsp
        .cfi_adjust_cfa_offset -8
        pushed rbp
        mov %rsp, %rbp
        mov %r13, %rdi
        mov %r14, %rsi
        call go@PLT
        popped rbp
        popped r14
        popped r13
        ret
end sf_saves_late

/* A leaf that pushes and pops around each call. */
begin sf_pushes
        pushed r13
        mov %rdi, %r13
        mov %esi, %esi
        pushed rsi
        pushed rsi
        call go@PLT
        popped rsi
        popped rsi
        sub $32, %rsp
        .cfi_adjust_cfa_offset 32
        .cfi_remember_state
        push %rbx
        .cfi_adjust_cfa_offset 8
        pushf
        .cfi_adjust_cfa_offset 8
        mov %r13, %rdi
        xor %esi, %esi
        call go@PLT
        popf
        .cfi_adjust_cfa_offset -8
        pop %rbx
        .cfi_restore_state
        mov %r13, %rdi
        xor %esi, %esi
        sub $8, %rsp
        .cfi_adjust_cfa_offset 8
        sub $8, %rsp
        .cfi_adjust_cfa_offset 8
        call go@PLT
        add $48, %rsp
        .cfi_adjust_cfa_offset -48
        popped r13
        ret
end sf_pushes

/* Two calls whose callees have the same sp, with everything below the same; only rbp says how far up the frame is, for what
 * the first call left on the stack is still there at the second. sf_sway(f, depth): a frame of 64 + 960 bytes, then of
 * 512 + 512.
 */
begin sf_sway
        pushed rbx
        pushed r13
        pushed r14
        mov %rdi, %r13
        mov %esi, %r14d
        sub $64, %rsp
        .cfi_adjust_cfa_offset 64
        mov $960, %edx
        call sf_swayed
        sub $448, %rsp
        .cfi_adjust_cfa_offset 448
        mov %r13, %rdi
        mov %r14d, %esi
        mov $512, %edx
        call sf_swayed
        add $512, %rsp
        .cfi_adjust_cfa_offset -512
        popped r14
        popped r13
        popped rbx
        ret
end sf_sway
begin sf_swayed
        pushed rbp
        mov %rsp, %rbp
        .cfi_def_cfa_register rbp
        sub %rdx, %rsp
        call sf_between
        leave
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
end sf_swayed
begin sf_between
        sub $8, %rsp
        .cfi_adjust_cfa_offset 8
        call sf_turn_alike
        add $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
end sf_between

/* switch_to(&mine, theirs): leaves mine, goes on where theirs was left. */
begin sf_switch
        pushed rbp
        pushed rbx
        pushed r12
        pushed r13
        pushed r14
        pushed r15
        mov %rsp, (%rdi)
        mov %rsi, %rsp
        popped r15
        popped r14
        popped r13
        popped r12
        popped rbx
        popped rbp
        ret
end sf_switch

/* The outermost function of a coroutine: rbx(r12), which does not return. */
        .globl sf_start
        .type sf_start, @function
        .cfi_startproc
        .cfi_undefined rip
        nop
sf_start:
        mov %r12, %rdi
        call *%rbx
        hlt
        .cfi_endproc
        .size sf_start, . - sf_start

begin sf_step_on
        pushf
        .cfi_adjust_cfa_offset 8
        orl $0x100, (%rsp)
        popf
        .cfi_adjust_cfa_offset -8
        ret
end sf_step_on
begin sf_step_off
        pushf
        .cfi_adjust_cfa_offset 8
        andl $~0x100, (%rsp)
        popf
        .cfi_adjust_cfa_offset -8
        ret
end sf_step_off
#endif
        .section .note.GNU-stack, "", @progbits
