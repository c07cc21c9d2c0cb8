/* What the compiled parts of the PyTorch adapter share: their types, and how a tensor is looked at.
 *
 * Nothing is linked with torch. A tensor is asked by its attributes, as Python does, or through the table of functions
 * that it offers to other libraries (DLPack's `DLPackExchangeAPI`), where its version of torch has that.
 */
#ifndef GRAPHSCOPE_ADAPTER_H
#define GRAPHSCOPE_ADAPTER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <time.h>

#include "../../eventlog/_append.h"
#include "../../eventlog/_holding.h"
#include "../../eventlog/_interruption.h"

enum { MOST_AXES = 8, MOST_GATHERED = 1 << 20 };

/* The clock of `time.perf_counter_ns`. */
static inline int64_t now(void)
{
#ifdef __APPLE__
    return (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
#else
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (int64_t)moment.tv_sec * 1000000000 + moment.tv_nsec;
#endif
}

/* What torch is asked by name. */
#define NAMES(X)                                                                                                       \
    X(__enter__) X(__exit__) X(__qualname__) X(_base) X(_is_zerotensor) X(_op) X(_saved_other) X(_sequence_nr)         \
    X(_version) X(after) X(before) X(data_ptr) X(due) X(enter) X(dtype) X(grad) X(grad_fn) X(here) X(is_conj) X(is_contiguous)  \
    X(is_cpu) X(is_neg) X(is_nested) X(name) X(next_functions) X(receive) X(register_hook) X(register_prehook)         \
    X(remove) X(requires_grad) X(shape) X(stop) X(storage_offset) X(turn) X(on_backward) X(untyped_storage) X(variable)

/* What our own objects are asked that are made in Python. */
#define SLOTS(X)                                                                                                       \
    X(accumulated) X(added) X(append) X(arrivals) X(base) X(ended) X(entering) X(expected) X(first)                    \
    X(fresh) X(gate) X(inner) X(leaving) X(line_calls) X(low) X(mode) X(module) X(named) X(pairs) X(part) X(remote)    \
    X(row) X(sampling) X(scales) X(several) X(single) X(sites) X(sites_without_grad) X(start) X(thread) X(triples)     \
    X(turn) X(twin) X(updating) X(versions)                                                                            \
    X(zeroed)

/* Seen by the files of one module alone. */
#ifdef __GNUC__
#define INSIDE __attribute__((visibility("hidden")))
#else
#define INSIDE
#endif

/* Where the objects of a class hold what one of its `__slots__` names: found at the first question. */
typedef struct {
    PyObject *name;
    PyTypeObject *owner;
    Py_ssize_t place;
} Slot;

#define DECLARE_NAME(name) extern INSIDE PyObject *str_##name;
#define DECLARE_SLOT(name) extern INSIDE Slot slot_##name;
NAMES(DECLARE_NAME)
SLOTS(DECLARE_SLOT)

/* A tensor that the log has a row of. */
typedef struct {
    PyObject_HEAD
    PyObject *reference; /* a weak one */
    int64_t row, counter, seen;
    PyObject *group, *more;
} Known;

/* A call site, and the result that its template is for. */
typedef struct {
    PyObject_HEAD
    PyObject *shape, *dtype, *constants, *template, *fields;
    PyObject *awaiting; /* the template of rows whose value is promised */
    PyObject *code; /* a weak reference to that by whose address it is known: another one may come to lie there */
    PyObject *next; /* another variant of it, or None */
    PyObject *slots, *beside; /* where it makes several tensors: a site for each, and the constants of its calls */
    int64_t count, nbytes, floating;
    int64_t varying; /* a bit for each number among the constants that varies; -1: it is for Python to tell */
    char requires_grad, direct, ordered, summary, wanted;
    uint32_t seen; /* what DLPack calls `dtype`, once a tensor of it was seen; 0 before */
} Site;

/* Where one thread of the program is: see `context.Place`. */
typedef struct {
    PyObject_HEAD
    PyObject *context, *calls, *run;
    int64_t backward_row, sequence, thread;
    unsigned long thread_id; /* as `threading.get_ident` tells it */
    uint64_t first, last;    /* events between which the call ran whose row is written next, or 0 */
    char busy;
} Place;

/* What is known of a function of torch: see `calls.Call`. */
typedef struct {
    PyObject_HEAD
    int64_t key;
    char ignored, is_plain, gradient, writes, assigns_gradient, views;
} Call;

/* A run of the engine: see `rules.Run`. */
typedef struct {
    PyObject_HEAD
    PyObject *place, *writer, *append, *creating, *frame, *rules, *held, *start, *marks, *timer;
    int64_t opened, began;
    uint64_t event; /* where the rule that runs began on a CUDA device, or 0 */
} Run;

/* Tells the program's frames from those of torch and graphscope: see `sites.Frames`. */
enum { CODES = 64 };

typedef struct {
    PyObject *inside; /* by the address of a code */
    struct {
        PyObject *code; /* a weak reference */
        char inside;
    } codes[CODES]; /* met last */
} Frames;

/* Hold no code any more. */
INSIDE void forget_frames(Frames *frames);

/* The innermost frame of the program; a new reference, NULL where that takes more than a look. */
INSIDE PyFrameObject *program_frame(Frames *frames);

/* Rules that one is tied to, with a number each; one lies in place, as most have no more. */
typedef struct {
    struct Rule *rule;
    int64_t number;
} Tie;

typedef struct {
    Tie first, *more;
    int32_t count, room;
} Ties;

/* How many functions of torch the program has called, as far as a mode of ours is told. */
extern INSIDE int64_t calls_made;

/* What a look at all elements of a tensor has found, for who meets the same memory again when nothing was written: torch
 * counts writes but those through `data` and other libraries, for which a program has to call something. */
typedef struct {
    const void *address; /* NULL: nothing was found */
    int64_t nbytes, floating, version, calls;
    char finite;
    PyObject *record; /* the statistics, where they are taken */
} Stretch;

/* A backward node: see `rules.Rule`. The collector does not look at it: what could be a ring ends with the pass. */
typedef struct Rule {
    PyObject_HEAD
    PyObject *session, *fields, *name, *main, *run, *parts, *known, *others;
    Ties sources, targets;
    int64_t forward, since, row;
    char used, watched, shared;
    Stretch stretch; /* of its cotangent, in this pass */
} Rule;

extern INSIDE PyTypeObject *known_type, *site_type, *rule_type, *run_type, *place_type, *call_type, *handler_type;
extern INSIDE const AppendAPI *appending; /* NULL where rows are appended by Python */

static inline int is_nothing(PyObject *held) { return held == NULL || held == Py_None; }

/* Put an object where another one was. */
static inline void put(PyObject **place, PyObject *object) { Py_XSETREF(*place, Py_NewRef(object)); }

/* A weak reference to a tensor, new. */
INSIDE PyObject *new_reference(PyObject *object);

/* What the log knows of a tensor, new. */
INSIDE Known *new_known(PyTypeObject *type, PyObject *tensor);

/* What it knows, by the address of the tensor. An entry may be of one that is gone. */
typedef struct Table Table;
extern INSIDE PyTypeObject *table_type;
INSIDE Known *known_at(const Table *table, const void *address); /* borrowed, or NULL */
INSIDE int set_known(Table *table, const void *address, Known *known);
INSIDE Py_ssize_t count_known(const Table *table);

/* The head of an `__init__` that takes every part of an object by its name: PARTS(X) are its members. */
#define TAKE_BY_NAME(Type, PARTS)                                                                                      \
    if (PyTuple_GET_SIZE(args) || names == NULL) {                                                                     \
        PyErr_SetString(PyExc_TypeError, #Type " takes everything by name");                                           \
        return -1;                                                                                                     \
    }                                                                                                                  \
    PARTS(TAKE_PART)

#define TAKE_PART(name)                                                                                                \
    {                                                                                                                  \
        PyObject *part = PyDict_GetItemString(names, #name);                                                           \
        if (part == NULL) {                                                                                            \
            PyErr_SetString(PyExc_TypeError, "there is no " #name);                                                    \
            return -1;                                                                                                 \
        }                                                                                                              \
        put(&self->name, part);                                                                                        \
    }

/* What a weak reference is to, borrowed; None where it is gone. */
static inline PyObject *referent(PyObject *reference)
{
#if PY_VERSION_HEX < 0x030D0000
    return PyWeakref_GET_OBJECT(reference);
#else
    PyObject *found = NULL;
    if (PyWeakref_GetRef(reference, &found) <= 0)
        return Py_None;
    Py_DECREF(found); /* it has other holders */
    return found;
#endif
}

/* Whether a weak reference (NULL: none) is to an object. */
static inline int is_reference_to(PyObject *reference, PyObject *object)
{
    return reference != NULL && reference != Py_None && referent(reference) == object;
}

/* What an object answers that is of another class than the one that was asked first. */
INSIDE PyObject *get_by_name(PyObject *object, Slot *slot);

/* An attribute of an object of ours, a new reference. */
static inline PyObject *get(PyObject *object, Slot *slot)
{
    PyObject *found = Py_IS_TYPE(object, slot->owner) ? *(PyObject **)((char *)object + slot->place) : NULL;
    return found != NULL ? Py_NewRef(found) : get_by_name(object, slot);
}

static inline int set(PyObject *object, Slot *slot, PyObject *value)
{
    if (!Py_IS_TYPE(object, slot->owner))
        return PyObject_SetAttr(object, slot->name, value);
    Py_XSETREF(*(PyObject **)((char *)object + slot->place), Py_NewRef(value));
    return 0;
}

/* An attribute that is a number; -1 with an error set where it is none. */
static inline int64_t number(PyObject *object, Slot *slot)
{
    PyObject *found = get(object, slot);
    if (found == NULL)
        return -1;
    int64_t value = PyLong_AsLongLong(found);
    Py_DECREF(found);
    return value;
}

static inline int set_number(PyObject *object, Slot *slot, int64_t value)
{
    PyObject *boxed = PyLong_FromLongLong(value);
    int failed = boxed == NULL || set(object, slot, boxed) < 0;
    Py_XDECREF(boxed);
    return failed ? -1 : 0;
}

/* Whether an attribute of an object of ours is `wanted`; -1 for an error. */
static inline int is(PyObject *object, Slot *slot, PyObject *wanted)
{
    PyObject *held = Py_IS_TYPE(object, slot->owner) ? *(PyObject **)((char *)object + slot->place) : NULL;
    if (held != NULL)
        return held == wanted;
    PyObject *found = get_by_name(object, slot);
    Py_XDECREF(found);
    return found == NULL ? -1 : found == wanted;
}

/* Tell of an error that is the recorder's own, and forget it, so that the program goes on; -1 where it is none. */
INSIDE int give_up(PyObject *told, PyObject *session);

/* Looking at tensors (DLPack 1) ------------------------------------------------------------------------------------ */

/* What is asked of tensors: of torch's own class, whatever a program has put into it or into one of its own. Those from
 * IS_CONJ on are methods. */
enum { VERSION, BASE, GRAD_FN, REQUIRES_GRAD, DTYPE, SHAPE, IS_CPU, IS_NESTED, GRAD, IS_CONJ, IS_NEG, IS_CONTIGUOUS,
       IS_ZEROS, DATA_PTR, STORAGE_OFFSET, STORAGE, QUESTIONS };
INSIDE PyObject *ask(PyObject *tensor, int question);

/* Whether the answer is `wanted`; -1 for an error. */
static inline int is_answer(PyObject *tensor, int question, PyObject *wanted)
{
    PyObject *found = ask(tensor, question);
    Py_XDECREF(found);
    return found == NULL ? -1 : found == wanted;
}

/* Torch's count of the writes into a tensor; -1 with an error set where it has none. */
INSIDE int64_t version_of(PyObject *tensor);

/* Whether a tensor is of one of the classes that answer as torch's own. */
INSIDE int is_ordinary(PyObject *tensor);

typedef struct {
    void *data;
    int32_t device, device_number, axes;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t offset;
} Look;

enum { ON_CPU = 1, FLOATING = 2, BRAIN_FLOATING = 4, COMPLEX = 5 };

/* No storage is so large that a place in it is taken for an address from here on. */
#define HIGH ((uint64_t)1 << 40)

/* Where the first element of a tensor lies; NULL where not all do: its storage was given back, or made smaller. No
 * error is left. */
INSIDE char *first_element(PyObject *tensor, const Look *seen);

/* Whether tensors may reach past the end of their storage: see `resized_storages.py`. */
INSIDE int are_storages_asked(void);

/* Whether a tensor has the elements that lie there: not their conjugates or negatives, nor zeros that lie nowhere. No
 * error is left. */
INSIDE int is_as_it_lies(PyObject *tensor, const Look *seen);

/* Whether a class or a mode puts its functions before torch's (None: a mode); -1 for an error. */
INSIDE int is_overridden(PyObject *tensor);

/* Ask past those functions; NULL for an error. `done_asking` takes what it gives. */
INSIDE PyObject *ask_torch(void);
INSIDE void done_asking(PyObject *guard);

/* Whether the answer of a tensor is `wanted`, asked that way; -1 for an error. */
INSIDE int is_of_torch(PyObject *tensor, int question, PyObject *wanted);

/* See the elements of a torch.Tensor; 0 where they can't be seen, or torch offers no table, with no error set. */
INSIDE int look(PyObject *tensor, Look *seen);

/* Whether a site is for tensors of such a shape and dtype; -1 for an error. */
INSIDE int fits_seen(Site *site, PyObject *tensor, const Look *seen);

/* The value of a row of a site, of a tensor that was looked at: an address, a summary or None, as a new reference. NULL
 * with no error set where that takes more. What is in `gathered` afterwards is to be freed when the row is written. */
INSIDE PyObject *value_of(const Site *site, PyObject *tensor, const Look *seen, void **gathered);

/* Whether the elements lie in one row, in C order; whether they fill one stretch of memory, in whatever order of the axes. */
INSIDE int is_in_one_row(const Look *seen);
INSIDE int is_in_one_stretch(const Look *seen);

/* How the elements of a tensor lie: `size` of them in rows of `row` each, of which one begins `stride` behind the one before
 * it, and each is there so many `times`. */
typedef struct {
    int64_t size, row, stride, times;
} Lying;

/* What is to be promised to a row once it is written: statistics that a kernel takes, or (-1) bytes that are copied. */
typedef struct {
    int kernel, keep;
    uint64_t address;
    Lying lying;
    int64_t nbytes, floating;
    void *stream;
} Ahead;

/* Whether the value of a tensor on a CUDA device (or only whether it is finite) can come later, and what that takes: no
 * error is left. The row is to have the template `awaiting` of the site and None for its value; when it is written, that is
 * promised to it. */
INSIDE int can_promise(const Site *site, PyObject *tensor, const Look *seen, int is_kept, Ahead *ahead);
INSIDE void promise(const Ahead *ahead, int64_t row);

/* What follows is queued as what was last, until `ask_again`: on the same stream, if something can be. */
INSIDE void ask_again(void);

/* Whether what lies on a CUDA device is promised; whether a tensor lies on that one, or on another one. */
INSIDE int promises_go_on(void);
INSIDE int lies_there(PyObject *tensor);
INSIDE int lies_on_another(PyObject *tensor);

/* An event at this place of the stream that this thread uses (0: none); the op of a row ran from one to another; nobody
 * asks it any more. */
INSIDE uint64_t mark_here(void);
INSIDE void took_from(int64_t row, uint64_t first, uint64_t last);
INSIDE void never_mind(uint64_t event);
INSIDE int add_promises(PyObject *module);

/* site.value(tensor): the same of a tensor that was not looked at; NotImplemented where the site is not for it, or where
 * that takes more. */
INSIDE PyObject *site_value(PyObject *site, PyObject *tensor);

/* How many bytes the elements of a tensor come to. */
static inline int64_t bytes_of(const Look *seen)
{
    int64_t count = (seen->bits * (int64_t)seen->lanes + 7) / 8;
    for (int axis = 0; axis < seen->axes; axis++)
        count *= seen->shape[axis];
    return count;
}

static inline uint32_t dtype_of(const Look *seen) { return (uint32_t)seen->code << 16 | (uint32_t)seen->bits << 8 | 1; }

/* Where the elements of a tensor lie that is looked at for what a site keeps of it, with nothing found yet. No address
 * where they lie apart, or are to be read anyway. */
INSIDE Stretch stretch_of(const Site *site, PyObject *tensor, const Look *seen);

/* The row of a node with several slots, whose sites are a tuple; -1 where that takes more, with nothing done. */
INSIDE int64_t append_in_slots(PyObject *append, PyObject *template, PyObject *sites, PyObject *const *tensors,
                               const Moment *moment);

/* Another node is about to run: the last one took until now. */
INSIDE int64_t turn(Run *run);

/* What is asked of leaves: the class of their nodes, the table of known tensors, and `Fields`. */
typedef struct {
    PyObject *node_class, *fields;
    Table *table;
    PyObject *names; /* of nodes that are no leaves, by torch's */
} Leaves;

typedef struct {
    PyObject *node;
    Rule *rule;
} Met;

/* What a walk works on, and whom it has met. */
typedef struct {
    PyObject *run, *session, *make;
    Leaves leaves;
    long long base;
    Met *met;
    Py_ssize_t count, room, *waiting, left; /* those whose successors are still to be looked at */
    Py_ssize_t *places, size;               /* of nodes, by their addresses: 0, or one more than that in `met` */
} Walk;

/* How torch frees a backward node, once it is known; and how we do. */
extern INSIDE destructor freed_by_torch;
INSIDE void free_node(PyObject *node);

/* Let nodes of a class be freed one after another; those that Python made are, by Python. */
static inline void let_free_in_turn(PyTypeObject *node_class)
{
    if (node_class->tp_dealloc == freed_by_torch)
        node_class->tp_dealloc = free_node;
}

/* The rule of a node, new; one of no session where it had none. NULL for an error. */
INSIDE Rule *rule_of(PyObject *node);

/* Let a rule be that of a node, in the place of any that it had; -1 with an error set. */
INSIDE int give_rule(PyObject *node, PyObject *rule);

/* Give the roots of a pass and all behind them their rules; -1 with an error set. */
INSIDE int walk_from(Walk *walk, PyObject *roots);

/* The rule of a node that was met, borrowed, or NULL. */
INSIDE Rule *rule_met(const Walk *walk, PyObject *node);

/* Hold no nodes any more, whose rules are told all. */
INSIDE void leave_nodes(Walk *walk);

/* Hold nothing any more. */
INSIDE void end_walk(Walk *walk);

/* Be part of a pass, or (None) of none any more: then nothing of it is held. */
INSIDE void make_ready(Rule *rule, PyObject *run);

static inline Tie *tie_at(Ties *ties, int32_t place) { return place == 0 ? &ties->first : &ties->more[place - 1]; }

/* Add a rule; -1 with an error set. */
INSIDE int tie(Ties *ties, Rule *rule, int64_t value);

/* A pass is over: a rule that is part of it holds nothing of it any more. */
static inline void settle_rule(Rule *rule, PyObject *run)
{
    if (rule->run == run)
        make_ready(rule, Py_None);
}

/* What a call by address finds in a dict; borrowed, NULL without an error where there is none. */
static inline PyObject *by_address(PyObject *dict, const void *address)
{
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    PyObject *found = key == NULL ? NULL : PyDict_GetItemWithError(dict, key);
    Py_XDECREF(key);
    return found;
}

INSIDE int add_table(PyObject *module);
INSIDE int add_freeing(PyObject *module);
INSIDE int add_tensor_access(PyObject *module);

/* The number that lies in a tensor of one, in memory of the processor; NULL, without an error, of any other. */
INSIDE PyObject *number_in(PyObject *tensor);

/* What the root of a backward pass was multiplied by last, where that is the scale of a GradScaler; else 1. */
INSIDE double scale_of(PyObject *sampling, PyObject *root);

/* Numbers of a `Sampling`: see `step_counts`. */
typedef struct {
    int64_t idle, until, ended, last, others, scaled, is_finite, has_loss;
    double loss;
    int64_t held, since;
    double newest;
} Counts;

/* Training steps that are left out, by the `Sampling` of the recording, and where that has its numbers and the rows of
 * steps that nobody looked at. */
typedef struct {
    Counts *counts;
    char *rows;
    Py_ssize_t room;
    PyObject *sampling, *memory, *passed;
} Steps;

/* Find the numbers of a `Sampling`; -1 with an error set. */
INSIDE int find_steps(PyObject *sampling, Steps *steps);

/* Note the loss that a backward pass begins from (0: it can't be); the end of a step that nobody looks at (0: somebody
 * is to, -1 with an error set). */
INSIDE int note_loss(const Steps *steps, PyObject *roots);
INSIDE int pass_over(const Steps *steps, PyObject *optimizer);
INSIDE int add_passed_steps(PyObject *module);
INSIDE int add_handler(PyObject *module);
INSIDE int add_rules(PyObject *module);
INSIDE int add_walk(PyObject *module);
INSIDE int add_entry(PyObject *module);
INSIDE int add_methods(PyObject *module);
INSIDE int add_op_entry(PyObject *module);
INSIDE int add_slots(PyObject *module);
INSIDE int add_updates(PyObject *module);

#endif
