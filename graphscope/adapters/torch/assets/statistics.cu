/* The statistics of the elements of a tensor, in one pass: what `tensor_elements.statistics` finds.
 *
 * A slot begins as zeros. Sums are those of the differences from the first element, so that the variance of numbers which
 * lie close together is not lost (Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance", 1983). Those
 * of double precision are not measured here: their squares may have no room.
 */
typedef long long i64;
typedef unsigned long long u64;

struct Slot {
    double sum, squares; /* of finite elements, less `shift` */
    u64 most, least;     /* keys of the largest one, and of the smallest one, all bits turned */
    u64 nan, inf, zero;
    double shift;
};

/* Keys are in the order of their numbers, and none is 0. */
__device__ u64 key_of(double number)
{
    u64 bits = __double_as_longlong(number);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

__device__ double half_of(unsigned short bits)
{
    float found;
    asm("cvt.f32.f16 %0, %1;" : "=f"(found) : "h"(bits));
    return found;
}

struct Float32 { static __device__ double at(const void *data, i64 place) { return ((const float *)data)[place]; } };
struct Float16 {
    static __device__ double at(const void *data, i64 place) { return half_of(((const unsigned short *)data)[place]); }
};
struct Bfloat16 {
    static __device__ double at(const void *data, i64 place)
    {
        return __uint_as_float((unsigned)((const unsigned short *)data)[place] << 16);
    }
};
struct Complex64 {
    static __device__ double at(const void *data, i64 place)
    {
        const float *parts = (const float *)data + 2 * place;
        return hypot((double)parts[0], (double)parts[1]);
    }
};
#define WHOLE(name, type)                                                                                              \
    struct name { static __device__ double at(const void *data, i64 place) { return ((const type *)data)[place]; } };
WHOLE(Int8, signed char)
WHOLE(Int16, short)
WHOLE(Int32, int)
WHOLE(Int64, i64)
WHOLE(Uint8, unsigned char)
WHOLE(Uint16, unsigned short)
WHOLE(Uint32, unsigned)
WHOLE(Uint64, u64)

template <typename Number> __device__ Number added(Number one, Number other) { return one + other; }
__device__ u64 larger(u64 one, u64 other) { return one > other ? one : other; }

template <typename Number> __device__ Number over_warp(Number value, Number (*join)(Number, Number))
{
#pragma unroll 1
    for (int away = 16; away; away >>= 1)
        value = join(value, __shfl_down_sync(0xffffffffu, value, away));
    return value;
}

__device__ Slot over_warp(Slot part)
{
    return Slot{over_warp(part.sum, added<double>), over_warp(part.squares, added<double>),
                over_warp(part.most, larger),       over_warp(part.least, larger),
                over_warp(part.nan, added<u64>),    over_warp(part.inf, added<u64>),
                over_warp(part.zero, added<u64>),   part.shift};
}

/* Put what the threads of a block have found together with what others have. */
__device__ __noinline__ void join(Slot part, Slot *slot)
{
    __shared__ Slot parts[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    part = over_warp(part);
    if (lane == 0)
        parts[warp] = part;
    __syncthreads();
    if (warp != 0)
        return;
    part = lane < blockDim.x / 32 ? parts[lane] : Slot{0, 0, 0, 0, 0, 0, 0, part.shift};
    part = over_warp(part);
    if (lane != 0)
        return;
    atomicAdd(&slot->sum, part.sum);
    atomicAdd(&slot->squares, part.squares);
    atomicMax(&slot->most, part.most);
    atomicMax(&slot->least, part.least);
    atomicAdd(&slot->nan, part.nan);
    atomicAdd(&slot->inf, part.inf);
    atomicAdd(&slot->zero, part.zero);
    if (blockIdx.x == 0)
        slot->shift = part.shift;
}

__device__ void add(Slot *part, double number)
{
    double apart = isfinite(number) ? number - part->shift : 0;
    u64 key = key_of(number);
    part->sum += apart;
    part->squares += apart * apart;
    part->most = larger(part->most, isfinite(number) ? key : 0);
    part->least = larger(part->least, isfinite(number) ? ~key : 0);
    part->nan += isnan(number) ? 1 : 0;
    part->inf += isinf(number) ? 1 : 0;
    part->zero += number == 0 ? 1 : 0;
}

/* The elements lie in rows of `row` each, of which one begins `stride` behind the one before it. */
template <typename Elements> __device__ void measure(const void *data, i64 count, i64 row, i64 stride, Slot *slot)
{
    Slot part = {0, 0, 0, 0, 0, 0, 0, Elements::at(data, 0)};
    if (!isfinite(part.shift))
        part.shift = 0;
    i64 first = (i64)blockIdx.x * blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
    if (row == count) {
#pragma unroll 4
        for (i64 place = first; place < count; place += step)
            add(&part, Elements::at(data, place));
    }
    else {
#pragma unroll 1
        for (i64 place = first; place < count; place += step)
            add(&part, Elements::at(data, place / row * stride + place % row));
    }
    join(part, slot);
}

#define KERNEL(name, Elements)                                                                                         \
    extern "C" __global__ void name(const void *data, i64 count, i64 row, i64 stride, Slot *slot)                      \
    {                                                                                                                  \
        measure<Elements>(data, count, row, stride, slot);                                                             \
    }
KERNEL(measure_float32, Float32)
KERNEL(measure_float16, Float16)
KERNEL(measure_bfloat16, Bfloat16)
KERNEL(measure_complex64, Complex64)
KERNEL(measure_int8, Int8)
KERNEL(measure_int16, Int16)
KERNEL(measure_int32, Int32)
KERNEL(measure_int64, Int64)
KERNEL(measure_uint8, Uint8)
KERNEL(measure_uint16, Uint16)
KERNEL(measure_uint32, Uint32)
KERNEL(measure_uint64, Uint64)
KERNEL(measure_bool, Uint8)
