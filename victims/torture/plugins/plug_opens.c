/* A plugin that loads others, which lie beside it: only its RUNPATH says so.
 *
 * @plugin
 * @flags -ldl -Wl,--enable-new-dtags,-rpath,'$ORIGIN'
 */
#include "../torture.h"
#include <dlfcn.h>

SITE void *plug_open(const char *name, int flags)
{
    return keep(dlopen(name, flags));
}
