/* What is promised to rows, of tensors on a CUDA device: see `promises.Promises`, in whose place it stands. */
#include "_adapter.h"

/* As `promises.PROMISE` and `promises.TIMED`. */
typedef struct {
    int64_t row, keep, slot, size, times, start, nbytes, floating;
} Promise;

typedef struct {
    int64_t row;
    uint64_t first, last;
} Timed;

enum { SLOT = 64, THREADS = 256, EACH = 8, KERNELS = 32, MOST_STREAMS = 16, ALIGNED = 16 };
enum { KEPT_INLINE = 16, KEPT_SUMMARY = 32, KEPT_WHOLE = 64, INLINE_BYTES = 8 }; /* of `schema.Flag` */
enum { ON_CUDA = 2 };

typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int (*Copy)(uint64_t, uint64_t, size_t, void *);
typedef int (*Record)(void *, void *);
typedef int (*Create)(void **, unsigned);
typedef int (*Elapsed)(float *, void *, void *);

typedef struct {
    PyObject_HEAD
    PyObject *fetch, *stream, *device, *capturing, *number;
    int64_t index, room, most_bytes, most_blocks, slots, bytes;
    Launch launch;
    Copy copy;
    Record record;
    Create create;
    Elapsed elapsed;
    void *kernels[KERNELS];
    Promise *promises;
    Timed *timed;
    void **events;
    int64_t count, used_slots, used_bytes, timed_count, event_count;
    void *streams[MOST_STREAMS];
    int stream_count;
    char resting, failed;
} Promises;

static PyTypeObject *promises_type;
static Promises *active; /* of the recording that goes on, or NULL */

/* The kernel of a dtype, as DLPack tells of it. */
static int kernel_of(const Look *seen)
{
    int size = seen->bits / 8, power = 0;
    while (1 << power < size)
        power++;
    return seen->lanes != 1 || seen->bits % 8 || seen->code > 7 || power > 3 ? -1 : seen->code * 4 + power;
}

/* A number that a function of torch's answers; -1 for an error, which is forgotten. */
static int64_t answer_of(PyObject *function, PyObject *argument)
{
    PyObject *found = argument == NULL ? PyObject_CallNoArgs(function) : PyObject_CallOneArg(function, argument);
    int64_t answer = found == NULL ? -1 : PyLong_AsLongLong(found);
    Py_XDECREF(found);
    if (answer == -1)
        PyErr_Clear();
    return answer;
}

static _Thread_local struct {
    const Promises *of;
    void *stream;
} last; /* where something could be queued last, while one call is recorded */

void ask_again(void) { last.of = NULL; }

/* The stream that this thread uses; whether something may be queued there. */
static int can_queue(Promises *self, void **stream)
{
    if (last.of == self && !self->failed) {
        *stream = last.stream;
        return 1;
    }
    if (self->failed || answer_of(self->device, NULL) != self->index || answer_of(self->capturing, NULL) != 0)
        return 0;
    int64_t found = answer_of(self->stream, self->number);
    *stream = (void *)(intptr_t)found;
    if (found == -1)
        return 0;
    last.of = self;
    last.stream = *stream;
    return 1;
}

/* Note that something was queued on a stream; 0 where it is one of too many. */
static int note_stream(Promises *self, void *stream)
{
    for (int place = 0; place < self->stream_count; place++)
        if (self->streams[place] == stream)
            return 1;
    if (self->stream_count == MOST_STREAMS)
        return 0;
    self->streams[self->stream_count++] = stream;
    return 1;
}

/* Whether there is room for a promise of so many bytes, or (0) in a slot, of what is queued on a stream. */
static int has_room(Promises *self, int64_t nbytes, void *stream)
{
    return !self->resting && self->count < 2 * self->room &&
           (nbytes ? self->used_bytes + nbytes <= self->most_bytes : self->used_slots < self->room) &&
           note_stream(self, stream);
}

/* Give the rows what was promised to them; where another thread does so, that is waited for. */
static void give(Promises *self)
{
    PyObject *told = PyObject_CallNoArgs(self->fetch);
    if (told == NULL)
        put_off();
    Py_XDECREF(told);
}

/* The same once the rows have what they wait for, if there is none before; none where nothing may be queued any more. */
static int makes_room(Promises *self, int64_t nbytes, void *stream)
{
    if (!self->failed && !has_room(self, nbytes, stream))
        give(self);
    return !self->failed && has_room(self, nbytes, stream);
}

static int lies_in_rows(const Look *seen, Lying *lying)
{
    int64_t count = 1, row = 1;
    int axis = seen->axes, is_expanded = seen->strides != NULL;
    for (int each = 0; each < seen->axes; each++) {
        count *= seen->shape[each];
        is_expanded &= seen->shape[each] == 1 || seen->strides[each] == 0;
    }
    if (is_expanded && count > 1) { /* one element that is there so often */
        *lying = (Lying){1, 1, 0, count};
        return 1;
    }
    if (is_in_one_stretch(seen)) {
        *lying = (Lying){count, count, 0, 1};
        return 1;
    }
    while (axis > 0 && (seen->shape[axis - 1] == 1 || seen->strides[axis - 1] == row))
        row *= seen->shape[--axis];
    int64_t stride = axis > 0 ? seen->strides[axis - 1] : 0, expected = stride;
    for (int each = axis - 1; each >= 0; each--) {
        if (seen->shape[each] != 1 && seen->strides[each] != expected)
            return 0;
        expected *= seen->shape[each];
    }
    *lying = (Lying){count, row, stride, 1};
    return stride > 0;
}

/* Let the statistics of a tensor be taken for a row, behind what was queued on a stream. */
static void measure(Promises *self, int64_t row, int kernel, uint64_t address, const Lying *lying, int keep, void *stream)
{
    int64_t size = lying->size, length = lying->row, stride = lying->stride;
    if (kernel < 0 || kernel >= KERNELS || self->kernels[kernel] == NULL || size <= 0 || address == 0 ||
        !makes_room(self, 0, stream))
        return;
    int64_t slot = self->used_slots, blocks = (size + THREADS * EACH - 1) / (THREADS * EACH);
    uint64_t at = self->slots + SLOT * slot;
    void *given[] = {&address, &size, &length, &stride, &at};
    if (blocks > self->most_blocks)
        blocks = self->most_blocks;
    if (self->launch(self->kernels[kernel], (unsigned)blocks, 1, 1, THREADS, 1, 1, 0, stream, given, NULL) != 0) {
        self->failed = 1;
        return;
    }
    self->used_slots++;
    self->promises[self->count++] = (Promise){row, keep, slot, size, lying->times, 0, 0, 0};
}

/* Let the bytes of a value be kept for a row. */
static void copy(Promises *self, int64_t row, uint64_t address, int64_t nbytes, int keep, int64_t floating, void *stream)
{
    if (nbytes <= 0 || nbytes > self->most_bytes || address == 0 || !makes_room(self, nbytes, stream))
        return;
    int64_t start = self->used_bytes;
    if (self->copy((uint64_t)(self->bytes + start), address, (size_t)nbytes, stream) != 0) {
        self->failed = 1;
        return;
    }
    self->used_bytes += (nbytes + ALIGNED - 1) & -ALIGNED;
    self->promises[self->count++] = (Promise){row, keep, -1, 0, 0, start, nbytes, floating};
}

static void take_back(Promises *self, uint64_t event)
{
    if (event && self->event_count < 4 * self->room)
        self->events[self->event_count++] = (void *)(uintptr_t)event;
}

static uint64_t mark(Promises *self, void *stream)
{
    void *event = NULL;
    if (self->event_count)
        event = self->events[--self->event_count];
    else if (self->create(&event, 0) != 0)
        return 0;
    if (!note_stream(self, stream) || self->record(event, stream) != 0) {
        take_back(self, (uint64_t)(uintptr_t)event);
        return 0;
    }
    return (uint64_t)(uintptr_t)event;
}

static void timed(Promises *self, int64_t row, uint64_t first, uint64_t last)
{
    if (first && last && self->timed_count == 2 * self->room)
        give(self);
    if (first && last && self->timed_count < 2 * self->room)
        self->timed[self->timed_count++] = (Timed){row, first, last};
    else {
        take_back(self, first);
        take_back(self, last);
    }
}

/* What other files ask ---------------------------------------------------------------------------------------------- */

int promises_go_on(void) { return active != NULL && !active->failed; }

int lies_there(PyObject *tensor)
{
    Look seen;
    return promises_go_on() && look(tensor, &seen) && seen.device == ON_CUDA && seen.device_number == active->index;
}

int lies_on_another(PyObject *tensor)
{
    Look seen;
    return promises_go_on() && look(tensor, &seen) && seen.device == ON_CUDA && seen.device_number != active->index;
}

int can_promise(const Site *site, PyObject *tensor, const Look *seen, int is_kept, Ahead *ahead)
{
    int64_t nbytes = bytes_of(seen);
    *ahead = (Ahead){.kernel = -1};
    if (active == NULL || (is_kept && is_nothing(site->awaiting)) || seen->device != ON_CUDA ||
        seen->device_number != active->index || nbytes == 0 || nbytes != site->nbytes ||
        !can_queue(active, &ahead->stream) || !is_as_it_lies(tensor, seen))
        return 0;
    ahead->address = (uint64_t)(uintptr_t)first_element(tensor, seen);
    if (is_kept && site->ordered) {
        ahead->nbytes = nbytes;
        ahead->keep = nbytes <= INLINE_BYTES ? KEPT_INLINE : KEPT_WHOLE;
        ahead->floating = site->floating;
        return ahead->address != 0 && nbytes <= active->most_bytes && is_in_one_row(seen);
    }
    ahead->keep = is_kept && site->summary ? KEPT_SUMMARY : 0;
    ahead->kernel = kernel_of(seen);
    return ahead->address != 0 && ahead->kernel >= 0 && active->kernels[ahead->kernel] != NULL &&
           lies_in_rows(seen, &ahead->lying);
}

void promise(const Ahead *ahead, int64_t row)
{
    if (active == NULL || row < 0)
        return;
    if (ahead->kernel < 0)
        copy(active, row, ahead->address, ahead->nbytes, ahead->keep, ahead->floating, ahead->stream);
    else
        measure(active, row, ahead->kernel, ahead->address, &ahead->lying, ahead->keep, ahead->stream);
}

uint64_t mark_here(void)
{
    void *stream;
    return active != NULL && can_queue(active, &stream) ? mark(active, stream) : 0;
}

void took_from(int64_t row, uint64_t first, uint64_t last)
{
    if (active != NULL)
        timed(active, row, first, last);
}

void never_mind(uint64_t event)
{
    if (active != NULL)
        take_back(active, event);
}

/* Promises ---------------------------------------------------------------------------------------------------------- */

#define PARTS(X) X(fetch) X(stream) X(device) X(capturing) X(number)
HOLDS(Promises, PARTS)

static void Promises_end(Promises *self)
{
    free(self->promises);
    free(self->timed);
    free(self->events);
    Promises_dealloc(self);
}

/* Promises(fetch, stream, device, capturing, index, room, bytes, blocks, slots, functions, kernels): see
 * `promises.Promises`. */
static int Promises_init(Promises *self, PyObject *args, PyObject *names)
{
    PyObject *fetch, *stream, *device, *capturing, *kernels;
    long long index, room, most_bytes, blocks, slots, launch, record, duplicate, create, elapsed;
    if (!PyArg_ParseTuple(args, "OOOOLLLLL(LLLLL)O!", &fetch, &stream, &device, &capturing, &index, &room, &most_bytes,
                          &blocks, &slots, &launch, &duplicate, &record, &create, &elapsed, &PyTuple_Type, &kernels))
        return -1;
    put(&self->fetch, fetch);
    put(&self->stream, stream);
    put(&self->device, device);
    put(&self->capturing, capturing);
    if ((self->number = PyLong_FromLongLong(index)) == NULL)
        return -1;
    self->index = index;
    self->room = room;
    self->most_bytes = most_bytes;
    self->most_blocks = blocks;
    self->slots = slots;
    self->bytes = slots + room * SLOT;
    self->launch = (Launch)(intptr_t)launch;
    self->copy = (Copy)(intptr_t)duplicate;
    self->record = (Record)(intptr_t)record;
    self->create = (Create)(intptr_t)create;
    self->elapsed = (Elapsed)(intptr_t)elapsed;
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(kernels) && place < KERNELS; place++)
        self->kernels[place] = PyLong_AsVoidPtr(PyTuple_GET_ITEM(kernels, place));
    self->promises = malloc(2 * room * sizeof(Promise));
    self->timed = malloc(2 * room * sizeof(Timed));
    self->events = malloc(4 * room * sizeof(void *));
    if (self->promises == NULL || self->timed == NULL || self->events == NULL)
        PyErr_NoMemory();
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *Promises_measure(Promises *self, PyObject *args)
{
    long long kernel, address, size, times, keep, stream, row;
    if (!PyArg_ParseTuple(args, "LLLLLLL", &kernel, &address, &size, &times, &keep, &stream, &row))
        return NULL;
    Lying lying = {size, size, 0, times};
    measure(self, row, (int)kernel, (uint64_t)address, &lying, (int)keep, (void *)(intptr_t)stream);
    Py_RETURN_NONE;
}

static PyObject *Promises_copy(Promises *self, PyObject *args)
{
    long long address, nbytes, keep, floating, stream, row;
    if (!PyArg_ParseTuple(args, "LLLLLL", &address, &nbytes, &keep, &floating, &stream, &row))
        return NULL;
    copy(self, row, (uint64_t)address, nbytes, (int)keep, floating, (void *)(intptr_t)stream);
    Py_RETURN_NONE;
}

static PyObject *Promises_mark(Promises *self, PyObject *stream)
{
    int64_t where = PyLong_AsLongLong(stream);
    if (where == -1 && PyErr_Occurred())
        return NULL;
    return PyLong_FromUnsignedLongLong(mark(self, (void *)(intptr_t)where));
}

static PyObject *Promises_timed(Promises *self, PyObject *args)
{
    long long row;
    unsigned long long first, last;
    if (!PyArg_ParseTuple(args, "LKK", &row, &first, &last))
        return NULL;
    timed(self, row, first, last);
    Py_RETURN_NONE;
}

static PyObject *Promises_take_back(Promises *self, PyObject *event)
{
    unsigned long long found = PyLong_AsUnsignedLongLong(event);
    if (PyErr_Occurred())
        return NULL;
    take_back(self, found);
    Py_RETURN_NONE;
}

/* take(): the promises, the bytes that are kept, what was timed, and the streams; nothing more is promised until
 * `resume`. */
static PyObject *Promises_take(Promises *self, PyObject *nothing)
{
    PyObject *streams = PyTuple_New(self->stream_count);
    for (int place = 0; streams != NULL && place < self->stream_count; place++) {
        PyObject *stream = PyLong_FromVoidPtr(self->streams[place]);
        if (stream == NULL)
            Py_CLEAR(streams);
        else
            PyTuple_SET_ITEM(streams, place, stream);
    }
    if (streams == NULL)
        return NULL;
    PyObject *found = Py_BuildValue("y#Ly#N", self->promises, (Py_ssize_t)(self->count * sizeof(Promise)),
                                    (long long)self->used_bytes, self->timed,
                                    (Py_ssize_t)(self->timed_count * sizeof(Timed)), streams);
    if (found != NULL) {
        self->count = self->used_slots = self->used_bytes = self->timed_count = self->stream_count = 0;
        self->resting = 1;
    }
    return found;
}

/* durations(timed): of each what passed between its events in nanoseconds, as doubles; NaN where they have not happened.
 * Nobody asks the events any more. */
static PyObject *Promises_durations(Promises *self, PyObject *given)
{
    if (!PyBytes_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "bytes are asked for");
        return NULL;
    }
    Py_ssize_t count = PyBytes_GET_SIZE(given) / (Py_ssize_t)sizeof(Timed);
    const Timed *each = (const Timed *)PyBytes_AS_STRING(given);
    PyObject *found = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(double));
    double *told = found == NULL ? NULL : (double *)PyBytes_AS_STRING(found);
    for (Py_ssize_t place = 0; told != NULL && place < count; place++) {
        float milliseconds;
        int failed = self->elapsed(&milliseconds, (void *)(uintptr_t)each[place].first, (void *)(uintptr_t)each[place].last);
        told[place] = failed ? Py_NAN : milliseconds * 1e6;
        take_back(self, each[place].first);
        take_back(self, each[place].last);
    }
    return found;
}

static PyObject *Promises_resume(Promises *self, PyObject *nothing)
{
    self->resting = 0;
    Py_RETURN_NONE;
}

static PyObject *Promises_events(Promises *self, PyObject *nothing)
{
    PyObject *found = PyList_New(0);
    while (found != NULL && self->event_count) {
        PyObject *event = PyLong_FromVoidPtr(self->events[--self->event_count]);
        if (event == NULL || PyList_Append(found, event) < 0)
            Py_CLEAR(found);
        Py_XDECREF(event);
    }
    return found;
}

/* promise_here(promises or None): those of the recording that goes on. */
static PyObject *promise_here(PyObject *module, PyObject *given)
{
    if (given != Py_None && !PyObject_TypeCheck(given, promises_type)) {
        PyErr_SetString(PyExc_TypeError, "promises are asked for");
        return NULL;
    }
    Promises *before = active;
    active = given == Py_None ? NULL : (Promises *)Py_NewRef(given);
    Py_XDECREF((PyObject *)before);
    Py_RETURN_NONE;
}

static PyMethodDef Promises_methods[] = {
    {"measure", (PyCFunction)Promises_measure, METH_VARARGS, "Let statistics be taken."},
    {"copy", (PyCFunction)Promises_copy, METH_VARARGS, "Let elements be kept."},
    {"mark", (PyCFunction)Promises_mark, METH_O, "An event at this place of a stream; 0: there is none."},
    {"timed", (PyCFunction)Promises_timed, METH_VARARGS, "The op of a row ran between two events."},
    {"take_back", (PyCFunction)Promises_take_back, METH_O, "An event that nobody asks any more."},
    {"take", (PyCFunction)Promises_take, METH_NOARGS, "All that was promised."},
    {"durations", (PyCFunction)Promises_durations, METH_O, "What passed between events, in nanoseconds."},
    {"resume", (PyCFunction)Promises_resume, METH_NOARGS, "Promise again."},
    {"events", (PyCFunction)Promises_events, METH_NOARGS, "Events that nobody uses."},
    {NULL}};

static PyMemberDef Promises_members[] = {{"failed", T_BOOL, offsetof(Promises, failed), 0, NULL}, {NULL}};

static PyType_Slot Promises_slots[] = {{Py_tp_doc, "What is promised to rows, of tensors on a CUDA device."},
                                       {Py_tp_new, PyType_GenericNew},
                                       {Py_tp_init, Promises_init},
                                       {Py_tp_dealloc, Promises_end},
                                       {Py_tp_traverse, Promises_traverse},
                                       {Py_tp_clear, Promises_clear},
                                       {Py_tp_members, Promises_members},
                                       {Py_tp_methods, Promises_methods},
                                       {0, NULL}};

static PyType_Spec Promises_spec = {"graphscope.adapters.torch._calls.Promises", sizeof(Promises), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, Promises_slots};

static PyMethodDef functions[] = {{"promise_here", promise_here, METH_O, "Whose promises compiled code makes."}, {NULL}};

int add_promises(PyObject *module)
{
    promises_type = (PyTypeObject *)PyType_FromSpec(&Promises_spec);
    if (promises_type == NULL || PyModule_AddObjectRef(module, "Promises", (PyObject *)promises_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
