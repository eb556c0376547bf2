/* The doorstep on 64-bit ARM; see skeleton.h for the words. A DoorFrame:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 x19 to x28   96 x29   104 return address   112 (the handler's mark)
 * 120 (nothing); the caller's sp is 128 above the frame
 *
 * Only registers that no argument uses are touched: x9 on. */

#define LIFE_BYTES 65536
#define BELOW_DOOR 16
#define BELOW_WATCH 96
#define BELOW_NEW 48
#define BELOW_DELETE 16
#define PRCTL 167
#define SECCOMP 277
#define LANDING hint 34         /* bti c */
#define RETURN ret
#define CALL(symbol) bl symbol
#define CALL_OUT(symbol) bl symbol
#define JUMP_OUT(symbol) b symbol

.macro open bytes
        stp     x29, x30, [sp, #-(\bytes)]!
        .cfi_def_cfa_offset \bytes
        .cfi_offset x29, -(\bytes)
        .cfi_offset x30, 8-(\bytes)
.endm

.macro close bytes
        ldp     x29, x30, [sp], #\bytes
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
.endm

.macro enter below
        open    128+\below
        stp     x19, x20, [sp, #\below+16]
        stp     x21, x22, [sp, #\below+32]
        stp     x23, x24, [sp, #\below+48]
        stp     x25, x26, [sp, #\below+64]
        stp     x27, x28, [sp, #\below+80]
        stp     x29, x30, [sp, #\below+96]
        mov     x29, sp
.endm

.macro leave below
        close   128+\below
.endm

.macro real register, name, index
#ifdef MEMLOG_STATIC
        adrp    \register, :got:__real_\name
        ldr     \register, [\register, #:got_lo12:__real_\name]
#else
        adrp    \register, memlog_reals+8*\index
        ldr     \register, [\register, #:lo12:memlog_reals+8*\index]
#endif
.endm

.macro know name, symbol, index, below
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
        stp     x10, x9, [sp, #\below]
.endm

.macro hand arguments, below
        add     x\arguments, sp, #\below
.endm

.macro pass name, symbol, index, told
        cmp     w0, #PRCTL
        b.eq    \told
        cmp     w0, #SECCOMP
        b.eq    \told
        real    x16, \name, \index
#ifndef MEMLOG_STATIC
        cbz     x16, \told
#endif
        br      x16
.endm

.macro keep_arguments
        stp     x0, x1, [sp, #16]
        stp     x2, x3, [sp, #32]
        stp     x4, x5, [sp, #48]
        stp     x6, x7, [sp, #64]
        str     x8, [sp, #80]
.endm

.macro give_back
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x2, x3, [sp, #32]
        ldp     x4, x5, [sp, #48]
        ldp     x6, x7, [sp, #64]
        ldr     x8, [sp, #80]
.endm

.macro go_on
        cbz     x16, 3f
        br      x16
3:      mov     x0, #-1
        ret
.endm

#define ANSWER_NOTHING mov x0, 0; ret
#define ANSWER_ADDRESS(symbol, from) adrp x0, symbol; add x0, x0, :lo12:symbol; ret
#define ANSWER_WEAK(symbol, from) adrp x0, :got:symbol; ldr x0, [x0, :got_lo12:symbol]; ret

/* The operators': the index is in x11, the table in x9, the mode in w10. */
.macro table
        adrp    x9, memlog_operators
        add     x9, x9, #:lo12:memlog_operators
.endm

.macro plain_or name, index, kind
        table
        add     x10, x9, #4*\index
        ldar    w10, [x10]
        cmp     w10, #MODE_PLAIN
        b.ne    1f
        ldr     x16, [x9, #REALS_AT+8*\index]
        br      x16
1:      mov     x11, #\index
        b       \kind
.endm

.macro mode
        table
        add     x10, x9, x11, lsl #2
        ldar    w10, [x10]
.endm

#define IF_KNOWN(to) cbnz w10, to
#define IF_OWN(to) cmp w10, MODE_PLAIN; b.ne to
#define IF_NOT_FOUND(to) cbz x16, to
#define IF_ALIGNED(to) cmp x11, ALIGNED; b.hs to
#define JUMP_FOUND br x16
#define JUMP_REAL add x10, x9, x11, lsl 3; ldr x16, [x10, REALS_AT]; br x16
#define SWAP mov x9, x0; mov x0, x1; mov x1, x9
#define keep_asked stp x0, x1, [sp, 16]; stp x2, x11, [sp, 32]

.macro search
        open    48
        mov     x29, sp
        keep_asked
        mov     x0, x11
        mov     x1, x9
        adrp    x2, _DYNAMIC
        add     x2, x2, #:lo12:_DYNAMIC
        bl      memlog_operator_find
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x2, x11, [sp, #32]
        close   48
.endm

.macro fill below
        add     x10, x9, x11, lsl #3
        ldr     x10, [x10, #REALS_AT]
        stp     xzr, x10, [sp, #\below]
        str     xzr, [sp, #\below+112]
.endm

.macro own_begins
        keep_asked
        add     x0, sp, #BELOW_NEW
.endm

.macro own_call
        ldp     x0, x1, [sp, #16]
        ldr     x2, [sp, #32]
        ldr     x16, [sp, #BELOW_NEW+8]
        blr     x16
.endm

.macro own_done
        ldp     x1, x2, [sp, #16]
        ldr     x3, [sp, #40]
        add     x4, sp, #BELOW_NEW
        str     x0, [sp, #40]
.endm

#define own_result ldr x0, [sp, 40]
#define own_delete mov x3, x11; add x4, sp, BELOW_DELETE
