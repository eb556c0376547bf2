/* For a language that cannot include seen.h. */
#include "seen.h"

void seen_once(void) { free(seen()); }
