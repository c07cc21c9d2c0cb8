/* The large values that a segment holds already: one that is the same as another lies there once.
 *
 * A few words of a value tell which one it may be; then all its bytes are compared. `recent_values.py` is the same in
 * Python, and finds the same ones. Included before `_processors.h`.
 */
#ifndef GRAPHSCOPE_RECENT_VALUES_H
#define GRAPHSCOPE_RECENT_VALUES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RECENT = 1 << 12, WORDS = 32 };

typedef struct {
    uint64_t mark;
    int64_t offset, size; /* no size: nothing */
} RecentValue;

/* What tells a value from others, of 8 bytes or more: its size and words spread over it. */
static uint64_t mark_of(const char *content, int64_t size)
{
    uint64_t mark = (uint64_t)size, word;
    for (int64_t place = 0; place < WORDS && size >= 8; place++) {
        memcpy(&word, content + place * (size - 8) / (WORDS - 1), 8);
        mark = (mark ^ word) * 0x9E3779B97F4A7C15u;
        mark ^= mark >> 32;
    }
    return mark;
}

/* Where among `values` such a value lies; -1: nowhere. */
static int64_t recent_value(const RecentValue *recent, uint64_t mark, const char *values, const char *content,
                            int64_t size)
{
    const RecentValue *found = recent == NULL ? NULL : recent + mark % RECENT;
    return found != NULL && found->mark == mark && found->size == size &&
                   memcmp(values + found->offset, content, size) == 0
               ? found->offset
               : -1;
}

/* Note where a value lies that was written. Without memory for that it is written again when it comes again. */
static void note_value(RecentValue **recent, uint64_t mark, int64_t offset, int64_t size)
{
    if (*recent == NULL)
        *recent = calloc(RECENT, sizeof **recent);
    if (*recent != NULL)
        (*recent)[mark % RECENT] = (RecentValue){mark, offset, size};
}

#endif
