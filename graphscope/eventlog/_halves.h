/* Floating-point numbers of 16 bits. */
#ifndef GRAPHSCOPE_HALVES_H
#define GRAPHSCOPE_HALVES_H

#include <stdint.h>
#include <string.h>

/* One as a float: of 8 bits of exponent (bfloat16), or of 5. */
static float widened(uint16_t bits, int exponent_bits)
{
    if (exponent_bits == 8) {
        uint32_t wide = (uint32_t)bits << 16;
        float x;
        memcpy(&x, &wide, 4);
        return x;
    }
    uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023, sign = (uint32_t)(bits & 0x8000) << 16;
    if (exponent == 0) {
        float x = (float)mantissa * 5.9604644775390625e-8f; /* 2 ** -24 */
        return sign ? -x : x;
    }
    uint32_t wide = sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) | mantissa << 13;
    float x;
    memcpy(&x, &wide, 4);
    return x;
}

#endif
