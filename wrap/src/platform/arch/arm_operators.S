/* libmemlog_new.so on 32-bit ARM: the C++ operators in front of the next ones.
 *
 * What an operator is, its mode says: 0 not known, 2 plain, else own; see
 * x86_64_operators.S. The mode is read before the function that it is of.
 *
 * The DoorFrame is that of the doors; its first word is the handler's. */

#define MODE_PLAIN 2
#define REALS_AT 80     /* the modes of twenty operators */
#define ALIGNED 4       /* from here on operator new takes an alignment */
#define FRAME 56

        .syntax unified
        .arch   armv7-a
        .arm
/* A library of which nobody says how it is called is no library for programs
 * that hand floating point in registers. */
#ifdef __ARM_PCS_VFP
        .eabi_attribute Tag_ABI_VFP_args, 1
#endif

/* The address of the table, whose distance from 1 is at 2. */
.macro table register
        ldr     \register, 2f
1:      add     \register, pc, \register
.endm
.macro table_place
2:      .word   memlog_operators - (1b + 8)
.endm

.macro operator name, index, kind
        .globl  \name
        .type   \name, %function
        .p2align 4
\name:
        .fnstart
        table   r3
        ldr     ip, [r3, #4*\index]
        dmb     ish
        cmp     ip, #MODE_PLAIN
        bne     3f
        ldr     ip, [r3, #REALS_AT+4*\index]
        bx      ip
3:      mov     ip, #\index
        b       \kind
        table_place
        .fnend
        .size   \name, . - \name
.endm

/* From an index in ip to what is to be done; the arguments stay where they are.
 * A frame with them, the index and where to return to is open from here on. */
.macro resolve kind
        push    {r0-r2, r4, r5, lr}
        .save   {r4, r5, lr}
        .pad    #12
        mov     r4, ip
        table   r5
        ldr     r3, [r5, r4, lsl #2]
        dmb     ish
        cmp     r3, #0
        bne     4f
        mov     r0, r4
        mov     r1, r5
        ldr     r2, 6f
5:      add     r2, pc, r2
        mov     r3, #0
        bl      memlog_operator_find
        mov     ip, r0
        ldr     r3, [r5, r4, lsl #2]
        dmb     ish
        cmp     r3, #0
        bne     4f
        cmp     ip, #0
        beq     .Lno_\kind
        b       7f
4:      add     ip, r5, r4, lsl #2
        ldr     ip, [ip, #REALS_AT]
        cmp     r3, #MODE_PLAIN
        bne     8f
7:      pop     {r0-r2, r4, r5, lr}
        bx      ip
        table_place
6:      .word   _DYNAMIC - (5b + 8)
8:      mov     r3, r4
        pop     {r0-r2, r4, r5, lr}
.endm

/* Opens a DoorFrame above so many bytes, a multiple of 8; the real function is
 * in ip. */
.macro enter bytes
        sub     sp, sp, #8
        .pad    #8
        push    {r4-r11, lr}
        .save   {r4-r11, lr}
        sub     sp, sp, #12+\bytes
        .pad    #12+\bytes
        mov     lr, #0
        str     lr, [sp, #\bytes]
        str     lr, [sp, #\bytes+4]
        str     ip, [sp, #\bytes+8]
        str     lr, [sp, #\bytes+48]
.endm

.macro leave bytes
        add     sp, sp, #12+\bytes
        pop     {r4-r11, lr}
        add     sp, sp, #8
        bx      lr
.endm

        .hidden _DYNAMIC
        .text
        .type   memlog_new, %function
        .p2align 4
memlog_new:
        .fnstart
        resolve new
        b       memlog_new_own
/* No definition anywhere: as the standard's own would begin. */
.Lno_new:
        cmp     r4, #ALIGNED
        pop     {r0-r2, r4, r5, lr}
        blo     malloc
        mov     r3, r0
        mov     r0, r1
        mov     r1, r3
        b       memalign
        .fnend
        .size   memlog_new, . - memlog_new

        .type   memlog_new_own, %function
        .p2align 4
memlog_new_own:
        .fnstart
        enter   8
        mov     r4, r0
        mov     r5, r1
        mov     r6, r2
        mov     r7, r3
        mov     r8, ip
        add     r0, sp, #8
        bl      memlog_operator_new_begins
        mov     r0, r4
        mov     r1, r5
        mov     r2, r6
        blx     r8
        mov     r8, r0
        mov     r1, r4
        mov     r2, r5
        mov     r3, r7
        add     ip, sp, #8
        str     ip, [sp]
        bl      memlog_operator_new_done
        mov     r0, r8
        leave   8
        .fnend
        .size   memlog_new_own, . - memlog_new_own

        .type   memlog_delete, %function
        .p2align 4
memlog_delete:
        .fnstart
        resolve delete
        b       memlog_delete_own
.Lno_delete:
        pop     {r0-r2, r4, r5, lr}
        b       free
        .fnend
        .size   memlog_delete, . - memlog_delete

        .type   memlog_delete_own, %function
        .p2align 4
memlog_delete_own:
        .fnstart
        enter   8
        add     ip, sp, #8
        str     ip, [sp]
        bl      memlog_operator_delete
        leave   8
        .fnend
        .size   memlog_delete_own, . - memlog_delete_own

#define NEW(index, name) operator name, index, memlog_new
#define DELETE(index, name) operator name, index, memlog_delete
#include "operators.h"

/* `Operators` of operators.rs: the modes, then the real functions. */
        .section .bss.memlog_operators, "aw", %nobits
        .type   memlog_operators, %object
        .balign 8
memlog_operators:
        .skip   REALS_AT + 4 * 20
        .size   memlog_operators, . - memlog_operators

        .section .note.GNU-stack, "", %progbits
