/* The doorstep on 64-bit PowerPC, ELFv1 (big-endian) and ELFv2; see skeleton.h for
 * the words. A DoorFrame:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: a function pointer, so under ELFv1 the
 *            address of a descriptor
 *  16 return address    24 the caller's stack pointer    32 (the handler's mark)
 *  40 (nothing); the caller's sp is 48 above the frame
 *
 * Only registers that no argument uses are touched: r0, r11, r12. Below the
 * DoorFrame lies the area of whom is called, and between them what is kept. */

#define LIFE_BYTES 65536
#if _CALL_ELF == 2
#define TOC_AT 24
#define AREA 96
#define BELOW_DOOR 96
#define BELOW_WATCH 160
#define BELOW_NEW 128
#else
#define TOC_AT 40
#define AREA 112
#define BELOW_DOOR 112
#define BELOW_WATCH 176
#define BELOW_NEW 144
#endif
#define BELOW_DELETE BELOW_NEW
#define PRCTL 171
#define SECCOMP 358
#define RETURN blr
#define CALL(symbol) bl symbol; nop
#define CALL_OUT(symbol) CALL(symbol)
#define STORE(register, at) std register, at(1)
#define LOAD(register, at) ld register, at(1)

/* Under ELFv1 a function's symbol is its descriptor in .opd, so that calls
 * through pointers and across objects find code and TOC. */
#define OWN_FUNCTION
.macro place symbol
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
#endif
.Lcode_\symbol:
        .cfi_startproc
.endm
.macro function symbol
        .globl  \symbol
        place   \symbol
.endm
.macro end symbol
        .cfi_endproc
.endm

.macro enter below
        mflr    0
        std     0, 16(1)
        stdu    1, -48-\below(1)
        .cfi_def_cfa_offset 48+\below
        .cfi_offset lr, 16
        std     0, \below+16(1)
        addi    0, 1, 48+\below
        std     0, \below+24(1)
.endm

.macro leave below
        addi    1, 1, 48+\below
        ld      0, 16(1)
        mtlr    0
.endm

.macro real register, name, index
        ld      \register, .Lreal_\name@toc(2)
#ifndef MEMLOG_STATIC
        ld      \register, 0(\register)
#endif
.endm

.macro know name, symbol, index, below
        li      12, 0
        ld      11, .Llife_\name@toc(2)
        lwz     11, 0(11)
        cmpwi   11, LIFE_ON
        bne     9f
        addis   12, 2, memlog_tls@got@tprel@ha
        ld      12, memlog_tls@got@tprel@l(12)
        add     12, 12, memlog_tls@tls
        ld      12, 0(12)
9:      std     12, \below(1)
        real    11, \name, \index
        std     11, \below+8(1)
.endm

/* What a door finds in the TOC. */
#define HAS_PLACES
.macro places name, index
        .section .toc, "aw"
.Llife_\name:
        .tc     memlog_life[TC], memlog_life
.Lreal_\name:
#ifdef MEMLOG_STATIC
        .tc     __real_\name[TC], __real_\name
#else
        .tc     memlog_reals_\index[TC], memlog_reals+8*\index
#endif
        .text
.endm

.macro hand arguments, below
        addi    3+\arguments, 1, \below
.endm

/* To the function that r12 points to; the caller of a watch brings his TOC back. */
.macro to_pointer branch
#if _CALL_ELF != 2
        ld      2, 8(12)
        ld      12, 0(12)
#endif
        mtctr   12
        \branch
.endm

.macro pass name, symbol, index, told
        cmpwi   3, PRCTL
        beq     \told
        cmpwi   3, SECCOMP
        beq     \told
        real    12, \name, \index
#ifndef MEMLOG_STATIC
        cmpdi   12, 0
        beq     \told
#endif
        to_pointer bctr
.endm

#define keep_arguments keep AREA, 3, 4, 5, 6, 7, 8, 9
.macro give_back
        mr      12, 3
        fetch   AREA, 3, 4, 5, 6, 7, 8, 9
.endm

.macro go_on
        cmpdi   12, 0
        beq     3f
        to_pointer bctr
3:      li      3, -1
        blr
.endm

#define ANSWER_NOTHING li 3, 0; blr

.macro toc_entry symbol, name
        .section .toc, "aw"
.Lto_\name:
        .tc     \symbol[TC], \symbol
        .text
.endm
#define ANSWER_ADDRESS(symbol, from) toc_entry symbol, from; ld 3, .Lto_##from@toc(2); blr
#define ANSWER_WEAK(symbol, from) ANSWER_ADDRESS(symbol, from)

/* The operators': the index is in r11, the table in r10. A plain one is reached
 * through a pointer, so that the caller's TOC must come back: its call is made in
 * a frame of its own. The back chain leads over that, and nothing is held. */
.macro plain_or name, index, kind
        li      11, \index
        b       .Lcode_\kind
.endm

#ifdef IN_OPERATORS
        toc_entry memlog_operators, operators
        toc_entry _DYNAMIC, dynamic
#endif

.macro mode
        ld      10, .Lto_operators@toc(2)
        sldi    9, 11, 2
        lwzx    8, 10, 9
        cmpwi   8, 0
.endm

.macro call_pointer
        std     2, TOC_AT(1)
        to_pointer bctrl
        ld      2, TOC_AT(1)
.endm

#define OWN_FRAME
.macro own_enter below
        li      0, 0
        std     0, \below(1)
        std     12, \below+8(1)
        std     0, \below+32(1)
.endm
.macro own_leave below
        leave   \below
        blr
.endm

#define IF_ALIGNED(to) cmpwi 11, ALIGNED; bge to
#define JUMP_OUT(symbol) CALL(symbol); own_leave BELOW_NEW
#define SWAP mr 0, 3; mr 3, 4; mr 4, 0

/* That of all, in the frame, which holds the arguments. */
#define OWN_RESOLVE
.macro resolve kind
        enter   BELOW_NEW
        keep    AREA, 3, 4, 5, 11
        mode
        bne     1f
        mr      3, 11
        mr      4, 10
        ld      5, .Lto_dynamic@toc(2)
        CALL(memlog_operator_find)
        mr      12, 3
        fetch   AREA, 3, 4, 5, 11
        mode
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
        own_leave BELOW_NEW
3:
.endm

#define fetch_asked fetch AREA, 3, 4, 5
#define own_begins addi 3, 1, BELOW_NEW

.macro own_call
        ld      12, BELOW_NEW+8(1)
        fetch_asked
        call_pointer
.endm

.macro own_done
        fetch   AREA, 4, 5
        ld      6, AREA+24(1)
        addi    7, 1, BELOW_NEW
        std     3, AREA+24(1)
.endm

#define own_result ld 3, AREA+24(1)
#define own_delete mr 6, 11; addi 7, 1, BELOW_DELETE
