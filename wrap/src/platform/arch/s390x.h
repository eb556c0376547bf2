/* The doorstep on 64-bit IBM Z; see skeleton.h for the words. A DoorFrame:
 *
 *   0 word   what stands in this thread's word, 0 unless life is On
 *   8 real   the next definition: __real_NAME, or the slot of the table
 *  16 r6 to r13   80 return address   88 (the handler's mark)
 *
 * Arguments are in r2 to r6, then on the stack. Below the DoorFrame lies the area
 * of 160 bytes that is the handler's, and between them two words for arguments.
 * Our own caller's area keeps r6 to r15, as for any function. */

#define LIFE_BYTES 4096
#define AREA 160
#define BELOW_DOOR 176
#define BELOW_WATCH 200
#define BELOW_NEW 192
#define BELOW_DELETE 160
#define PRCTL 172
#define SECCOMP 348
#define LANDING
#define RETURN br %r14
#define CALL(symbol) brasl %r14, symbol
#define CALL_OUT(symbol) brasl %r14, symbol@PLT
#define JUMP_OUT(symbol) jg symbol@PLT

.macro open bytes
        stmg    %r6, %r15, 48(%r15)
        .irp    number, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        .cfi_offset r\number, 8*\number-160
        .endr
        aghi    %r15, -(\bytes)
        .cfi_def_cfa_offset AREA+\bytes
.endm

.macro close bytes
        lmg     %r6, %r15, \bytes+48(%r15)
        .cfi_def_cfa_offset AREA
        .irp    number, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        .cfi_restore r\number
        .endr
.endm

.macro enter below
        open    96+\below
        stmg    %r6, %r14, \below+16(%r15)
.endm

.macro leave below
        close   96+\below
.endm

.macro real register, name, index
#ifdef MEMLOG_STATIC
        larl    \register, __real_\name@GOTENT
#else
        larl    \register, memlog_reals+8*\index
#endif
        lg      \register, 0(\register)
.endm

.macro know name, symbol, index, below
        lghi    %r8, 0
        larl    %r1, memlog_life
        l       %r1, 0(%r1)
        chi     %r1, LIFE_ON
        jne     9f
        ear     %r1, %a0
        sllg    %r1, %r1, 32
        ear     %r1, %a1
        larl    %r8, memlog_tls@indntpoff
        lg      %r8, 0(%r8)
        lg      %r8, 0(%r8, %r1)
9:      real    %r9, \name, \index
        stmg    %r8, %r9, \below(%r15)
.endm

.macro hand arguments, below
        .if \arguments < 5
        la      2+\arguments, \below(%r15)
        .else
        la      %r1, \below(%r15)
        .if \arguments == 6
        lg      %r0, 96+\below+AREA(%r15)
        stg     %r0, AREA(%r15)
        .endif
        stg     %r1, AREA+8*(\arguments-5)(%r15)
        .endif
.endm

.macro pass name, symbol, index, told
        chi     %r2, PRCTL
        je      \told
        chi     %r2, SECCOMP
        je      \told
        real    %r1, \name, \index
#ifndef MEMLOG_STATIC
        ltgr    %r1, %r1
        je      \told
#endif
        br      %r1
.endm

#define keep_arguments stmg %r2, %r5, AREA(%r15)
#define give_back lgr %r1, %r2; lmg %r2, %r5, AREA(%r15)

.macro go_on
        ltgr    %r1, %r1
        je      3f
        br      %r1
3:      lghi    %r2, -1
        br      %r14
.endm

#define ANSWER_NOTHING lghi %r2, 0; br %r14
#define ANSWER_ADDRESS(symbol, from) larl %r2, symbol; br %r14
#define ANSWER_WEAK(symbol, from) larl %r2, symbol@GOTENT; lg %r2, 0(%r2); br %r14

/* The operators': the index is in r0, the table in r5, the mode in r1. */
.macro plain_or name, index, kind
        larl    %r1, memlog_operators
        l       %r0, 4*\index(%r1)
        chi     %r0, MODE_PLAIN
        jne     1f
        lg      %r1, REALS_AT+8*\index(%r1)
        br      %r1
1:      lghi    %r0, \index
        jg      \kind
.endm

.macro mode
        larl    %r5, memlog_operators
        sllg    %r1, %r0, 2
        l       %r1, 0(%r1, %r5)
.endm

#define IF_ALIGNED(to) cghi %r0, ALIGNED; jhe to
#define SWAP lgr %r1, %r2; lgr %r2, %r3; lgr %r3, %r1
#define keep_asked stmg %r2, %r4, AREA(%r15); stg %r0, AREA+24(%r15)

/* That of all, but no register is left for the mode beside what was found: it is
 * looked at while r6 is free, and again. */
#define OWN_RESOLVE
.macro resolve kind
        mode
        ltr     %r1, %r1
        jne     1f
        open    192
        keep_asked
        lgr     %r2, %r0
        lgr     %r3, %r5
        larl    %r4, _DYNAMIC
        CALL_OUT(memlog_operator_find)
        lgr     %r1, %r2
        lmg     %r2, %r4, AREA(%r15)
        lg      %r0, AREA+24(%r15)
        larl    %r5, memlog_operators
        sllg    %r6, %r0, 2
        lt      %r6, 0(%r6, %r5)
        close   192
        jne     1f
        ltgr    %r1, %r1
        je      .Lno_\kind
        br      %r1
1:      mode
        chi     %r1, MODE_PLAIN
        jne     2f
        sllg    %r1, %r0, 3
        lg      %r1, REALS_AT(%r1, %r5)
        br      %r1
2:
.endm

.macro fill below
        lghi    %r6, 0
        sllg    %r7, %r0, 3
        lg      %r7, REALS_AT(%r7, %r5)
        stmg    %r6, %r7, \below(%r15)
        stg     %r6, \below+88(%r15)
.endm

.macro own_begins
        keep_asked
        la      %r2, BELOW_NEW(%r15)
.endm

.macro own_call
        lmg     %r2, %r4, AREA(%r15)
        lg      %r1, BELOW_NEW+8(%r15)
        basr    %r14, %r1
.endm

.macro own_done
        lmg     %r3, %r4, AREA(%r15)
        lg      %r5, AREA+24(%r15)
        la      %r6, BELOW_NEW(%r15)
        stg     %r2, AREA+24(%r15)
.endm

#define own_result lg %r2, AREA+24(%r15)
#define own_delete lgr %r5, %r0; la %r6, BELOW_DELETE(%r15)
