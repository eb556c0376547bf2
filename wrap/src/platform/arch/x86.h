/* The doorstep on 32-bit x86; see skeleton.h for the words. A DoorFrame:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  12 ebx  16 esi  20 edi  24 ebp  28 (the handler's mark)
 *  32 return address; the caller's sp is 36 above the frame
 *
 * Arguments are on the stack: they are copied, for they are the handler's then.
 * Handlers count on an sp that is a multiple of 16, which code of old compilers
 * does not keep to: so the copies lie where it is one, and esi knows the frame.
 * What is `below` the DoorFrame `hand` takes. */

#define LIFE_BYTES 4096
#define FRAME 32                /* without what the call itself pushed */
#define BELOW_DOOR 32
#define BELOW_WATCH 16
#define MMAP64_WORDS 7
#define BELOW_NEW 28            /* five words for calls, the index, the block */
#define BELOW_DELETE 28
#define PRCTL 172
#define SECCOMP 354
#define LANDING
#define RETURN ret
#define CALL(symbol) call symbol
#define CALL_OUT(symbol) call symbol@PLT
#define JUMP_OUT(symbol) jmp *symbol@GOT(%ecx)

/* The caller's pc, from which the table of addresses is a known distance. */
        .text
        .type   memlog_own_pc, @function
memlog_own_pc:
        .cfi_startproc
        movl    (%esp), %ecx
        ret
        .cfi_endproc
        .size   memlog_own_pc, . - memlog_own_pc
.macro table
        call    memlog_own_pc
        addl    $_GLOBAL_OFFSET_TABLE_, %ecx
.endm

.macro enter below
        subl    $FRAME, %esp
        .cfi_adjust_cfa_offset FRAME
        movl    %ebx, 12(%esp)
        movl    %esi, 16(%esp)
        .cfi_rel_offset %esi, 16
        movl    %edi, 20(%esp)
        movl    %ebp, 24(%esp)
        movl    %esp, %esi
        .cfi_def_cfa_register %esi
.endm

.macro leave below
        movl    %esi, %esp
        .cfi_def_cfa_register %esp
        movl    16(%esp), %esi
        .cfi_restore %esi
        addl    $FRAME, %esp
        .cfi_adjust_cfa_offset -FRAME
.endm

/* The table of addresses is in ecx. */
.macro real register, name, index
#ifdef MEMLOG_STATIC
        movl    __real_\name@GOT(%ecx), \register
#else
        movl    memlog_reals@GOTOFF+4*\index(%ecx), \register
#endif
.endm

.macro know name, symbol, index, below
        table
        xorl    %eax, %eax
        xorl    %edx, %edx
        cmpl    $LIFE_ON, memlog_life@GOTOFF(%ecx)
        jne     9f
        movl    memlog_tls@gotntpoff(%ecx), %edx
        movl    %gs:(%edx), %eax
        movl    %gs:4(%edx), %edx
9:      movl    %eax, (%esi)
        movl    %edx, 4(%esi)
        real    %eax, \name, \index
        movl    %eax, 8(%esi)
.endm

.macro hand arguments, below
        andl    $-16, %esp
        subl    $\below, %esp
        copy    \arguments
        movl    %esi, 4*\arguments(%esp)
.endm
.macro copy count
        .if \count
        movl    FRAME+4*\count(%esi), %eax
        movl    %eax, 4*\count-4(%esp)
        copy    "(\count-1)"
        .endif
.endm

.macro pass name, symbol, index, told
        movl    4(%esp), %eax
        cmpl    $PRCTL, %eax
        je      \told
        cmpl    $SECCOMP, %eax
        je      \told
        table
        real    %eax, \name, \index
#ifndef MEMLOG_STATIC
        testl   %eax, %eax
        je      \told
#endif
        jmp     *%eax
.endm

#define keep_arguments
#define give_back

.macro go_on
        testl   %eax, %eax
        je      3f
        jmp     *%eax
3:      decl    %eax
        ret
.endm

/* In two words, edx having the upper one. */
#define ANSWER_NOTHING xorl %eax, %eax; xorl %edx, %edx; ret
#define ANSWER_ADDRESS(symbol, from) table; leal symbol@GOTOFF(%ecx), %eax; xorl %edx, %edx; ret
#define ANSWER_WEAK(symbol, from) table; movl symbol@GOT(%ecx), %eax; ret

/* The operators': the index is in eax, the table of addresses in ecx. */
#define MODES memlog_operators@GOTOFF
#define REALS memlog_operators@GOTOFF+REALS_AT

.macro plain_or name, index, kind
        table
        cmpl    $MODE_PLAIN, MODES+4*\index(%ecx)
        jne     1f
        jmp     *REALS+4*\index(%ecx)
1:      movl    $\index, %eax
        jmp     \kind
.endm

.macro lower bytes
        subl    $\bytes, %esp
        .cfi_adjust_cfa_offset \bytes
.endm
.macro raise bytes
        addl    $\bytes, %esp
        .cfi_adjust_cfa_offset -(\bytes)
.endm

#define IF_ALIGNED(to) cmpl $ALIGNED, %eax; jae to
.macro SWAP
        movl    4(%esp), %eax
        movl    8(%esp), %edx
        movl    %eax, 8(%esp)
        movl    %edx, 4(%esp)
.endm

/* That of all, but what was found waits on the stack until the mode was looked
 * at: no register is left for it. */
#define OWN_RESOLVE
.macro resolve kind
        movl    MODES(%ecx,%eax,4), %edx
        testl   %edx, %edx
        jne     1f
        lower   28
        movl    %eax, (%esp)
        movl    %eax, 20(%esp)
        leal    MODES(%ecx), %edx
        movl    %edx, 4(%esp)
        leal    _DYNAMIC@GOTOFF(%ecx), %edx
        movl    %edx, 8(%esp)
        movl    $0, 12(%esp)
        movl    %ebx, 24(%esp)
        .cfi_rel_offset %ebx, 24
        movl    %ecx, %ebx
        CALL_OUT(memlog_operator_find)
        movl    %ebx, %ecx
        movl    24(%esp), %ebx
        .cfi_restore %ebx
        pushl   %eax
        .cfi_adjust_cfa_offset 4
        movl    24(%esp), %eax
        movl    MODES(%ecx,%eax,4), %edx
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
        jmp     *REALS(%ecx,%eax,4)
2:
.endm

/* By esp, for who calls an operator keeps it a multiple of 16; ebx is for the
 * table of addresses then, as calls of others want it. */
#define OWN_FRAME
.macro own_enter below
        lower   FRAME+\below
        movl    %ebx, \below+12(%esp)
        .cfi_rel_offset %ebx, \below+12
        movl    %esi, \below+16(%esp)
        movl    %edi, \below+20(%esp)
        movl    %ebp, \below+24(%esp)
        movl    REALS(%ecx,%eax,4), %edx
        movl    $0, \below(%esp)
        movl    $0, \below+4(%esp)
        movl    %edx, \below+8(%esp)
        movl    $0, \below+28(%esp)
        movl    %ecx, %ebx
.endm
.macro own_leave below
        movl    \below+12(%esp), %ebx
        .cfi_restore %ebx
        raise   FRAME+\below
        ret
.endm
.macro own_copy
        .irp    word, 0, 1, 2
        movl    FRAME+BELOW_NEW+4+4*\word(%esp), %eax
        movl    %eax, 4*\word(%esp)
        .endr
.endm

.macro own_begins
        movl    %eax, 20(%esp)
        leal    BELOW_NEW(%esp), %eax
        movl    %eax, (%esp)
.endm

.macro own_call
        own_copy
        call    *BELOW_NEW+8(%esp)
.endm

.macro own_done
        movl    %eax, (%esp)
        movl    %eax, 24(%esp)
        movl    FRAME+BELOW_NEW+4(%esp), %eax
        movl    %eax, 4(%esp)
        movl    FRAME+BELOW_NEW+8(%esp), %eax
        movl    %eax, 8(%esp)
        movl    20(%esp), %eax
        movl    %eax, 12(%esp)
        leal    BELOW_NEW(%esp), %eax
        movl    %eax, 16(%esp)
.endm

#define own_result movl 24(%esp), %eax

.macro own_delete
        movl    %eax, 12(%esp)
        leal    BELOW_DELETE(%esp), %eax
        movl    %eax, 16(%esp)
        own_copy
.endm
