/* The doorstep on 64-bit IBM Z.
 *
 * A door hands its handler the program's arguments where the ABI puts them (r2
 * to r6, then the stack) and, one argument further, a DoorFrame, which ends at
 * the caller's stack pointer:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 r6 to r13   80 return address   88 (the handler's mark)
 *
 * Below it lie two words for arguments, and the area of 160 bytes that is the
 * handler's. Our own caller's area keeps r6 to r15, as for any function. */

#include "doors-shape.h"

#define LIFE_ON 2
#define ARGUMENTS_AT 160
#define FRAME_AT 176
#define FRAME_BYTES 272

.macro function symbol
        .text
        .globl  \symbol
        .type   \symbol, @function
        .p2align 4
\symbol:
        .cfi_startproc
.endm

/* Opens a frame of so many bytes with the DoorFrame at its end. */
.macro enter bytes, at
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
        stmg    %r6, %r14, \at+16(%r15)
.endm

.macro leave bytes
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

/* The real function of a door. */
.macro real register, name, index
#ifdef MEMLOG_STATIC
        larl    \register, __real_\name@GOTENT
#else
        larl    \register, memlog_reals+8*\index
#endif
        lg      \register, 0(\register)
.endm

/* The thread's word and the real function, into the DoorFrame. Life before
 * everything, TLS included: a call may come before relocation or before there
 * is a thread pointer. */
.macro know name, index, at
        lghi    %r8, 0
        larl    %r1, memlog_life
        l       %r1, 0(%r1)
        chi     %r1, LIFE_ON
        jne     9f
        ear     %r1, %a0
        sllg    %r1, %r1, 32
        ear     %r1, %a1
        larl    %r8, memlog_tls@indntpoff
        lg      %r8, 0(%r8)
        lg      %r8, 0(%r8, %r1)
9:      real    %r9, \name, \index
        stmg    %r8, %r9, \at(%r15)
.endm

.macro door name, symbol, arguments, index
        function \symbol
        enter   FRAME_BYTES, FRAME_AT
        know    \name, \index, FRAME_AT
        la      %r1, FRAME_AT(%r15)
        .if \arguments < 5
        lgr     2+\arguments, %r1
        .elseif \arguments == 5
        stg     %r1, ARGUMENTS_AT(%r15)
        .else
        lg      %r0, FRAME_BYTES+ARGUMENTS_AT(%r15)
        stg     %r0, ARGUMENTS_AT(%r15)
        stg     %r1, ARGUMENTS_AT+8(%r15)
        .endif
        brasl   %r14, memlog_on_\name
        leave   FRAME_BYTES
        br      %r14
        .cfi_endproc
        .size   \symbol, . - \symbol
.endm

/* What a watched call may be that its handler wants to hear of. */
#define PRCTL 172
#define SECCOMP 348
#define WATCH_BYTES 296
#define WATCH_AT_END 200

/* A call of any number of arguments that goes on by a jump: with the stack as
 * it was, for it may return twice, or on another stack. The handler returns
 * where to. */
.macro watch name, symbol, index, always
        function \symbol
        .ifeq \always
        chi     %r2, PRCTL
        je      1f
        chi     %r2, SECCOMP
        je      1f
        real    %r1, \name, \index
#ifndef MEMLOG_STATIC
        ltgr    %r1, %r1
        je      1f
#endif
        br      %r1
        .endif
1:      enter   WATCH_BYTES, WATCH_AT_END
        stmg    %r2, %r5, 160(%r15)
        know    \name, \index, WATCH_AT_END
        la      %r5, WATCH_AT_END(%r15)
        brasl   %r14, memlog_on_\name
        lgr     %r1, %r2
        lmg     %r2, %r5, 160(%r15)
        leave   WATCH_BYTES
        ltgr    %r1, %r1
        je      3f
        br      %r1
3:      lghi    %r2, -1
        br      %r14
        .cfi_endproc
        .size   \symbol, . - \symbol
.endm

#define DOOR_AT(name, arguments, index) door name, MEMLOG_SYMBOL(name), arguments, index
#define WATCH_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 0
#define TELL_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 1
#include "doors-list.h"

#ifndef MEMLOG_MEMBER
/* Our own dynamic section, by which the loader's list knows us; none in the
 * static shape, where malloc_usable_size is the program's own. */
        .hidden memlog_own_dynamic
        function memlog_own_dynamic
#ifdef MEMLOG_STATIC
        lghi    %r2, 0
#else
        .hidden _DYNAMIC
        larl    %r2, _DYNAMIC
#endif
        br      %r14
        .cfi_endproc

        .hidden memlog_static_usable
        function memlog_static_usable
#ifdef MEMLOG_STATIC
        .weak   malloc_usable_size
        larl    %r2, malloc_usable_size@GOTENT
        lg      %r2, 0(%r2)
#else
        lghi    %r2, 0
#endif
        br      %r14
        .cfi_endproc
#endif

        .section .note.GNU-stack, "", @progbits
