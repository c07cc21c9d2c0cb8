/* What is asked of many tensors at once: copies of some of their elements, and the sums of squares of all of them.
 *
 * A row of blocks works on a tensor, of up to `MOST` in a launch: parameters of a kernel have 4096 bytes.
 */
typedef long long i64;
typedef unsigned short u16;

enum { MOST = 64, THREADS = 256 };

template <typename Row> struct Table { Row rows[MOST]; };

/* Stretches that lie evenly apart, to be copied one behind another. All sizes are bytes, and even. */
struct Stretches {
    const u16 *from;
    u16 *to;
    i64 apart;
    int size, count;
};

extern "C" __global__ void gather(Table<Stretches> table)
{
    Stretches row = table.rows[blockIdx.y];
    int size = row.size / 2;
    for (int at = threadIdx.x; at < size * row.count; at += blockDim.x)
        row.to[at] = row.from[at / size * (row.apart / 2) + at % size];
}

/* Elements of a floating dtype, by its number in `appender.FLOATING`, and what their squares are added to. */
struct Elements {
    const void *data;
    double *sum;
    i64 count, floating;
};

__device__ double half_of(u16 bits)
{
    float found;
    asm("cvt.f32.f16 %0, %1;" : "=f"(found) : "h"(bits));
    return found;
}

struct Float16 { static __device__ double at(const void *data, i64 place) { return half_of(((const u16 *)data)[place]); } };
struct Bfloat16 {
    static __device__ double at(const void *data, i64 place)
    {
        return __uint_as_float((unsigned)((const u16 *)data)[place] << 16);
    }
};
struct Float32 { static __device__ double at(const void *data, i64 place) { return ((const float *)data)[place]; } };
struct Float64 { static __device__ double at(const void *data, i64 place) { return ((const double *)data)[place]; } };

template <typename Numbers> __device__ double squares_of(const void *data, i64 count)
{
    double sum = 0;
    i64 stride = (i64)gridDim.x * blockDim.x;
#pragma unroll 4
    for (i64 place = (i64)blockIdx.x * blockDim.x + threadIdx.x; place < count; place += stride) {
        double number = Numbers::at(data, place);
        sum += number * number;
    }
    return sum;
}

extern "C" __global__ void add_squares(Table<Elements> table)
{
    __shared__ double sums[THREADS];
    Elements row = table.rows[blockIdx.y];
    if ((i64)blockIdx.x * blockDim.x >= row.count)
        return;
    double sum = row.floating == 1   ? squares_of<Float16>(row.data, row.count)
                 : row.floating == 2 ? squares_of<Bfloat16>(row.data, row.count)
                 : row.floating == 3 ? squares_of<Float32>(row.data, row.count)
                                     : squares_of<Float64>(row.data, row.count);
    sums[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(row.sum, sums[0]);
}
