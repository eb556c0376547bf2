/* The doorstep on 32-bit ARM; see skeleton.h for the words. A DoorFrame:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  12 r4 to r11   44 return address   48 (the handler's mark)   52 (nothing)
 *
 * What calls preserve is in the frame and can be used until it is left. Arguments
 * are in r0 to r3, then on the stack: those are copied, for they are the
 * handler's then. Addresses are distances from where they are added to the pc,
 * which is two instructions ahead there. */

        .syntax unified
        .arch   armv7-a
        .arm
/* A library of which nobody says how it is called is no library for programs
 * that hand floating point in registers. */
#if defined(IN_OPERATORS) && defined(__ARM_PCS_VFP)
        .eabi_attribute Tag_ABI_VFP_args, 1
#endif

#define LIFE_BYTES 4096
#define FRAME 56
#define BELOW_DOOR 0
#define BELOW_WIDE_DOOR 24
#define IN_REGISTERS 3
#define MMAP64_WORDS 8
#define BELOW_WATCH 16
#define BELOW_NEW 8
#define BELOW_DELETE 8
#define PRCTL 172
#define SECCOMP 383
#define OPEN(symbol) symbol: .fnstart
#define CLOSE(symbol) .fnend
#define LANDING
#define RETURN bx lr
#define CALL(symbol) bl symbol
#define CALL_OUT(symbol) bl symbol
#define JUMP_OUT(symbol) b symbol

.macro enter below
        sub     sp, sp, #8
        .pad    #8
        push    {r4-r11, lr}
        .save   {r4-r11, lr}
        sub     sp, sp, #12+\below
        .pad    #12+\below
.endm

.macro leave below
        add     sp, sp, #12+\below
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

.macro know name, symbol, index, below
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
        str     r4, [sp, #\below]
        str     r5, [sp, #\below+4]
        str     r6, [sp, #\below+8]
.endm

/* The distances that are read there. */
#define HAS_PLACES
.macro places name, index
5:      .word   memlog_life - (1b + 8)
6:      .word   memlog_tls(GOTTPOFF) + (. - 2b - 8)
        real_at \name, \index
.endm

.macro hand arguments, below
        .if \arguments > IN_REGISTERS
        .set    .Lword, 0
        .rept   \arguments-4
        ldr     r4, [sp, #\below+FRAME+.Lword]
        str     r4, [sp, #.Lword]
        .set    .Lword, .Lword+4
        .endr
        add     r4, sp, #\below
        str     r4, [sp, #.Lword]
        .elseif \below
        add     r\arguments, sp, #\below
        .else
        mov     r\arguments, sp
        .endif
.endm

.macro pass name, symbol, index, told
        movw    ip, #SECCOMP
        cmp     r0, #PRCTL
        cmpne   r0, ip
        beq     \told
        ldr     ip, 7f
3:      ldr     ip, [pc, ip]
#ifndef MEMLOG_STATIC
        cmp     ip, #0
        beq     \told
#endif
        bx      ip
        real_at \name, \index
.endm

#define keep_arguments stm sp, {r0-r3}
#define give_back mov ip, r0; ldm sp, {r0-r3}

.macro go_on
        cmp     ip, #0
        bxne    ip
        mvn     r0, #0
        bx      lr
.endm

/* In two words, r1 having the upper one. */
#define ANSWER_NOTHING mov r0, 0; mov r1, 0; bx lr

.macro answer_address symbol
        mov     r1, #0
        ldr     r0, 2f
1:      add     r0, pc, r0
        bx      lr
2:      .word   \symbol - (1b + 8)
.endm

.macro answer_weak symbol
        ldr     r0, 2f
1:      ldr     r0, [pc, r0]
        bx      lr
2:      .word   \symbol(GOT_PREL) + (. - 1b - 8)
.endm

#define ANSWER_ADDRESS(symbol, from) answer_address symbol
#define ANSWER_WEAK(symbol, from) answer_weak symbol

/* The operators': the index is in ip, later in r3. The address of the table,
 * whose distance from 1 is at 2. */
.macro table register
        ldr     \register, 2f
1:      add     \register, pc, \register
.endm
.macro table_place
2:      .word   memlog_operators - (1b + 8)
.endm

.macro plain_or name, index, kind
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
.endm

.macro mode
        ldr     r3, [r5, r4, lsl #2]
        dmb     ish
.endm

#define IF_ALIGNED(to) cmp r3, ALIGNED; bhs to
#define SWAP mov r3, r0; mov r0, r1; mov r1, r3

/* That of all, in a frame with the arguments, the index and where to return to.
 * What is own lies in a part of the table of unwinding of its own, for that
 * knows one frame a function. Leaves the index in r3, the real function in ip. */
#define OWN_RESOLVE
.macro resolve kind
        push    {r0-r2, r4, r5, lr}
        .save   {r4, r5, lr}
        .pad    #12
        mov     r4, ip
        table   r5
        mode
        cmp     r3, #0
        bne     4f
        mov     r0, r4
        mov     r1, r5
        ldr     r2, 6f
5:      add     r2, pc, r2
        mov     r3, #0
        bl      memlog_operator_find
        mov     ip, r0
        mode
        cmp     r3, #0
        bne     4f
        cmp     ip, #0
        mov     r3, r4
        pop     {r0-r2, r4, r5, lr}
        bxne    ip
        b       .Lno_\kind
4:      add     ip, r5, r4, lsl #2
        ldr     ip, [ip, #REALS_AT]
        cmp     r3, #MODE_PLAIN
        mov     r3, r4
        pop     {r0-r2, r4, r5, lr}
        bxeq    ip
        b       8f
        table_place
6:      .word   _DYNAMIC - (5b + 8)
        .fnend
        .fnstart
8:
.endm

.macro fill below
        mov     lr, #0
        str     lr, [sp, #\below]
        str     lr, [sp, #\below+4]
        str     ip, [sp, #\below+8]
        str     lr, [sp, #\below+48]
.endm

.macro own_begins
        mov     r4, r0
        mov     r5, r1
        mov     r6, r2
        mov     r7, r3
        mov     r8, ip
        add     r0, sp, #BELOW_NEW
.endm

.macro own_call
        mov     r0, r4
        mov     r1, r5
        mov     r2, r6
        blx     r8
.endm

.macro own_done
        mov     r8, r0
        mov     r1, r4
        mov     r2, r5
        mov     r3, r7
        own_frame
.endm

.macro own_frame
        add     ip, sp, #BELOW_NEW
        str     ip, [sp]
.endm

#define own_result mov r0, r8
#define own_delete own_frame
