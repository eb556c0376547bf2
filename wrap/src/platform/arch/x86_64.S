/* The few words of x86_64 assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions, and the static data
 * that the doors read. */

        .text
/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno */
        .globl  memlog_syscall
        .hidden memlog_syscall
        .type   memlog_syscall, @function
memlog_syscall:
        .cfi_startproc
        endbr64
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        movq    8(%rsp), %r9
        syscall
        ret
        .cfi_endproc
        .size   memlog_syscall, . - memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set */
        .globl  memlog_tls_word
        .hidden memlog_tls_word
        .type   memlog_tls_word, @function
memlog_tls_word:
        .cfi_startproc
        endbr64
        movq    memlog_tls@gottpoff(%rip), %rax
        addq    %fs:0, %rax
        ret
        .cfi_endproc
        .size   memlog_tls_word, . - memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        .globl  memlog_stack_end
        .hidden memlog_stack_end
        .type   memlog_stack_end, @function
memlog_stack_end:
        .cfi_startproc
        endbr64
        movq    __libc_stack_end@GOTPCREL(%rip), %rax
        testq   %rax, %rax
        je      1f
        movq    (%rax), %rax
1:      ret
        .cfi_endproc
        .size   memlog_stack_end, . - memlog_stack_end

/* void memlog_libc_marks(u64 marks[7]): where these of libc lie, 0 for what is
 * not there. Only once relocations are done. */
.macro mark at, name
        .weak   \name
        movq    \name@GOTPCREL(%rip), %rax
        movq    %rax, \at(%rdi)
.endm
        .globl  memlog_libc_marks
        .hidden memlog_libc_marks
        .type   memlog_libc_marks, @function
memlog_libc_marks:
        .cfi_startproc
        endbr64
        mark    0, exit
        mark    8, pthread_exit
        mark    16, __libc_start_main
        mark    24, pthread_create
        mark    32, __environ
        mark    40, _r_debug
        mark    48, _dl_debug_addr
        ret
        .cfi_endproc
        .size   memlog_libc_marks, . - memlog_libc_marks

/* What the doors say of their shape, where no doors are linked (tests). */
        .weak   memlog_own_dynamic
        .hidden memlog_own_dynamic
        .weak   memlog_static_usable
        .hidden memlog_static_usable
memlog_own_dynamic:
memlog_static_usable:
        endbr64
        xorl    %eax, %eax
        ret

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. */
.macro private name
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
.endm
.macro end_private name
        .cfi_endproc
        .size   \name, . - \name
.endm
        private memcpy
        movq    %rdi, %rax
        movq    %rdx, %rcx
        rep movsb
        ret
        end_private memcpy

        private memmove
        movq    %rdi, %rax
        movq    %rdx, %rcx
        movq    %rdi, %r8
        subq    %rsi, %r8
        cmpq    %rdx, %r8
        jb      1f
        rep movsb
        ret
1:      leaq    -1(%rdi,%rcx), %rdi
        leaq    -1(%rsi,%rcx), %rsi
        std
        rep movsb
        cld
        ret
        end_private memmove

        private memset
        movq    %rdi, %r8
        movl    %esi, %eax
        movq    %rdx, %rcx
        rep stosb
        movq    %r8, %rax
        ret
        end_private memset

        private memcmp
        xorl    %eax, %eax
        xorl    %ecx, %ecx
1:      cmpq    %rdx, %rcx
        je      2f
        movzbl  (%rdi,%rcx), %eax
        movzbl  (%rsi,%rcx), %r8d
        incq    %rcx
        subl    %r8d, %eax
        je      1b
2:      ret
        end_private memcmp

        private bcmp
        jmp     memcmp
        end_private bcmp

/* Fork wipes this page, so the child's first look says that it is one. */
        .section .bss.memlog_life, "aw", @nobits
        .globl  memlog_life
        .hidden memlog_life
        .type   memlog_life, @object
        .balign 4096
memlog_life:
        .skip   4096
        .size   memlog_life, 4096

        .section .tbss, "awT", @nobits
        .globl  memlog_tls
        .hidden memlog_tls
        .type   memlog_tls, @object
        .balign 8
memlog_tls:
        .skip   8
        .size   memlog_tls, 8

        .section .bss.memlog_reals, "aw", @nobits
        .globl  memlog_reals
        .hidden memlog_reals
        .type   memlog_reals, @object
        .balign 8
memlog_reals:
        .skip   8 * 64
        .size   memlog_reals, 8 * 64

        .section .note.GNU-stack, "", @progbits
