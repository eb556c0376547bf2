/* What machine this is, as the program itself sees it. */
#include "seen.h"

int main(void)
{
    const uint16_t word = 0x0102;
    say(*(const uint8_t *)&word == 1 ? "big" : "little", 8 * (long)sizeof(void *));
    return 0;
}
