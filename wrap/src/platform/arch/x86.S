/* The few words of 32-bit x86 assembly that Rust cannot say: system calls, the
 * thread's word, private copies of the memory functions. */

#include "skeleton.h"

.macro push_kept register
        pushl   \register
        .cfi_adjust_cfa_offset 4
        .cfi_rel_offset \register, 0
.endm
.macro pop_kept register
        popl    \register
        .cfi_adjust_cfa_offset -4
        .cfi_restore \register
.endm

/* long memlog_syscall(nr, a1, a2, a3, a4, a5, a6) -> result or -errno. Not by
 * the vDSO's faster door: where it is the thread's data says, and there may be
 * none yet. */
        own     memlog_syscall
        push_kept %ebx
        push_kept %esi
        push_kept %edi
        push_kept %ebp
        movl    20(%esp), %eax
        movl    24(%esp), %ebx
        movl    28(%esp), %ecx
        movl    32(%esp), %edx
        movl    36(%esp), %esi
        movl    40(%esp), %edi
        movl    44(%esp), %ebp
        int     $0x80
        pop_kept %ebp
        pop_kept %edi
        pop_kept %esi
        pop_kept %ebx
        ret
        end     memlog_syscall

/* u64 *memlog_tls_word(void): only once the thread pointer is set */
        own     memlog_tls_word
        table
        movl    %gs:0, %eax
        addl    memlog_tls@gotntpoff(%ecx), %eax
        ret
        end     memlog_tls_word

/* const usize *memlog_stack_end(void): glibc's word on where the main stack
 * begins, null where there is none. Only once relocations are done. */
        .weak   __libc_stack_end
        own     memlog_stack_end
        table
        movl    __libc_stack_end@GOT(%ecx), %eax
        testl   %eax, %eax
        je      1f
        movl    (%eax), %eax
1:      ret
        end     memlog_stack_end

/* Private copies: the compiler calls these by name, and the program's own
 * may not be relocated yet, or may be hooked by somebody. */
        own     memcpy
        push_kept %esi
        push_kept %edi
        movl    12(%esp), %edi
        movl    16(%esp), %esi
        movl    20(%esp), %ecx
        movl    %edi, %eax
        rep movsb
        pop_kept %edi
        pop_kept %esi
        ret
        end     memcpy

        own     memmove
        push_kept %esi
        push_kept %edi
        movl    12(%esp), %edi
        movl    16(%esp), %esi
        movl    20(%esp), %ecx
        movl    %edi, %eax
        movl    %edi, %edx
        subl    %esi, %edx
        cmpl    %ecx, %edx
        jb      1f
        rep movsb
        jmp     2f
1:      leal    -1(%edi,%ecx), %edi
        leal    -1(%esi,%ecx), %esi
        std
        rep movsb
        cld
2:      pop_kept %edi
        pop_kept %esi
        ret
        end     memmove

        own     memset
        push_kept %edi
        movl    8(%esp), %edi
        movzbl  12(%esp), %eax
        movl    16(%esp), %ecx
        movl    %edi, %edx
        rep stosb
        movl    %edx, %eax
        pop_kept %edi
        ret
        end     memset

        own     memcmp
.Lcompare:
        push_kept %esi
        push_kept %edi
        movl    12(%esp), %esi
        movl    16(%esp), %edi
        xorl    %eax, %eax
        xorl    %ecx, %ecx
1:      cmpl    20(%esp), %ecx
        je      2f
        movzbl  (%esi,%ecx), %eax
        movzbl  (%edi,%ecx), %edx
        incl    %ecx
        subl    %edx, %eax
        je      1b
2:      pop_kept %edi
        pop_kept %esi
        ret
        end     memcmp

        own     bcmp
        jmp     .Lcompare
        end     bcmp

#include "words.h"
