/* For loops that the compiler is to turn into vector instructions: included last, it has the rest of a file optimized for
 * speed, and FOR_EACH_PROCESSOR has a function compiled for several processors, of which the one at hand is chosen.
 */
#ifndef GRAPHSCOPE_PROCESSORS_H
#define GRAPHSCOPE_PROCESSORS_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* Ahead of a loop over a few lanes side by side: it becomes vector instructions. Taken apart before that, as short loops
 * are, it becomes them only where the compiler can tell that what lies next to each other does: with -fwrapv, hardly. */
#if defined(__GNUC__) && !defined(__clang__)
#define SIDE_BY_SIDE _Pragma("GCC unroll 1")
#else
#define SIDE_BY_SIDE
#endif

/* Have a line of memory fetched that is read soon; where none lies, nothing happens. */
#ifdef __GNUC__
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)(address))
#endif

#endif
