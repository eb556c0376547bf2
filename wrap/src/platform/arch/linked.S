/* What a program is linked with beside the recorder, for linked.rs. Nothing is
 * known here: the core object of memlog_s.a brings words of its own; see
 * staticlib/prelink. */
        .globl  memlog_linked
        .hidden memlog_linked
        .section .data.rel.ro, "aw"
        .balign 8
memlog_linked:
        .dc.a   0, 0, 0, 0, 0

        .section .note.GNU-stack, "", %progbits
