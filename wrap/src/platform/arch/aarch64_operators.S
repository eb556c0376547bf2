/* libmemlog_new.so on 64-bit ARM: the C++ operators in front of the next ones.
 *
 * What an operator is, its mode says: 0 not known, 2 plain, else own; see
 * x86_64_operators.S. The mode is read before the function that it is of.
 *
 * The DoorFrame is that of the doors; its first word is the handler's. */

#define MODE_PLAIN 2
#define REALS_AT 80     /* the modes of twenty operators */
#define ALIGNED 4       /* from here on operator new takes an alignment */

.macro table register
        adrp    \register, memlog_operators
        add     \register, \register, #:lo12:memlog_operators
.endm

.macro operator name, index, kind
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        hint    #34             /* bti c */
        table   x9
        add     x10, x9, #4*\index
        ldar    w10, [x10]
        cmp     w10, #MODE_PLAIN
        b.ne    1f
        ldr     x16, [x9, #REALS_AT+8*\index]
        br      x16
1:      mov     x11, #\index
        b       \kind
        .cfi_endproc
        .size   \name, . - \name
.endm

.macro mode
        table   x9
        add     x10, x9, x11, lsl #2
        ldar    w10, [x10]
.endm

/* From an index in x11 to what is to be done; the arguments stay where they
 * are. Leaves the table in x9. */
.macro resolve kind
        mode
        cbnz    w10, 1f
        stp     x29, x30, [sp, #-48]!
        .cfi_def_cfa_offset 48
        .cfi_offset x29, -48
        .cfi_offset x30, -40
        mov     x29, sp
        stp     x0, x1, [sp, #16]
        stp     x2, x11, [sp, #32]
        mov     x0, x11
        mov     x1, x9
        adrp    x2, _DYNAMIC
        add     x2, x2, #:lo12:_DYNAMIC
        bl      memlog_operator_find
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x2, x11, [sp, #32]
        ldp     x29, x30, [sp], #48
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        mode
        cbnz    w10, 1f
        cbz     x16, .Lno_\kind
        br      x16
1:      cmp     w10, #MODE_PLAIN
        b.ne    2f
        add     x10, x9, x11, lsl #3
        ldr     x16, [x10, #REALS_AT]
        br      x16
2:
.endm

/* Opens a frame of so many bytes with the DoorFrame at its end. */
.macro enter bytes, at
        stp     x29, x30, [sp, #-\bytes]!
        .cfi_def_cfa_offset \bytes
        .cfi_offset x29, -\bytes
        .cfi_offset x30, -\bytes+8
        add     x10, x9, x11, lsl #3
        ldr     x10, [x10, #REALS_AT]
        stp     xzr, x10, [sp, #\at]
        stp     x19, x20, [sp, #\at+16]
        stp     x21, x22, [sp, #\at+32]
        stp     x23, x24, [sp, #\at+48]
        stp     x25, x26, [sp, #\at+64]
        stp     x27, x28, [sp, #\at+80]
        stp     x29, x30, [sp, #\at+96]
        str     xzr, [sp, #\at+112]
        mov     x29, sp
.endm

.macro leave bytes
        ldp     x29, x30, [sp], #\bytes
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        ret
.endm

        .hidden _DYNAMIC
        .text
        .type   memlog_new, @function
        .p2align 4
memlog_new:
        .cfi_startproc
        resolve new
        enter   176, 48
        stp     x0, x1, [sp, #16]
        stp     x2, x11, [sp, #32]
        add     x0, sp, #48
        bl      memlog_operator_new_begins
        ldp     x0, x1, [sp, #16]
        ldr     x2, [sp, #32]
        ldr     x16, [sp, #48+8]
        blr     x16
        ldp     x1, x2, [sp, #16]
        ldr     x3, [sp, #40]
        add     x4, sp, #48
        str     x0, [sp, #40]
        bl      memlog_operator_new_done
        ldr     x0, [sp, #40]
        leave   176
/* No definition anywhere: as the standard's own would begin. */
.Lno_new:
        cmp     x11, #ALIGNED
        b.hs    1f
        b       malloc
1:      mov     x9, x0
        mov     x0, x1
        mov     x1, x9
        b       memalign
        .cfi_endproc
        .size   memlog_new, . - memlog_new

        .type   memlog_delete, @function
        .p2align 4
memlog_delete:
        .cfi_startproc
        resolve delete
        enter   144, 16
        mov     x3, x11
        add     x4, sp, #16
        bl      memlog_operator_delete
        leave   144
.Lno_delete:
        b       free
        .cfi_endproc
        .size   memlog_delete, . - memlog_delete

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
