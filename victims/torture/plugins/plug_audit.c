/* An auditor, which lives in a namespace of its own with a libc of its own, and is told of each library.
 *
 * @plugin
 */
#include "../torture.h"
#include <link.h>

static void *notes[64];
static unsigned at;

unsigned la_version(unsigned version)
{
    return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
    (void)lmid, (void)cookie;
    void **note = &notes[at++ % 64];
    free(*note);
    *note = keep(strdup(map->l_name));
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

unsigned la_objclose(uintptr_t *cookie)
{
    (void)cookie;
    churn(10);
    return 0;
}
