/* The end of each processor's file of words: what is alike on all of them. */

/* What the doors say of their shape, where no doors are linked (tests). */
        .weak   memlog_own_dynamic
        own     memlog_own_dynamic
        ANSWER_NOTHING
        end     memlog_own_dynamic
        .weak   memlog_static_usable
        own     memlog_static_usable
        ANSWER_NOTHING
        end     memlog_static_usable
        .weak   memlog_sigaction
        own     memlog_sigaction
        ANSWER_NOTHING
        end     memlog_sigaction

.macro zeros symbol, bytes, alignment
        .globl  \symbol
        .hidden \symbol
        .type   \symbol, %object
        .balign \alignment
\symbol:
        .skip   \bytes
        .size   \symbol, \bytes
.endm

/* Fork wipes this page, so the child's first look says that it is one. */
        .section .bss.memlog_life, "aw", %nobits
        zeros   memlog_life, LIFE_BYTES, LIFE_BYTES

        .section .tbss, "awT", %nobits
        zeros   memlog_tls, 8, 8

/* Bytes from the word that doors look at to the thread's own: see attached.rs. */
        .section .bss.memlog_tls_shift, "aw", %nobits
        zeros   memlog_tls_shift, WORD, WORD

/* A word's address and what is expected there, or null: see quick.rs. */
        .section .bss.memlog_quick, "aw", %nobits
        zeros   memlog_quick, 2*WORD, 2*WORD

/* The real functions by the number of their doors. */
        .section .bss.memlog_reals, "aw", %nobits
        zeros   memlog_reals, WORD*64, WORD
