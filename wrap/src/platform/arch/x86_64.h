/* The doorstep on x86_64; see skeleton.h for the words. A DoorFrame:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 rbx  24 r12  32 r13  40 r14  48 r15  56 rbp  64 (the handler's mark)
 *  72 return address; the caller's sp is 80 above the frame */

#define LIFE_BYTES 4096
#define BELOW_DOOR 0
#define BELOW_WIDE_DOOR 16
#define IN_REGISTERS 5
#define HAS_SAYERS
#define BELOW_WATCH 48
#define BELOW_NEW 32
#define BELOW_DELETE 0
#define PRCTL 157
#define SECCOMP 317
#define LANDING endbr64
#define RETURN ret
#define CALL(symbol) call symbol
#define CALL_OUT(symbol) call *symbol@GOTPCREL(%rip)
#define JUMP_OUT(symbol) jmp *symbol@GOTPCREL(%rip)
#define STORE(register, at) movq register, at(%rsp)
#define LOAD(register, at) movq at(%rsp), register

.macro enter below
        subq    $72+\below, %rsp
        .cfi_adjust_cfa_offset 72+\below
        keep    \below+16, %rbx, %r12, %r13, %r14, %r15, %rbp
.endm

.macro leave below
        addq    $72+\below, %rsp
        .cfi_adjust_cfa_offset -72-\below
.endm

.macro real register, name, index
#ifdef MEMLOG_STATIC
        movq    __real_\name@GOTPCREL(%rip), \register
#else
        movq    memlog_reals+8*\index(%rip), \register
#endif
.endm

.macro know name, symbol, index, below
        xorl    %eax, %eax
        cmpl    $LIFE_ON, memlog_life(%rip)
        .if \index < QUICK_DOORS
        jne     7f
        .else
        jne     9f
        .endif
        movq    memlog_tls@gottpoff(%rip), %rax
        movq    %fs:(%rax), %rax
9:      movq    %rax, \below(%rsp)
        real    %rax, \name, \index
        movq    %rax, \below+8(%rsp)
.endm

/* Where life is not On, beside the way of those that are recorded: recording is off,
 * nobody asks for anything, and the call goes on as if there were no door. */
#define HAS_PLACES
.macro places name, index
        .if \index < QUICK_DOORS
        .cfi_adjust_cfa_offset 72+BELOW_DOOR
7:      jna     9b
        movq    memlog_quick(%rip), %r11
        testq   %r11, %r11
        je      9b
        movq    (%r11), %r11
        cmpq    memlog_quick+8(%rip), %r11
        jne     9b
        real    %r11, \name, \index
        testq   %r11, %r11
        je      9b
        addq    $72+BELOW_DOOR, %rsp
        .cfi_adjust_cfa_offset -72-BELOW_DOOR
        jmp     *%r11
        .endif
.endm

.macro hand arguments, below
        .if \arguments > IN_REGISTERS
        leaq    \below(%rsp), %rax
        movq    %rax, (%rsp)
        .endif
        .set    .Lplace, 0
        .irp register, %rdi, %rsi, %rdx, %rcx, %r8, %r9
        .if .Lplace == \arguments
        .if \below
        leaq    \below(%rsp), \register
        .else
        movq    %rsp, \register
        .endif
        .endif
        .set    .Lplace, .Lplace + 1
        .endr
.endm

.macro pass name, symbol, index, told
        cmpl    $PRCTL, %edi
        je      \told
        cmpl    $SECCOMP, %edi
        je      \told
        real    %r11, \name, \index
#ifndef MEMLOG_STATIC
        testq   %r11, %r11
        je      \told
#endif
        jmp     *%r11
.endm

#define keep_arguments keep 0, %rdi, %rsi, %rdx, %rcx, %r8, %r9
.macro give_back
        movq    %rax, %r11
        fetch   0, %rdi, %rsi, %rdx, %rcx, %r8, %r9
.endm

.macro go_on
        xorl    %eax, %eax
        testq   %r11, %r11
        je      3f
        jmp     *%r11
3:      decq    %rax
        ret
.endm

#define ANSWER_NOTHING xorl %eax, %eax; ret
#define ANSWER_ADDRESS(symbol, from) leaq symbol(%rip), %rax; ret
#define ANSWER_WEAK(symbol, from) movq symbol@GOTPCREL(%rip), %rax; ret

/* The operators': the index is in rax, the table in r11, the mode in ecx. */
.macro plain_or name, index, kind
        cmpl    $MODE_PLAIN, memlog_operators+4*\index(%rip)
        jne     1f
        jmp     *memlog_operators+REALS_AT+8*\index(%rip)
1:      movl    $\index, %eax
        jmp     \kind
.endm

.macro mode
        leaq    memlog_operators(%rip), %r11
        movl    (%r11,%rax,4), %ecx
.endm

#define IF_KNOWN(to) testl %ecx, %ecx; jne to
#define IF_OWN(to) cmpl $MODE_PLAIN, %ecx; jne to
#define IF_NOT_FOUND(to) testq %r10, %r10; je to
#define IF_ALIGNED(to) cmpl $ALIGNED, %eax; jae to
#define JUMP_FOUND jmp *%r10
#define JUMP_REAL jmp *REALS_AT(%r11,%rax,8)
#define SWAP xchgq %rdi, %rsi
#define keep_asked keep 0, %rdi, %rsi, %rdx, %rax
#define fetch_asked fetch 0, %rdi, %rsi, %rdx

.macro search
        subq    $40, %rsp
        .cfi_adjust_cfa_offset 40
        keep_asked
        movl    %eax, %edi
        movq    %r11, %rsi
        leaq    _DYNAMIC(%rip), %rdx
        CALL_OUT(memlog_operator_find)
        movq    %rax, %r10
        fetch_asked
        movq    24(%rsp), %rax
        addq    $40, %rsp
        .cfi_adjust_cfa_offset -40
.endm

.macro fill below
        movq    REALS_AT(%r11,%rax,8), %r11
        movq    $0, \below(%rsp)
        movq    %r11, \below+8(%rsp)
        movq    $0, \below+64(%rsp)
.endm

.macro own_begins
        keep_asked
        leaq    BELOW_NEW(%rsp), %rdi
.endm

.macro own_call
        fetch_asked
        call    *BELOW_NEW+8(%rsp)
.endm

.macro own_done
        movq    %rax, %rdi
        fetch   0, %rsi, %rdx
        movq    24(%rsp), %rcx
        leaq    BELOW_NEW(%rsp), %r8
        movq    %rax, 24(%rsp)
.endm

#define own_result movq 24(%rsp), %rax
#define own_delete movq %rax, %rcx; movq %rsp, %r8
