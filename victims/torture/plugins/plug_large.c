/* plug_small with a large frame, so that its unwind tables differ at the same addresses.
 *
 * @plugin
 */
#define FRAME 4000
#include "plug_small.c"
