/* The few words of x86_64 assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions. */

#include "skeleton.h"

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno */
        own     memlog_syscall
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        movq    8(%rsp), %r9
        syscall
        ret
        end     memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set */
        own     memlog_tls_word
        movq    memlog_tls@gottpoff(%rip), %rax
        addq    %fs:0, %rax
        addq    memlog_tls_shift(%rip), %rax
        ret
        end     memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        own     memlog_stack_end
        movq    __libc_stack_end@GOTPCREL(%rip), %rax
        testq   %rax, %rax
        je      1f
        movq    (%rax), %rax
1:      ret
        end     memlog_stack_end

/* void memlog_libc_marks(u64 marks[7]): where these of libc lie, 0 for what is
 * not there. Only once relocations are done. */
.macro mark at, name
        .weak   \name
        movq    \name@GOTPCREL(%rip), %rax
        movq    %rax, \at(%rdi)
.endm
        own     memlog_libc_marks
        mark    0, exit
        mark    8, pthread_exit
        mark    16, __libc_start_main
        mark    24, pthread_create
        mark    32, __environ
        mark    40, _r_debug
        mark    48, _dl_debug_addr
        ret
        end     memlog_libc_marks

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. */
        own     memcpy
        movq    %rdi, %rax
        movq    %rdx, %rcx
        rep movsb
        ret
        end     memcpy

        own     memmove
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
        end     memmove

        own     memset
        movq    %rdi, %r8
        movl    %esi, %eax
        movq    %rdx, %rcx
        rep stosb
        movq    %r8, %rax
        ret
        end     memset

        own     memcmp
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
        end     memcmp

        own     bcmp
        jmp     memcmp
        end     bcmp

#include "words.h"
