/* The doorstep on 64-bit ARM.
 *
 * A door hands its handler the program's arguments in x0 on and, one register
 * further, a DoorFrame, which ends at the caller's stack pointer:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 x19 to x28   96 x29   104 return address   112 (the handler's mark)
 *
 * Only registers that no argument uses are touched: x9 on. Shapes as on
 * x86_64. */

#include "doors-shape.h"

#define LIFE_ON 2
#define FRAME_BYTES 144
#define FRAME_AT 16

.macro function symbol
        .text
        .globl  \symbol
        .type   \symbol, @function
        .p2align 4
\symbol:
        .cfi_startproc
        hint    #34             /* bti c */
.endm

/* Opens a frame of so many bytes with the DoorFrame at its end; the caller's
 * registers and its return address as they were. */
.macro enter bytes, at
        stp     x29, x30, [sp, #-\bytes]!
        .cfi_def_cfa_offset \bytes
        .cfi_offset x29, -\bytes
        .cfi_offset x30, -\bytes+8
        stp     x19, x20, [sp, #\at+16]
        stp     x21, x22, [sp, #\at+32]
        stp     x23, x24, [sp, #\at+48]
        stp     x25, x26, [sp, #\at+64]
        stp     x27, x28, [sp, #\at+80]
        stp     x29, x30, [sp, #\at+96]
        mov     x29, sp
.endm

.macro leave bytes
        ldp     x29, x30, [sp], #\bytes
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
.endm

/* The real function of a door. */
.macro real register, name, index
#ifdef MEMLOG_STATIC
        adrp    \register, :got:__real_\name
        ldr     \register, [\register, #:got_lo12:__real_\name]
#else
        adrp    \register, memlog_reals+8*\index
        ldr     \register, [\register, #:lo12:memlog_reals+8*\index]
#endif
.endm

/* The thread's word and the real function, into the DoorFrame. Life before
 * everything, TLS included: a call may come before relocation or before there
 * is a thread pointer. */
.macro know name, index, at
        mov     x10, #0
        adrp    x9, memlog_life
        ldr     w9, [x9, #:lo12:memlog_life]
        cmp     w9, #LIFE_ON
        b.ne    9f
        mrs     x9, tpidr_el0
        adrp    x10, :gottprel:memlog_tls
        ldr     x10, [x10, #:gottprel_lo12:memlog_tls]
        ldr     x10, [x9, x10]
9:      real    x9, \name, \index
        stp     x10, x9, [sp, #\at]
.endm

.macro door name, symbol, arguments, index
        function \symbol
        enter   FRAME_BYTES, FRAME_AT
        know    \name, \index, FRAME_AT
        add     x\arguments, sp, #FRAME_AT
        bl      memlog_on_\name
        leave   FRAME_BYTES
        ret
        .cfi_endproc
        .size   \symbol, . - \symbol
.endm

/* What a watched call may be that its handler wants to hear of. */
#define PRCTL 167
#define SECCOMP 277
#define WATCH_BYTES 224
#define WATCH_AT_END 96

/* A call of any number of arguments that goes on by a jump: with the stack as
 * it was, for it may return twice, or on another stack. The handler returns
 * where to. */
.macro watch name, symbol, index, always
        function \symbol
        .ifeq \always
        cmp     w0, #PRCTL
        b.eq    1f
        cmp     w0, #SECCOMP
        b.eq    1f
        real    x16, \name, \index
#ifndef MEMLOG_STATIC
        cbz     x16, 1f
#endif
        br      x16
        .endif
1:      enter   WATCH_BYTES, WATCH_AT_END
        stp     x0, x1, [sp, #16]
        stp     x2, x3, [sp, #32]
        stp     x4, x5, [sp, #48]
        stp     x6, x7, [sp, #64]
        str     x8, [sp, #80]
        know    \name, \index, WATCH_AT_END
        add     x3, sp, #WATCH_AT_END
        bl      memlog_on_\name
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x2, x3, [sp, #32]
        ldp     x4, x5, [sp, #48]
        ldp     x6, x7, [sp, #64]
        ldr     x8, [sp, #80]
        leave   WATCH_BYTES
        cbz     x16, 3f
        br      x16
3:      mov     x0, #-1
        ret
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
        mov     x0, #0
#else
        .hidden _DYNAMIC
        adrp    x0, _DYNAMIC
        add     x0, x0, #:lo12:_DYNAMIC
#endif
        ret
        .cfi_endproc

        .hidden memlog_static_usable
        function memlog_static_usable
#ifdef MEMLOG_STATIC
        .weak   malloc_usable_size
        adrp    x0, :got:malloc_usable_size
        ldr     x0, [x0, #:got_lo12:malloc_usable_size]
#else
        mov     x0, #0
#endif
        ret
        .cfi_endproc
#endif

        .section .note.GNU-stack, "", @progbits
