/* The doorstep: a function for each line of the list, which hands its handler the
 * program's arguments where the ABI puts them and, one argument further, a
 * DoorFrame with the caller's registers as they were.
 *
 * Shapes: MEMLOG_STATIC takes the next definition from __real_NAME and prefixes
 * __wrap_; otherwise the names are exported and it comes from memlog_reals. */

#include "doors-shape.h"
#include "skeleton.h"

.macro door name, symbol, arguments, index, below
        function \symbol
        enter   \below
        know    \name, \symbol, \index, \below
        hand    \arguments, \below
        CALL(memlog_on_\name)
        leave   \below
        RETURN
        places  \name, \index
        end     \symbol
.endm

/* A call of any number of arguments that goes on by a jump: with the stack as it
 * was, for it may return twice, or on another stack. The handler returns where
 * to. `always`: it is told of every call. */
.macro watch name, symbol, index, always
        function \symbol
        .ifeq \always
        pass    \name, \symbol, \index, 1f
        .endif
1:      enter   BELOW_WATCH
        keep_arguments
        know    \name, \symbol, \index, BELOW_WATCH
        hand    3, BELOW_WATCH
        CALL(memlog_on_\name)
        give_back
        leave   BELOW_WATCH
        go_on
        places  \name, \index
        end     \symbol
.endm

#ifndef HAS_PLACES
.macro places name, index
.endm
#endif
#ifndef BELOW_WIDE_DOOR
#define BELOW_WIDE_DOOR BELOW_DOOR
#define IN_REGISTERS 0
#endif
/* The last argument of mmap64 has 64 bits: with two words, and what aligns them. */
#ifndef MMAP64_WORDS
#define MMAP64_WORDS 6
#endif

.macro door_of_any name, symbol, arguments, index
        .if \arguments > IN_REGISTERS
        door    \name, \symbol, \arguments, \index, BELOW_WIDE_DOOR
        .else
        door    \name, \symbol, \arguments, \index, BELOW_DOOR
        .endif
.endm

#define DOOR_AT(name, arguments, index) \
        .ifc name, mmap64; \
        door_of_any name, MEMLOG_SYMBOL(name), MMAP64_WORDS, index; \
        .else; \
        door_of_any name, MEMLOG_SYMBOL(name), arguments, index; \
        .endif
#define WATCH_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 0
#define TELL_AT(name, arguments, index) watch name, MEMLOG_SYMBOL(name), index, 1
#include "doors-list.h"

#ifndef MEMLOG_MEMBER
/* Our own dynamic section, by which the loader's list knows us; none in the
 * static shape, where malloc_usable_size is the program's own. */
        own     memlog_own_dynamic
#ifdef MEMLOG_STATIC
        ANSWER_NOTHING
#else
        .hidden _DYNAMIC
        ANSWER_ADDRESS(_DYNAMIC, memlog_own_dynamic)
#endif
        end     memlog_own_dynamic

        own     memlog_static_usable
#ifdef MEMLOG_STATIC
        .weak   malloc_usable_size
        ANSWER_WEAK(malloc_usable_size, memlog_static_usable)
#else
        ANSWER_NOTHING
#endif
        end     memlog_static_usable

/* What an allocator of the program's own says in memlog.h's words, with the caller's
 * registers; there is no next definition, and the handler fills the frame in. */
#ifdef HAS_SAYERS
.macro sayer name, arguments
        function \name
        enter   BELOW_DOOR
        hand    \arguments, BELOW_DOOR
        CALL(memlog_on_\name)
        leave   BELOW_DOOR
        RETURN
        end     \name
.endm
        sayer   memlog_custom_alloc, 2
        sayer   memlog_custom_free, 1
        sayer   memlog_custom_realloc, 3
        sayer   memlog_pool, 1
#endif

/* The C library's, where the program has it. */
        own     memlog_sigaction
        .weak   sigaction
        ANSWER_WEAK(sigaction, memlog_sigaction)
        end     memlog_sigaction
#endif
