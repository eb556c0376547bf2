/* Code without unwind tables that left its stack for another, as Go's assembly does, or runs in another's frame, as what GHC makes does: and what only looks like it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define APART __attribute__((noipa, noinline))

static void *volatile keep;
APART void block(long size) { keep = malloc(size); free(keep); }

struct routine { char *low, *high; } *current_routine;
char *system_sp, *other_stack, *kept_sp;
__thread void *current;
extern char after_host[], after_back[];
const void *fake_frame[2];
void *next_code;

void enter(void (*body)(void)), leave(void);
void call_c(void (*c)(long), long size), call_there(void (*c)(long), long size);
void call_back(void (*c)(long), long size), call_lost(void (*c)(long), long size);
void call_host(long size), planted(void (*called)(long), long size, const void *dead), ends_by_jump(long size), jumps_amid(long size);

__asm__(
    ".text\n"
    /* To the routine's stack, whose first function returns to where it ends. */
    ".globl enter, leave\n"
    "enter: push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
    "  mov %rsp, system_sp(%rip)\n"
    "  mov current_routine(%rip), %rax; mov 8(%rax), %rsp; sub $32, %rsp\n"
    "  lea goexit+1(%rip), %rax; push %rax; xor %ebp, %ebp; jmp *%rdi\n"
    "leave: mov system_sp(%rip), %rsp; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n"
    "  .byte 0xcc\n  .p2align 4, 0xcc\n"
    "goexit: nop; call abort; nop\n"
    ".type goexit, @function\n"
    /* C on the system's stack. */
    ".type asmcall, @function\n"
    "asmcall: mov %rsp, %rdx; mov %rdi, %rax; mov current_routine(%rip), %rdi\n"
    "  mov system_sp(%rip), %rsp; sub $0x40, %rsp; and $-16, %rsp\n"
    "  mov %rdi, 0x30(%rsp); mov 8(%rdi), %rdi; sub %rdx, %rdi; mov %rdi, 0x28(%rsp)\n"
    "  mov %rsi, %rdi; call *%rax\n"
    "  mov 0x30(%rsp), %rdi; mov 8(%rdi), %rsi; sub 0x28(%rsp), %rsi\n"
    "  mov current@gottpoff(%rip), %rcx; mov %rdi, %fs:(%rcx)\n"
    "  mov %rsi, %rsp; mov %eax, 0x18(%rsp); ret\n"
    ".type asmcall_there, @function\n"
    "asmcall_there: mov %rsp, %rdx; mov %rdi, %rax; sub $0x40, %rsp; and $-16, %rsp\n"
    "  mov %rdx, 0x28(%rsp); mov %rsi, %rdi; call *%rax\n"
    "  mov 0x28(%rsp), %rsi; mov %rsi, %rsp; mov %eax, 0x18(%rsp); ret\n"
    /* To a third stack and back, with and without the frame pointer. */
    ".type back, @function\n"
    "back: sub $0x20, %rsp; mov %rbp, 0x18(%rsp); lea 0x18(%rsp), %rbp; mov %rsp, kept_sp(%rip)\n"
    "  mov %rdi, %rax; mov other_stack(%rip), %rdi; mov %rdi, %rsp; mov %rsi, %rdi; call *%rax\n"
    "  mov kept_sp(%rip), %rsp; mov 0x18(%rsp), %rbp; add $0x20, %rsp; ret\n"
    ".type lost, @function\n"
    "lost: sub $0x20, %rsp; mov %rbp, 0x18(%rsp); lea 0x18(%rsp), %rbp; mov %rsp, kept_sp(%rip)\n"
    "  mov %rdi, %rax; mov other_stack(%rip), %rdi; mov %rdi, %rsp; mov %rsi, %rdi\n"
    "  lea fake_frame(%rip), %rbp; call *%rax\n"
    "  mov kept_sp(%rip), %rsp; mov 0x18(%rsp), %rbp; add $0x20, %rsp; ret\n"
    /* A host, its tables as GHC's are, and what runs in its frame. */
    ".type host, @function\n"
    "host: .cfi_startproc\n"
    "  sub $0x30, %rsp; mov %rsp, %rax; sub $0x4000, %rsp\n"
    "  mov %rbx, (%rax); mov %rbp, 8(%rax); mov %r12, 16(%rax); mov %r13, 24(%rax); mov %r14, 32(%rax); mov %r15, 40(%rax)\n"
    "  .cfi_def_cfa rsp, 0\n"
    "  .cfi_offset rbx, 0x4000; .cfi_offset rbp, 0x4008; .cfi_offset r12, 0x4010; .cfi_offset r13, 0x4018\n"
    "  .cfi_offset r14, 0x4020; .cfi_offset r15, 0x4028; .cfi_offset rip, 0x4030\n"
    "  .cfi_escape 0x16, 0x07, 0x04, 0x77, 0xb8, 0x80, 0x01\n"
    "  lea inner(%rip), %rax; xor %ebx, %ebx; xor %r12d, %r12d; lea next_code(%rip), %rbp; jmp *%rax\n"
    "host_returns: add $0x4000, %rsp; mov (%rsp), %rbx; mov 8(%rsp), %rbp; mov 16(%rsp), %r12; mov 24(%rsp), %r13\n"
    "  mov 32(%rsp), %r14; mov 40(%rsp), %r15; add $0x30, %rsp; ret\n"
    "  .cfi_endproc\n"
    ".type inner, @function\n"
    "inner: sub $8, %rsp; lea host_returns(%rip), %rax; mov %rax, next_code(%rip); call block; add $8, %rsp; jmp *(%rbp)\n"
    /* A function that ends by a jump. */
    ".globl ends_by_jump\n.type ends_by_jump, @function\n"
    "ends_by_jump: sub $8, %rsp; lea only_returns(%rip), %rax; mov %rax, next_code(%rip); call block; lea next_code(%rip), %rax; add $8, %rsp; jmp *(%rax)\n"
    "only_returns: ret\n"
    /* And one that jumps before it ends. */
    ".globl jumps_amid\n.type jumps_amid, @function\n"
    "jumps_amid: sub $0x48, %rsp; lea amid_returns(%rip), %rax; mov %rax, next_code(%rip); push %rbp; push %rbp; call block; lea next_code(%rip), %rax; add $16, %rsp; jmp *(%rax)\n"
    "amid_returns: add $0x48, %rsp; ret\n"
    /* Who calls them all, with tables. */
#define CALLS(name, what, label) ".globl " #name "\n.type " #name ", @function\n" #name ": .cfi_startproc\n  sub $0x28, %rsp\n  .cfi_adjust_cfa_offset 0x28\n  call " #what "\n" label "  add $0x28, %rsp\n  .cfi_adjust_cfa_offset -0x28\n  ret\n  .cfi_endproc\n"
    CALLS(call_c, asmcall, "") CALLS(call_there, asmcall_there, "") CALLS(call_back, back, "after_back:\n") CALLS(call_lost, lost, "") CALLS(call_host, host, "after_host:\n")
    /* Leaves a dead return address where the host's would lie. */
    ".globl planted\n.type planted, @function\n"
    "planted: .cfi_startproc\n  sub $0x5008, %rsp\n  .cfi_adjust_cfa_offset 0x5008\n"
    "  mov %rdx, 0x4028(%rsp); mov %rdx, 0x3fe0(%rsp); mov %rdi, %rax; mov %rsi, %rdi; call *%rax\n"
    "  add $0x5008, %rsp\n  .cfi_adjust_cfa_offset -0x5008\n  ret\n  .cfi_endproc\n");

APART static void once(void)
{
    call_c(block, 100000);
    keep = &keep;
}

APART static void nested(long size)
{
    call_back(block, size);
    block(size + 1);
    keep = &keep;
}

APART static void of_odd_size(void)
{
    char *low = current_routine->low;
    current_routine->low += 16;
    call_c(block, 100003);
    current_routine->low = low;
}

APART static void routine(void)
{
    once();
    call_c(nested, 100001);
    of_odd_size();
    leave();
}

int main(void)
{
    enum { SIZE = 64 * 1024 };
    char *room = mmap(0, 3 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct routine *of = (struct routine *)room;
    of->low = (char *)(((uintptr_t)room + SIZE) & -(uintptr_t)SIZE);
    of->high = of->low + SIZE;
    of = memcpy(of->low, of, sizeof *of);
    current_routine = of;
    other_stack = of->high + SIZE / 2;
    enter(routine);
    call_there(block, 100004);
    fake_frame[0] = fake_frame, fake_frame[1] = after_back;
    call_lost(block, 100005);
    call_host(100006);
    planted(ends_by_jump, 100007, after_host);
    planted(jumps_amid, 100008, after_host);
    return 0;
}
