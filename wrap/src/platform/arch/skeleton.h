/* What the assembly of all processors has in common: doors.S, operators.S, the end
 * of NAME.S in words.h. Every file begins here; what a processor says of itself is
 * NAME.h, the same words in the same order. Those in capitals are the
 * preprocessor's.
 *
 *   LIFE_BYTES       bytes of a page at most, by which the kernel wipes
 *   BELOW_...        bytes that a door, a watch, an operator keep below the
 *                    DoorFrame, which ends at the caller's stack pointer
 *   BELOW_WIDE_DOOR  those of a door of more than IN_REGISTERS arguments: the
 *                    DoorFrame is handed on the stack
 *   MMAP64_WORDS     words that the arguments of mmap64 take
 *   HAS_SAYERS       the doors of memlog.h are there; they need no more than enter,
 *                    hand and leave
 *   PRCTL, SECCOMP   system calls that the handler of a watch wants to hear of
 *   OPEN, CLOSE      the label of a function, and what its tables want
 *   LANDING          what an indirect call must find, if anything
 *   RETURN, CALL, CALL_OUT, JUMP_OUT
 *                    the latter two to a function of another library
 *   STORE, LOAD      a register, at this distance above sp
 *
 *   enter, leave     the frame, with the caller's registers in the DoorFrame
 *   real             the real function of a door, into a register
 *   know             the thread's word and the real function, into the
 *                    DoorFrame. Life before everything, TLS included: a call
 *                    may come before relocation or before there is a thread
 *                    pointer
 *   places           what a door has beside its way: data that it reads, and where
 *                    it turns off while recording is off
 *   hand             the DoorFrame, to a handler of so many arguments
 *   pass             a call goes on at once, unless its handler is to be told
 *   keep_arguments, give_back, go_on
 *                    its handler was told: it goes on where that says, or
 *                    returns -1
 *   ANSWER_NOTHING, ANSWER_ADDRESS, ANSWER_WEAK
 *                    return 0, an address of ours, and one that may be missing
 *
 *   plain_or to own_delete
 *                    the operators'; see operators.S
 *
 * A processor that cannot have one of the shapes has its own (OWN_...), and says
 * why. */

#define WORD __SIZEOF_POINTER__
#define LIFE_ON 2
#define QUICK_DOORS 13  /* so many lines of doors.h come and go with blocks */
#define MODE_PLAIN 2
#define OPERATORS 20    /* lines of operators.h */
#define ALIGNED 4       /* from here on operator new takes an alignment */
#define REALS_AT 4*OPERATORS

#if defined(__x86_64__)
#include "x86_64.h"
#elif defined(__i386__)
#include "x86.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#elif defined(__arm__)
#include "arm.h"
#elif defined(__powerpc64__)
#include "powerpc64.h"
#elif defined(__riscv)
#include "riscv64.h"
#elif defined(__s390x__)
#include "s390x.h"
#elif defined(__mips64)
#include "mips64.h"
#else
#error "no processor that memlog knows"
#endif

#ifndef OWN_FUNCTION
#ifndef OPEN
#define OPEN(symbol) symbol: .cfi_startproc
#define CLOSE(symbol) .cfi_endproc
#endif
/* A function that is only jumped to, from here... */
.macro place symbol
        .text
        .type   \symbol, %function
        .p2align 4
        OPEN(\symbol)
.endm
/* ...one that anybody may call... */
.macro function symbol
        .globl  \symbol
        place   \symbol
        LANDING
.endm
.macro end symbol
        CLOSE(\symbol)
        .size   \symbol, . - \symbol
.endm
#endif
/* ...and one that only the recorder may. */
.macro own symbol
        .hidden \symbol
        function \symbol
.endm

/* Registers into words above sp, which lie in a row, and out of them. */
.macro keep at, register, others:vararg
        STORE(\register, \at)
        .ifnb   \others
        keep    \at+WORD, \others
        .endif
.endm
.macro fetch at, register, others:vararg
        LOAD(\register, \at)
        .ifnb   \others
        fetch   \at+WORD, \others
        .endif
.endm

        .section .note.GNU-stack, "", %progbits
        .text
