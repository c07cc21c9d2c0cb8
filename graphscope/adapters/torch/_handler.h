/* What the files share that take the calls of a program: the arguments of a call, and who takes it. */
#ifndef GRAPHSCOPE_HANDLER_H
#define GRAPHSCOPE_HANDLER_H

#include "_adapter.h"

/* The arguments of a call, sorted. */
enum { MOST_TRIED = 32, MOST_GIVEN = 32, MOST_VARYING = 8, MOST_GRADIENTS = 4096 };

typedef struct {
    int64_t rows[MOST_GIVEN + MOST_VARYING]; /* and behind them the numbers that vary */
    int count, varying;
    int64_t row; /* of the result, once it is written */
    PyObject *constants; /* a list: each behind its place, or its name; NULL: there are none */
} Given;

/* What torch calls in the place of its functions. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    int64_t room; /* so many entries of the table are let stand before those of dead tensors are taken out */
    PyObject *prepare, *finish, *failed, *view, *note, *purge;
    PyObject *session, *place, *writer, *append;
    PyObject *calls, *kinds, *inside, *gradients, *assigned; /* dicts */
    PyObject *table;
    PyObject *preparing;                      /* names of functions that torch fills modules in */
    Frames frames;
    PyObject *tensor_type, *group_class, *more_class, *tensor_kind, *plain_kind, *grad_enabled, *sequence_number, *follows;
    PyObject *give_up, *intended, *handing, *others;
} Handler;

/* The call site of a frame, a new reference; NULL where none is known. */
INSIDE Site *site_at(Handler *self, PyObject *call, PyFrameObject *frame);

/* The next variant of a call site, a new reference in the place of the one given, of which so many were tried; NULL where
 * there is none. */
INSIDE Site *next_site(Site *site, int tried);

/* Whether constants stand where those of a call site stood, and are the same but for numbers that vary there. */
INSIDE int has_constants(const Site *site, PyObject *known, Given *given);

/* Let the backward node of a result, if it has one, say which row made it. */
INSIDE int tell_node(Handler *self, PyObject *node, int64_t row, const Site *site);

/* Note that a new tensor is the value of a row, how often torch says that it was written, and whose memory it shares. */
INSIDE int note_result(Handler *self, PyObject *result, PyObject *args, int64_t row, int64_t counter);

/* The row of a call that made several tensors, one in each slot, and everything that goes with it: see `results.made`. 1
 * when done, 0 when it is not of the common kind (nothing has happened then), -1 for an error. */
INSIDE int record_several(Handler *self, PyObject *call, PyFrameObject *frame, PyObject *results, PyObject *args,
                          Given *given, int64_t start, int64_t end);

#endif
