/* The doorstep on 64-bit PowerPC, ELFv1 (big-endian) and ELFv2.
 *
 * A door hands its handler the program's arguments in r3 on and, one register
 * further, a DoorFrame:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: a function pointer, so under ELFv1 the
 *            address of a descriptor
 *  16 return address    24 the caller's stack pointer    32 (the handler's mark)
 *
 * Only registers that no argument uses are touched: r0, r11, r12. Under ELFv1
 * a function's symbol is its descriptor in .opd, so that calls through
 * pointers and across objects find code and TOC. */

#include "doors-shape.h"

#define LIFE_ON 2
#if _CALL_ELF == 2
#define FRAME_BYTES 144
#define FRAME_AT 96
#else
#define FRAME_BYTES 160
#define FRAME_AT 112
#endif

.macro function symbol
        .globl  \symbol
        .type   \symbol, @function
#if _CALL_ELF == 2
        .text
        .p2align 4
\symbol:
0:      addis   2, 12, .TOC.-0b@ha
        addi    2, 2, .TOC.-0b@l
        .localentry \symbol, .-\symbol
#else
        .section .opd, "aw"
        .p2align 3
\symbol:
        .quad   .Lcode_\symbol, .TOC.@tocbase, 0
        .text
        .p2align 4
.Lcode_\symbol:
#endif
.endm

.macro door name, symbol, arguments, index
        .section .toc, "aw"
.Llife_\name:
        .tc     memlog_life[TC], memlog_life
.Lreal_\name:
#ifdef MEMLOG_STATIC
        .tc     __real_\name[TC], __real_\name
#else
        .tc     memlog_reals_\index[TC], memlog_reals+8*\index
#endif
        function \symbol
        .cfi_startproc
        mflr    0
        std     0, 16(1)
        stdu    1, -FRAME_BYTES(1)
        .cfi_def_cfa_offset FRAME_BYTES
        .cfi_offset lr, 16
        std     0, FRAME_AT+16(1)
        addi    0, 1, FRAME_BYTES
        std     0, FRAME_AT+24(1)
        li      12, 0
        ld      11, .Llife_\name@toc(2)
        lwz     11, 0(11)
        cmpwi   11, LIFE_ON
        bne     1f
        addis   12, 2, memlog_tls@got@tprel@ha
        ld      12, memlog_tls@got@tprel@l(12)
        add     12, 12, memlog_tls@tls
        ld      12, 0(12)
1:      std     12, FRAME_AT(1)
        ld      11, .Lreal_\name@toc(2)
#ifndef MEMLOG_STATIC
        ld      11, 0(11)
#endif
        std     11, FRAME_AT+8(1)
        addi    3+\arguments, 1, FRAME_AT
        bl      memlog_on_\name
        nop
        addi    1, 1, FRAME_BYTES
        ld      0, 16(1)
        mtlr    0
        blr
        .cfi_endproc
.endm

/* What a watched call may be that its handler wants to hear of. */
#define PRCTL 171
#define SECCOMP 358
#define WATCH_BYTES 208
#define SAVED_AT FRAME_AT+40

/* A call of any number of arguments that goes on by a jump: with the stack as
 * it was, for it may return twice, or on another stack. The handler returns
 * where to. The caller's TOC is brought back by the caller. */
.macro watch name, symbol, index, always
        .section .toc, "aw"
.Llife_\name:
        .tc     memlog_life[TC], memlog_life
.Lreal_\name:
#ifdef MEMLOG_STATIC
        .tc     __real_\name[TC], __real_\name
#else
        .tc     memlog_reals_\index[TC], memlog_reals+8*\index
#endif
        function \symbol
        .cfi_startproc
        ld      12, .Lreal_\name@toc(2)
#ifndef MEMLOG_STATIC
        ld      12, 0(12)
        cmpdi   12, 0
        beq     1f
#endif
        .ifeq \always
        cmpwi   3, PRCTL
        beq     1f
        cmpwi   3, SECCOMP
        beq     1f
        .else
        b       1f
        .endif
0:
#if _CALL_ELF != 2
        ld      2, 8(12)
        ld      12, 0(12)
#endif
        mtctr   12
        bctr
1:      mflr    0
        std     0, 16(1)
        stdu    1, -WATCH_BYTES(1)
        .cfi_def_cfa_offset WATCH_BYTES
        .cfi_offset lr, 16
        std     0, FRAME_AT+16(1)
        addi    0, 1, WATCH_BYTES
        std     0, FRAME_AT+24(1)
        std     12, FRAME_AT+8(1)
        std     3, SAVED_AT(1)
        std     4, SAVED_AT+8(1)
        std     5, SAVED_AT+16(1)
        std     6, SAVED_AT+24(1)
        std     7, SAVED_AT+32(1)
        std     8, SAVED_AT+40(1)
        std     9, SAVED_AT+48(1)
        li      12, 0
        ld      11, .Llife_\name@toc(2)
        lwz     11, 0(11)
        cmpwi   11, LIFE_ON
        bne     2f
        addis   12, 2, memlog_tls@got@tprel@ha
        ld      12, memlog_tls@got@tprel@l(12)
        add     12, 12, memlog_tls@tls
        ld      12, 0(12)
2:      std     12, FRAME_AT(1)
        addi    6, 1, FRAME_AT
        bl      memlog_on_\name
        nop
        mr      12, 3
        ld      3, SAVED_AT(1)
        ld      4, SAVED_AT+8(1)
        ld      5, SAVED_AT+16(1)
        ld      6, SAVED_AT+24(1)
        ld      7, SAVED_AT+32(1)
        ld      8, SAVED_AT+40(1)
        ld      9, SAVED_AT+48(1)
        addi    1, 1, WATCH_BYTES
        ld      0, 16(1)
        mtlr    0
        cmpdi   12, 0
        bne     0b
        li      3, -1
        blr
        .cfi_endproc
.endm

#define DOOR_AT(name, arguments, index) door name, MEMLOG_SYMBOL(name), arguments, index
#define WATCH_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 0
#define TELL_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 1
#include "doors-list.h"

#ifndef MEMLOG_MEMBER
        .hidden memlog_own_dynamic
        function memlog_own_dynamic
#ifdef MEMLOG_STATIC
        li      3, 0
#else
        .section .toc, "aw"
.Ldynamic:
        .tc     _DYNAMIC[TC], _DYNAMIC
        .text
        ld      3, .Ldynamic@toc(2)
#endif
        blr

        .hidden memlog_static_usable
        function memlog_static_usable
#ifdef MEMLOG_STATIC
        .section .toc, "aw"
        .weak   malloc_usable_size
.Lusable:
        .tc     malloc_usable_size[TC], malloc_usable_size
        .text
        ld      3, .Lusable@toc(2)
#else
        li      3, 0
#endif
        blr
#endif

        .section .note.GNU-stack, "", @progbits
