/* What `_append` offers to other compiled parts: the same that it offers to Python, without making numbers objects. */
#ifndef GRAPHSCOPE_APPEND_H
#define GRAPHSCOPE_APPEND_H

#include <Python.h>
#include <stdint.h>

#include "_layout.h"

#define GRAPHSCOPE_APPEND "graphscope.eventlog._append.API"

/* What a row says beside its template and its value. */
typedef struct {
    int64_t time, duration, forward;
    const int64_t *inputs; /* rows, with their slots */
    int count;
    int64_t tensor;  /* the row of its first version, or -1: it is that itself */
    int64_t version; /* 0: the template's */
    char *finite;    /* whether the elements are known to be finite; told where they are looked at. NULL: nobody asks */
} Moment;

/* Nodes with more slots than this are left to Python. */
enum { MOST_SLOTS = 256 };

/* One slot of a node that has several: the template of a row of such a value, and its elements (NULL: none are read). */
typedef struct {
    PyObject *template;
    const void *data;
} Slotted;

typedef struct {
    PyTypeObject *appender;

    /* The active log, or None: as `record.writer`, for those that ask at each op. Borrowed. */
    PyObject *active;

    /* The clock of `time.perf_counter_ns`. */
    int64_t (*now)(void);

    /* The row of an op that has run from `start` until now, at a call site that is known; -1 when the site or the row
     * is not of the common kind, and -2 with an error set. `site` is a new reference. */
    int64_t (*op)(PyObject *appender, PyFrameObject *frame, int64_t key, PyObject *result, PyObject *constant,
                  PyObject *context, int64_t start, int64_t backward, const int64_t *inputs, int count, PyObject **site);

    /* A row of any kind with its value; -2 with an error set. */
    int64_t (*append)(PyObject *appender, PyObject *template, PyObject *value, const Moment *moment);

    /* The row of a node with several slots; -1 where it is not of the common kind, with nothing reserved. */
    int64_t (*slots)(PyObject *appender, PyObject *template, const Slotted *slots, int count, const Moment *moment);

    /* The duration of a row that was appended before its work was done; the clock's reading. */
    int64_t (*finish)(PyObject *appender, int64_t row, int64_t start);
} AppendAPI;

#endif
