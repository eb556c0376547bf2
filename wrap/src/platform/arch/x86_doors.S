/* The doorstep on 32-bit x86, and the few words of assembly that Rust cannot
 * say.
 *
 * A door hands its handler the program's arguments, copied, for they are the
 * handler's then, and, one argument further, a DoorFrame: the caller's
 * registers as they were.
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  12 ebx  16 esi  20 edi  24 ebp
 *  28 (the handler's mark)
 *  32 return address; the caller's sp is 36 above the frame
 *
 * Handlers count on an sp that is a multiple of 16, which code of old compilers
 * does not keep to: so the copies lie where it is one, and esi knows the frame.
 * Shapes as on x86_64. */

#include "doors-shape.h"

#define LIFE_ON 2
#define FRAME 32                /* without what the call itself pushed */

        .text
        .type   memlog_door_pc, @function
memlog_door_pc:
        .cfi_startproc
        movl    (%esp), %ecx
        ret
        .cfi_endproc
        .size   memlog_door_pc, . - memlog_door_pc

.macro function symbol
        .globl  \symbol
        .type   \symbol, @function
        .p2align 4
\symbol:
        .cfi_startproc
.endm
.macro end symbol
        .cfi_endproc
        .size   \symbol, . - \symbol
.endm
.macro table
        call    memlog_door_pc
        addl    $_GLOBAL_OFFSET_TABLE_, %ecx
.endm
/* The real function of a door; the table of addresses is in ecx. */
.macro real register, name, index
#ifdef MEMLOG_STATIC
        movl    __real_\name@GOT(%ecx), \register
#else
        movl    memlog_reals@GOTOFF+4*\index(%ecx), \register
#endif
.endm

/* Opens the DoorFrame and fills it. Life before everything, TLS included: a
 * call may come before relocation or before there is a thread pointer. */
.macro enter name, index
        subl    $FRAME, %esp
        .cfi_adjust_cfa_offset FRAME
        movl    %ebx, 12(%esp)
        movl    %esi, 16(%esp)
        .cfi_rel_offset %esi, 16
        movl    %edi, 20(%esp)
        movl    %ebp, 24(%esp)
        movl    %esp, %esi
        .cfi_def_cfa_register %esi
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

.macro copy count
        .if \count
        movl    FRAME+4*\count(%esi), %eax
        movl    %eax, 4*\count-4(%esp)
        copy    "(\count-1)"
        .endif
.endm

/* Calls the handler with so many words of the caller's and the frame, which
 * take so many bytes at most. */
.macro hand name, words, bytes
        andl    $-16, %esp
        subl    $\bytes, %esp
        copy    \words
        movl    %esi, 4*\words(%esp)
        call    memlog_on_\name
.endm

.macro leave_frame
        movl    %esi, %esp
        .cfi_def_cfa_register %esp
        movl    16(%esp), %esi
        .cfi_restore %esi
        addl    $FRAME, %esp
        .cfi_adjust_cfa_offset -FRAME
.endm

.macro door name, symbol, words, index
        function \symbol
        enter   \name, \index
        hand    \name, \words, 32
        leave_frame
        ret
        end \symbol
.endm

/* What a watched call may be that its handler wants to hear of. */
#define PRCTL 172
#define SECCOMP 354

/* A call of any number of arguments that goes on by a jump: with the stack as
 * it was, for it may return twice, or on another stack. The handler returns
 * where to. */
.macro watch name, symbol, index, always
        function \symbol
        .ifeq \always
        movl    4(%esp), %eax
        cmpl    $PRCTL, %eax
        je      1f
        cmpl    $SECCOMP, %eax
        je      1f
        table
        real    %eax, \name, \index
#ifndef MEMLOG_STATIC
        testl   %eax, %eax
        je      1f
#endif
        jmp     *%eax
        .endif
1:      enter   \name, \index
        hand    \name, 3, 16
        leave_frame
        testl   %eax, %eax
        je      3f
        jmp     *%eax
3:      decl    %eax
        ret
        end \symbol
.endm

/* mmap64's last argument has two words. */
#define DOOR_AT(name, arguments, index) \
        .ifc name, mmap64; \
        door name, MEMLOG_SYMBOL(name), 7, index; \
        .else; \
        door name, MEMLOG_SYMBOL(name), arguments, index; \
        .endif
#define WATCH_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 0
#define TELL_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 1
#include "doors-list.h"

#ifndef MEMLOG_MEMBER
/* Our own dynamic section, by which the loader's list knows us; none in the
 * static shape, where malloc_usable_size is the program's own. */
        .hidden memlog_own_dynamic
        function memlog_own_dynamic
        xorl    %edx, %edx
#ifdef MEMLOG_STATIC
        xorl    %eax, %eax
#else
        .hidden _DYNAMIC
        table
        leal    _DYNAMIC@GOTOFF(%ecx), %eax
#endif
        ret
        end memlog_own_dynamic

        .hidden memlog_static_usable
        function memlog_static_usable
#ifdef MEMLOG_STATIC
        .weak   malloc_usable_size
        table
        movl    malloc_usable_size@GOT(%ecx), %eax
#else
        xorl    %eax, %eax
#endif
        ret
        end memlog_static_usable
#endif

        .section .note.GNU-stack, "", @progbits
