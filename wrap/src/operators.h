/* The one list of hooked C++ operators: NEW(index, name) and DELETE(index, name).
 *
 * The assembly expands it; wrap/build makes Rust's names of it, and
 * cdylib/link-operators and staticlib/prelink what they export. The first four
 * take a size, the next four an alignment too. m, unsigned long, is what size_t is
 * where it has 64 bits; where it has 32 it is unsigned int, j. */
#if __SIZEOF_SIZE_T__ == 4
#define _Znwm _Znwj
#define _Znam _Znaj
#define _ZnwmRKSt9nothrow_t _ZnwjRKSt9nothrow_t
#define _ZnamRKSt9nothrow_t _ZnajRKSt9nothrow_t
#define _ZnwmSt11align_val_t _ZnwjSt11align_val_t
#define _ZnamSt11align_val_t _ZnajSt11align_val_t
#define _ZnwmSt11align_val_tRKSt9nothrow_t _ZnwjSt11align_val_tRKSt9nothrow_t
#define _ZnamSt11align_val_tRKSt9nothrow_t _ZnajSt11align_val_tRKSt9nothrow_t
#define _ZdlPvm _ZdlPvj
#define _ZdaPvm _ZdaPvj
#define _ZdlPvmSt11align_val_t _ZdlPvjSt11align_val_t
#define _ZdaPvmSt11align_val_t _ZdaPvjSt11align_val_t
#endif
NEW(0, _Znwm)
NEW(1, _Znam)
NEW(2, _ZnwmRKSt9nothrow_t)
NEW(3, _ZnamRKSt9nothrow_t)
NEW(4, _ZnwmSt11align_val_t)
NEW(5, _ZnamSt11align_val_t)
NEW(6, _ZnwmSt11align_val_tRKSt9nothrow_t)
NEW(7, _ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(8, _ZdlPv)
DELETE(9, _ZdaPv)
DELETE(10, _ZdlPvm)
DELETE(11, _ZdaPvm)
DELETE(12, _ZdlPvSt11align_val_t)
DELETE(13, _ZdaPvSt11align_val_t)
DELETE(14, _ZdlPvmSt11align_val_t)
DELETE(15, _ZdaPvmSt11align_val_t)
DELETE(16, _ZdlPvRKSt9nothrow_t)
DELETE(17, _ZdaPvRKSt9nothrow_t)
DELETE(18, _ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(19, _ZdaPvSt11align_val_tRKSt9nothrow_t)
