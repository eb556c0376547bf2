/* The doorstep on 32-bit ARM.
 *
 * A door hands its handler the program's arguments in r0 to r3 and on the stack
 * and, one argument further, a DoorFrame, which ends at the caller's stack
 * pointer:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  12 r4 to r11   44 return address   48 (the handler's mark)   52 (nothing)
 *
 * What calls preserve is in the frame and can be used until it is left. Shapes
 * as on x86_64; addresses as in arm.S. */

#include "doors-shape.h"

#define LIFE_ON 2
#define FRAME 56

        .syntax unified
        .arch   armv7-a
        .arm

.macro function symbol
        .text
        .globl  \symbol
        .type   \symbol, %function
        .p2align 4
\symbol:
        .fnstart
.endm
.macro end symbol
        .fnend
        .size   \symbol, . - \symbol
.endm

/* Opens a DoorFrame above so many bytes, a multiple of 8. */
.macro enter bytes
        sub     sp, sp, #8
        .pad    #8
        push    {r4-r11, lr}
        .save   {r4-r11, lr}
        sub     sp, sp, #12+\bytes
        .pad    #12+\bytes
.endm

.macro leave bytes
        add     sp, sp, #12+\bytes
        pop     {r4-r11, lr}
        add     sp, sp, #8
.endm

/* Where the real function of a door is, from what is read at 3. */
.macro real_at name, index
#ifdef MEMLOG_STATIC
7:      .word   __real_\name(GOT_PREL) + (. - 3b - 8)
#else
7:      .word   memlog_reals + 4*\index - (3b + 8)
#endif
.endm

/* The thread's word and the real function, into the DoorFrame. Life before
 * everything, TLS included: a call may come before relocation or before there
 * is a thread pointer. */
.macro know at
        mov     r4, #0
        mov     r5, #0
        ldr     r6, 5f
1:      ldr     r6, [pc, r6]
        cmp     r6, #LIFE_ON
        bne     9f
        mrc     p15, 0, r6, c13, c0, 3
        ldr     r4, 6f
2:      ldr     r4, [pc, r4]
        add     r6, r6, r4
        ldr     r4, [r6]
        ldr     r5, [r6, #4]
9:      ldr     r6, 7f
3:      ldr     r6, [pc, r6]
        str     r4, [sp, #\at]
        str     r5, [sp, #\at+4]
        str     r6, [sp, #\at+8]
.endm
.macro places name, index
5:      .word   memlog_life - (1b + 8)
6:      .word   memlog_tls(GOTTPOFF) + (. - 2b - 8)
        real_at \name, \index
.endm

/* A door whose frame is handed in a register. */
.macro door name, symbol, register, index
        function \symbol
        enter   0
        know    0
        mov     \register, sp
        bl      memlog_on_\name
        leave   0
        bx      lr
        places  \name, \index
        end \symbol
.endm

/* One with so many words of arguments on the stack, copied, for they are the
 * handler's then, and the frame behind them. */
.macro door_on_stack name, symbol, words, index
        function \symbol
        enter   24
        know    24
        .set    .Lword, 0
        .rept   \words
        ldr     r4, [sp, #24+FRAME+.Lword]
        str     r4, [sp, #.Lword]
        .set    .Lword, .Lword+4
        .endr
        add     r4, sp, #24
        str     r4, [sp, #4*\words]
        bl      memlog_on_\name
        leave   24
        bx      lr
        places  \name, \index
        end \symbol
.endm

/* What a watched call may be that its handler wants to hear of. */
#define PRCTL 172
#define SECCOMP 383

/* A call of any number of arguments that goes on by a jump: with the stack as
 * it was, for it may return twice, or on another stack. The handler returns
 * where to. */
.macro watch name, symbol, index, always
        function \symbol
        .ifeq \always
        movw    ip, #SECCOMP
        cmp     r0, #PRCTL
        cmpne   r0, ip
        beq     8f
        ldr     ip, 7f
3:      ldr     ip, [pc, ip]
#ifndef MEMLOG_STATIC
        cmp     ip, #0
        beq     8f
#endif
        bx      ip
        real_at \name, \index
        .endif
8:      enter   16
        stm     sp, {r0-r3}
        know    16
        add     r3, sp, #16
        bl      memlog_on_\name
        mov     ip, r0
        ldm     sp, {r0-r3}
        leave   16
        cmp     ip, #0
        bxne    ip
        mvn     r0, #0
        bx      lr
        places  \name, \index
        end \symbol
.endm

/* mmap64's last argument has two words, which begin at an even one. */
#define DOOR_AT(name, arguments, index) \
        .ifc name, mmap64; \
        door_on_stack name, MEMLOG_SYMBOL(name), 4, index; \
        .else; .if arguments > 3; \
        door_on_stack name, MEMLOG_SYMBOL(name), arguments-4, index; \
        .else; \
        door name, MEMLOG_SYMBOL(name), r##arguments, index; \
        .endif; .endif
#define WATCH_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 0
#define TELL_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 1
#include "doors-list.h"

#ifndef MEMLOG_MEMBER
/* Our own dynamic section, by which the loader's list knows us; none in the
 * static shape, where malloc_usable_size is the program's own. */
        .hidden memlog_own_dynamic
        function memlog_own_dynamic
        mov     r1, #0
#ifdef MEMLOG_STATIC
        mov     r0, #0
        bx      lr
#else
        .hidden _DYNAMIC
        ldr     r0, 2f
1:      add     r0, pc, r0
        bx      lr
2:      .word   _DYNAMIC - (1b + 8)
#endif
        end memlog_own_dynamic

        .hidden memlog_static_usable
        function memlog_static_usable
#ifdef MEMLOG_STATIC
        .weak   malloc_usable_size
        ldr     r0, 2f
1:      ldr     r0, [pc, r0]
        bx      lr
2:      .word   malloc_usable_size(GOT_PREL) + (. - 1b - 8)
#else
        mov     r0, #0
        bx      lr
#endif
        end memlog_static_usable
#endif

        .section .note.GNU-stack, "", %progbits
