/* The doorstep on 64-bit RISC-V; see skeleton.h for the words. A DoorFrame:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 (the handler's mark)   24 s1 to s11   112 s0   120 return address
 *
 * Only registers that no argument uses are touched: t0 on. None of the jumps
 * is through t0, which processors take for a return.
 *
 * pic: `la` is by the table of addresses, `lla` by the distance. norelax: of
 * what `ld -r` joined, a last link that takes bytes out aligns nothing anew;
 * the operators are in an object of their own. */

        .option pic
#ifndef IN_OPERATORS
        .option norelax
#endif

#define LIFE_BYTES 4096
#define BELOW_DOOR 0
#define BELOW_WATCH 64
#define BELOW_NEW 32
#define BELOW_DELETE 0
#define PRCTL 167
#define SECCOMP 277
#define LANDING
#define RETURN ret
#define CALL(symbol) call symbol
#define CALL_OUT(symbol) call symbol
#define JUMP_OUT(symbol) tail symbol
#define STORE(register, at) sd register, at(sp)
#define LOAD(register, at) ld register, at(sp)

.macro enter below
        addi    sp, sp, -128-\below
        .cfi_def_cfa_offset 128+\below
        sd      ra, \below+120(sp)
        sd      s0, \below+112(sp)
        .cfi_offset ra, -8
        .cfi_offset s0, -16
        keep    \below+24, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
        addi    s0, sp, 128+\below
.endm

.macro leave below
        ld      ra, \below+120(sp)
        ld      s0, \below+112(sp)
        addi    sp, sp, 128+\below
        .cfi_def_cfa_offset 0
        .cfi_restore ra
        .cfi_restore s0
.endm

.macro real register, name, index
#ifdef MEMLOG_STATIC
        la      \register, __real_\name
#else
        ld      \register, memlog_reals+8*\index
#endif
.endm

.macro know name, symbol, index, below
        li      t1, 0
        lw      t0, memlog_life
        li      t2, LIFE_ON
        bne     t0, t2, 9f
        la.tls.ie t1, memlog_tls
        add     t1, t1, tp
        ld      t1, 0(t1)
9:      real    t2, \name, \index
        sd      t1, \below(sp)
        sd      t2, \below+8(sp)
.endm

.macro hand arguments, below
        addi    a\arguments, sp, \below
.endm

.macro pass name, symbol, index, told
        li      t1, PRCTL
        beq     a0, t1, \told
        li      t1, SECCOMP
        beq     a0, t1, \told
        real    t1, \name, \index
#ifndef MEMLOG_STATIC
        beqz    t1, \told
#endif
        jr      t1
.endm

#define keep_arguments keep 0, a0, a1, a2, a3, a4, a5, a6, a7
.macro give_back
        mv      t1, a0
        fetch   0, a0, a1, a2, a3, a4, a5, a6, a7
.endm

.macro go_on
        beqz    t1, 3f
        jr      t1
3:      li      a0, -1
        ret
.endm

#define ANSWER_NOTHING li a0, 0; ret
#define ANSWER_ADDRESS(symbol, from) lla a0, symbol; ret
#define ANSWER_WEAK(symbol, from) la a0, symbol; ret

/* The operators': the index is in t3, the table in t1, the mode in t0. */
.macro plain_or name, index, kind
        lla     t1, memlog_operators
        lw      t0, 4*\index(t1)
        fence   r, rw
        li      t2, MODE_PLAIN
        bne     t0, t2, 1f
        ld      t1, REALS_AT+8*\index(t1)
        jr      t1
1:      li      t3, \index
        j       \kind
.endm

.macro mode
        lla     t1, memlog_operators
        slli    t0, t3, 2
        add     t0, t0, t1
        lw      t0, 0(t0)
        fence   r, rw
.endm

#define IF_KNOWN(to) bnez t0, to
#define IF_OWN(to) li t2, MODE_PLAIN; bne t0, t2, to
#define IF_NOT_FOUND(to) beqz t4, to
#define IF_ALIGNED(to) li t0, ALIGNED; bgeu t3, t0, to
#define JUMP_FOUND jr t4
#define JUMP_REAL slli t0, t3, 3; add t0, t0, t1; ld t1, REALS_AT(t0); jr t1
#define SWAP mv t0, a0; mv a0, a1; mv a1, t0
#define keep_asked keep 0, a0, a1, a2, t3
#define fetch_asked fetch 0, a0, a1, a2

.macro search
        addi    sp, sp, -48
        .cfi_def_cfa_offset 48
        sd      ra, 40(sp)
        .cfi_offset ra, -8
        keep_asked
        mv      a0, t3
        mv      a1, t1
        lla     a2, _DYNAMIC
        call    memlog_operator_find
        mv      t4, a0
        fetch   0, a0, a1, a2, t3
        ld      ra, 40(sp)
        addi    sp, sp, 48
        .cfi_def_cfa_offset 0
        .cfi_restore ra
.endm

.macro fill below
        slli    t0, t3, 3
        add     t0, t0, t1
        ld      t0, REALS_AT(t0)
        sd      zero, \below(sp)
        sd      t0, \below+8(sp)
        sd      zero, \below+16(sp)
.endm

.macro own_begins
        keep_asked
        addi    a0, sp, BELOW_NEW
.endm

.macro own_call
        fetch_asked
        ld      t1, BELOW_NEW+8(sp)
        jalr    t1
.endm

.macro own_done
        fetch   0, a1, a2
        ld      a3, 24(sp)
        addi    a4, sp, BELOW_NEW
        sd      a0, 24(sp)
.endm

#define own_result ld a0, 24(sp)
#define own_delete mv a3, t3; mv a4, sp
