/* The doorstep on 64-bit MIPS; see skeleton.h for the words. A DoorFrame:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 (the handler's mark)   24 gp   32 s0 to s7   96 s8   104 return address
 *
 * Only registers that no argument uses are touched: t0 to t3, t8, t9, v0, v1.
 * Who calls a function, or jumps to it, has its address in t9, from which the
 * table of addresses is found; gp, which points to it elsewhere, is the caller's. */

        .abicalls
        .option pic2

#define LIFE_BYTES 65536
#define BELOW_DOOR 0
#define BELOW_WATCH 64
#define BELOW_NEW 32
#define BELOW_DELETE 0
#define PRCTL 5153
#define SECCOMP 5312
#define OPEN(symbol) .ent symbol; symbol: .cfi_startproc
#define CLOSE(symbol) .cfi_endproc; .end symbol
#define LANDING
#define RETURN jr $ra
#define CALL(symbol) ld $t9, %got_disp(symbol)($gp); jalr $t9
#define CALL_OUT(symbol) CALL(symbol)
#define STORE(register, at) sd register, at($sp)
#define LOAD(register, at) ld register, at($sp)
#define JUMP_OUT(symbol) ld $t9, %got_disp(symbol)($v1); jr $t9

/* Where the table of addresses is, for the function that t9 is the address of. */
.macro table register, symbol
        lui     \register, %hi(%neg(%gp_rel(\symbol)))
        daddiu  \register, \register, %lo(%neg(%gp_rel(\symbol)))
        daddu   \register, \register, $t9
.endm

.macro enter below
        daddiu  $sp, $sp, -112-\below
        .cfi_def_cfa_offset 112+\below
        sd      $ra, \below+104($sp)
        sd      $s8, \below+96($sp)
        sd      $gp, \below+24($sp)
        .cfi_offset 31, -8
        .cfi_offset 30, -16
        .cfi_offset 28, -88
        keep    \below+32, $s0, $s1, $s2, $s3, $s4, $s5, $s6, $s7
.endm

.macro leave below
        ld      $ra, \below+104($sp)
        ld      $gp, \below+24($sp)
        daddiu  $sp, $sp, 112+\below
        closed
.endm

.macro closed
        .cfi_def_cfa_offset 0
        .cfi_restore 31
        .cfi_restore 30
        .cfi_restore 28
.endm

/* By the table of addresses. */
.macro real register, name, index, table
#ifdef MEMLOG_STATIC
        ld      \register, %got_disp(__real_\name)(\table)
#else
        ld      \register, %got_disp(memlog_reals)(\table)
        ld      \register, 8*\index(\register)
#endif
.endm

/* gp is ours from here on. */
.macro know name, symbol, index, below
        table   $gp, \symbol
        move    $t1, $zero
        ld      $t0, %got_disp(memlog_life)($gp)
        lw      $t0, 0($t0)
        li      $t2, LIFE_ON
        bne     $t0, $t2, 9f
        ld      $t1, %gottprel(memlog_tls)($gp)
        rdhwr   $v1, $29
        daddu   $t1, $t1, $v1
        ld      $t1, 0($t1)
9:      real    $t2, \name, \index, $gp
        sd      $t1, \below($sp)
        sd      $t2, \below+8($sp)
.endm

.macro hand arguments, below
        daddiu  $a\arguments, $sp, \below
.endm

.macro pass name, symbol, index, told
        li      $t1, PRCTL
        beq     $a0, $t1, \told
        li      $t1, SECCOMP
        beq     $a0, $t1, \told
        table   $v1, \symbol
        real    $t1, \name, \index, $v1
#ifndef MEMLOG_STATIC
        beqz    $t1, \told
#endif
        move    $t9, $t1
        jr      $t9
.endm

#define keep_arguments keep 0, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7
.macro give_back
        move    $t9, $v0
        fetch   0, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7
.endm

.macro go_on
        beqz    $t9, 3f
        jr      $t9
3:      li      $v0, -1
        jr      $ra
.endm

#define ANSWER_NOTHING move $v0, $zero; jr $ra
#define ANSWER_ADDRESS(symbol, from) table $v0, from; ld $v0, %got_disp(symbol)($v0); jr $ra
#define ANSWER_WEAK(symbol, from) ANSWER_ADDRESS(symbol, from)

/* The operators': the index is in t3, their table in t1, the mode in t0; that of
 * addresses the operator finds from t9 and leaves in v1. */
.macro plain_or name, index, kind
        table   $v1, \name
        ld      $t1, %got_disp(memlog_operators)($v1)
        lw      $t0, 4*\index($t1)
        sync
        li      $t2, MODE_PLAIN
        bne     $t0, $t2, 1f
        ld      $t9, REALS_AT+8*\index($t1)
        jr      $t9
1:      li      $t3, \index
        b       \kind
.endm

.macro mode
        ld      $t1, %got_disp(memlog_operators)($v1)
        dsll    $t0, $t3, 2
        daddu   $t0, $t0, $t1
        lw      $t0, 0($t0)
        sync
.endm

#define IF_KNOWN(to) bnez $t0, to
#define IF_OWN(to) li $t2, MODE_PLAIN; bne $t0, $t2, to
#define IF_NOT_FOUND(to) beqz $t9, to
#define IF_ALIGNED(to) sltiu $t0, $t3, ALIGNED; beqz $t0, to
#define JUMP_FOUND jr $t9
#define JUMP_REAL dsll $t0, $t3, 3; daddu $t0, $t0, $t1; ld $t9, REALS_AT($t0); jr $t9
#define SWAP move $t0, $a0; move $a0, $a1; move $a1, $t0
#define keep_asked keep 0, $a0, $a1, $a2, $t3
#define fetch_asked fetch 0, $a0, $a1, $a2

.macro search
        daddiu  $sp, $sp, -64
        .cfi_def_cfa_offset 64
        sd      $ra, 56($sp)
        sd      $gp, 40($sp)
        .cfi_offset 31, -8
        .cfi_offset 28, -24
        keep    0, $a0, $a1, $a2, $t3, $v1
        move    $gp, $v1
        move    $a0, $t3
        move    $a1, $t1
        ld      $a2, %got_disp(_DYNAMIC)($gp)
        CALL(memlog_operator_find)
        move    $t9, $v0
        fetch   0, $a0, $a1, $a2, $t3, $v1, $gp
        ld      $ra, 56($sp)
        daddiu  $sp, $sp, 64
        .cfi_def_cfa_offset 0
        .cfi_restore 31
        .cfi_restore 28
.endm

.macro fill below
        dsll    $t0, $t3, 3
        daddu   $t0, $t0, $t1
        ld      $t0, REALS_AT($t0)
        sd      $zero, \below($sp)
        sd      $t0, \below+8($sp)
        sd      $zero, \below+16($sp)
.endm

#define OWN_FRAME
.macro own_enter below
        enter   \below
        fill    \below
        move    $gp, $v1
.endm
.macro own_leave below
        ld      $ra, \below+104($sp)
        ld      $gp, \below+24($sp)
        .set    noreorder       /* said of each file; compilers' are so */
        jr      $ra
        daddiu  $sp, $sp, 112+\below
        .set    reorder
        closed
.endm

.macro own_begins
        keep_asked
        daddiu  $a0, $sp, BELOW_NEW
.endm

.macro own_call
        fetch_asked
        ld      $t9, BELOW_NEW+8($sp)
        jalr    $t9
.endm

.macro own_done
        move    $a0, $v0
        fetch   0, $a1, $a2
        ld      $a3, 24($sp)
        daddiu  $a4, $sp, BELOW_NEW
        sd      $v0, 24($sp)
.endm

#define own_result ld $v0, 24($sp)
#define own_delete move $a3, $t3; move $a4, $sp
