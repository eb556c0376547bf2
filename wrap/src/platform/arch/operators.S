/* libmemlog_new.so: the C++ operators in front of the next ones.
 *
 * What an operator is, its mode says, which is read before the function it is of:
 *   0  not known: memlog_operator_find looks for the next definition
 *   2  plain: it ends in malloc, so that one jump leads on and no frame is left
 *   else  own: it ends in an allocator's internals and is recorded here
 *
 * An own operator new is called with nothing held, for it may throw or jump away:
 * the frame below is crossed by its CFI alone. An own operator delete does
 * neither and is called by its handler, as free is. The first word of the
 * DoorFrame is the handler's. What each processor says of it:
 *
 *   plain_or         on by a jump if the operator is plain, else on with its index
 *   mode, IF_KNOWN, IF_OWN, IF_NOT_FOUND, IF_ALIGNED
 *                    what the mode is, and where to go on if it is so
 *   search           asks memlog_operator_find; arguments and index stay
 *   JUMP_FOUND, JUMP_REAL
 *                    on to what that found, and to what stands in the table
 *   fill             the real function, into the DoorFrame; word and mark are 0
 *   own_begins, own_call, own_done, own_result
 *                    the arguments of memlog_operator_new_begins, the call of the
 *                    real function, the arguments of ..._done, and the result
 *   own_delete       the arguments of memlog_operator_delete
 *   SWAP             the first two arguments change places
 *   keep_asked, fetch_asked
 *                    what most of them have in common: arguments and index */

#define IN_OPERATORS    /* for processors whose operators need another setting */
#include "skeleton.h"

        .hidden _DYNAMIC
        .set    .Loperators, 0

.macro operator name, index, kind
        function \name
        plain_or \name, \index, \kind
        end     \name
        .set    .Loperators, .Loperators + 1
.endm

#ifndef OWN_RESOLVE
/* From an index to what is to be done; the arguments stay where they are. Falls
 * through if the operator is own. */
.macro resolve kind
        mode
        IF_KNOWN(1f)
        search
        mode
        IF_KNOWN(1f)
        IF_NOT_FOUND(.Lno_\kind)
        JUMP_FOUND
1:      IF_OWN(2f)
        JUMP_REAL
2:
.endm
#endif
#ifndef OWN_FRAME
.macro own_enter below
        enter   \below
        fill    \below
.endm
.macro own_leave below
        leave   \below
        RETURN
.endm
#endif

        place   memlog_new
        resolve new
        own_enter BELOW_NEW
        own_begins
        CALL_OUT(memlog_operator_new_begins)
        own_call
        own_done
        CALL_OUT(memlog_operator_new_done)
        own_result
        own_leave BELOW_NEW
/* No definition anywhere: as the standard's own would begin. */
.Lno_new:
        IF_ALIGNED(1f)
        JUMP_OUT(malloc)
1:      SWAP
        JUMP_OUT(memalign)
        end     memlog_new

        place   memlog_delete
        resolve delete
        own_enter BELOW_DELETE
        own_delete
        CALL_OUT(memlog_operator_delete)
        own_leave BELOW_DELETE
.Lno_delete:
        JUMP_OUT(free)
        end     memlog_delete

#define NEW(index, name) operator name, index, memlog_new
#define DELETE(index, name) operator name, index, memlog_delete
#include "operators.h"
        .if .Loperators - OPERATORS
        .error  "operators.h has another number of lines than skeleton.h says"
        .endif

/* `Operators` of operators.rs: the modes, then the real functions. */
        .section .bss.memlog_operators, "aw", %nobits
        .type   memlog_operators, %object
        .balign 8
memlog_operators:
        .skip   REALS_AT + WORD * OPERATORS
        .size   memlog_operators, . - memlog_operators
