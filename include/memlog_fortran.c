/* What memlog.f90 calls: compile this file with the C compiler and link both.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "memlog.h"

void memlog_fortran_mark(const char *name) { memlog_mark(name); }
void memlog_fortran_snapshot(void) { memlog_snapshot(); }
void memlog_fortran_sync(void) { memlog_sync(); }
void memlog_fortran_start(void) { memlog_start(); }
void memlog_fortran_stop(void) { memlog_stop(); }
void memlog_fortran_name_thread(const char *name) { memlog_name_thread(name); }
void memlog_fortran_scope_begin(const char *name) { memlog_scope_begin(name); }
void memlog_fortran_scope_end(void) { memlog_scope_end(); }
int memlog_fortran_is_recording(void) { return memlog_is_recording(); }
