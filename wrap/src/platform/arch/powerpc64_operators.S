/* libmemlog_new.so on 64-bit PowerPC, ELFv1 (big-endian) and ELFv2: the C++
 * operators in front of the next ones.
 *
 * What an operator is, its mode says: 0 not known, 2 plain, else own; see
 * x86_64_operators.S. A plain operator is reached through a pointer, so that
 * the caller's TOC must come back: its call is made in a frame of its own. The
 * back chain leads over that, and nothing is held.
 *
 * The DoorFrame is that of the doors; its first word is the handler's. */

#define MODE_PLAIN 2
#define REALS_AT 80     /* the modes of twenty operators */
#define ALIGNED 4       /* from here on operator new takes an alignment */
#if _CALL_ELF == 2
#define TOC_AT 24
#define FRAME_AT 96
#else
#define TOC_AT 40
#define FRAME_AT 112
#endif
#define FRAME_BYTES 240
#define SAVED_AT FRAME_AT+40

.macro function symbol
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

.macro operator name, index, kind
        .globl  \name
        function \name
        .cfi_startproc
        li      11, \index
        b       .Lcode_\kind
        .cfi_endproc
.endm

/* Calls the function that r12 points to. */
.macro call_pointer
        std     2, TOC_AT(1)
#if _CALL_ELF != 2
        ld      2, 8(12)
        ld      12, 0(12)
#endif
        mtctr   12
        bctrl
        ld      2, TOC_AT(1)
.endm

.macro leave
        addi    1, 1, FRAME_BYTES
        ld      0, 16(1)
        mtlr    0
        blr
.endm

/* From an index in r11 to what is to be done, in a frame that holds the
 * arguments: on with r11, and r10 the table, if the operator is own. */
.macro resolve kind
        mflr    0
        std     0, 16(1)
        stdu    1, -FRAME_BYTES(1)
        .cfi_def_cfa_offset FRAME_BYTES
        .cfi_offset lr, 16
        std     0, FRAME_AT+16(1)
        addi    0, 1, FRAME_BYTES
        std     0, FRAME_AT+24(1)
        std     3, SAVED_AT(1)
        std     4, SAVED_AT+8(1)
        std     5, SAVED_AT+16(1)
        std     11, SAVED_AT+24(1)
        ld      10, .Loperators@toc(2)
        sldi    9, 11, 2
        lwzx    8, 10, 9
        cmpwi   8, 0
        bne     1f
        mr      3, 11
        mr      4, 10
        ld      5, .Lown_dynamic@toc(2)
        bl      memlog_operator_find
        nop
        mr      12, 3
        ld      3, SAVED_AT(1)
        ld      4, SAVED_AT+8(1)
        ld      5, SAVED_AT+16(1)
        ld      11, SAVED_AT+24(1)
        ld      10, .Loperators@toc(2)
        sldi    9, 11, 2
        lwzx    8, 10, 9
        cmpwi   8, 0
        bne     1f
        cmpdi   12, 0
        beq     .Lno_\kind
        b       2f
1:      isync   /* the mode before the function that it is of */
        sldi    9, 11, 3
        addi    9, 9, REALS_AT
        ldx     12, 10, 9
        cmpwi   8, MODE_PLAIN
        bne     3f
2:      call_pointer
        leave
3:      li      0, 0
        std     0, FRAME_AT(1)
        std     12, FRAME_AT+8(1)
        std     0, FRAME_AT+32(1)
.endm

        .section .toc, "aw"
.Loperators:
        .tc     memlog_operators[TC], memlog_operators
.Lown_dynamic:
        .tc     _DYNAMIC[TC], _DYNAMIC

#if _CALL_ELF == 2
#define CODE(symbol) .Lcode_##symbol: 
#else
#define CODE(symbol)
#endif
        .hidden _DYNAMIC
        function memlog_new
CODE(memlog_new)
        .cfi_startproc
        resolve new
        addi    3, 1, FRAME_AT
        bl      memlog_operator_new_begins
        nop
        ld      12, FRAME_AT+8(1)
        ld      3, SAVED_AT(1)
        ld      4, SAVED_AT+8(1)
        ld      5, SAVED_AT+16(1)
        call_pointer
        ld      4, SAVED_AT(1)
        ld      5, SAVED_AT+8(1)
        ld      6, SAVED_AT+24(1)
        addi    7, 1, FRAME_AT
        std     3, SAVED_AT+24(1)
        bl      memlog_operator_new_done
        nop
        ld      3, SAVED_AT+24(1)
        leave
/* No definition anywhere: as the standard's own would begin. */
.Lno_new:
        cmpwi   11, ALIGNED
        bge     1f
        bl      malloc
        nop
        leave
1:      mr      0, 3
        mr      3, 4
        mr      4, 0
        bl      memalign
        nop
        leave
        .cfi_endproc

        function memlog_delete
CODE(memlog_delete)
        .cfi_startproc
        resolve delete
        mr      6, 11
        addi    7, 1, FRAME_AT
        bl      memlog_operator_delete
        nop
        leave
.Lno_delete:
        bl      free
        nop
        leave
        .cfi_endproc

#define NEW(index, name) operator name, index, memlog_new
#define DELETE(index, name) operator name, index, memlog_delete
#include "operators.h"

/* `Operators` of operators.rs: the modes, then the real functions. */
        .section .bss.memlog_operators, "aw", @nobits
        .type   memlog_operators, @object
        .balign 8
memlog_operators:
        .skip   REALS_AT + 8 * 20
        .size   memlog_operators, . - memlog_operators

        .section .note.GNU-stack, "", @progbits
