/* The calls of ops, compiled: what `calls._general` does, for the common case; of one and two inputs without attributes
 * here, of others in `_general.h`.
 *
 * The Python function is the specification. Whatever is not common (other operands, a debugger that waits at nodes, a
 * tensor that the log has not seen, an error of the forward function) is handed to it before anything was done.
 */
#include "_engine.h"

/* What all calls share, given once by `prepare`. */
static struct {
    PyTypeObject *tensor;
    Py_ssize_t array, node, row, wants_grad;
    PyObject *modes;     /* the dictionary of the module whose `disabled` counts the threads without gradients */
    PyObject *thread;    /* the modes of each thread */
    PyObject *moments;   /* an iterator */
    PyObject *op_row;
    PyObject *apply, *plan_for, *note_view; /* functions in Python */
    const AppendAPI *log;
} engine;

static PyObject *word_low, *word_gate, *word_append, *word_disabled, *word_grad_enabled, *word_context,
    *word_backward_row, *word_base, *word_views, *word_note_view, *word_made_without_grad, *word_shape;

/* How one op goes backward for a set of inputs that need a gradient: a `node.Plan`, and what it saves. */
typedef struct {
    PyObject *plan;
    PyObject *recipe; /* for each rule what it saves, as numbers of `node._PLACES`; or None */
    PyObject *save;   /* the function that picks it, where the recipe is None */
    PyObject *wanted; /* the inputs that it is for */
    int alone;
} Way;

enum { BOTH, LEFT, RIGHT, WAYS, MOST_INPUTS = 4, MOST_WAYS = (2 << MOST_INPUTS) - 2 };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *attributes; /* its name, its documentation */
    PyObject *references; /* the weak ones to it */
    PyObject *python;     /* the same in Python */
    PyObject *op, *forward;
    int64_t key;
    int inputs, core_dims;
    char wrapped, view, reduces, differentiable;
    char accumulates; /* whether numbers of half precision are added up in single precision */
    char floating; /* whether integers become floating numbers first */
    char multiplies; /* whether of two matrices it is their product, as `dot` has it */
    Way ways[WAYS]; /* of one input, the first alone */
    PyObject *prepare; /* of a general call: what reads the arguments, and then */
    char residuals, promotes;
    Way general[MOST_WAYS]; /* its ways back, by the number of inputs and by those that need a gradient */
} Call;

/* The dims of an array or number, as a tuple. */
static PyObject *shape_of(PyObject *value)
{
    return PyObject_GetAttr(value, word_shape);
}

/* What a recipe names: the output, an input, or the number of dims of an input. A new reference. */
static PyObject *named(PyObject *place, PyObject *given[3])
{
    long number = PyLong_AsLong(place);
    if (number >= 0)
        return Py_NewRef(given[number]);
    PyObject *input = given[-number];
    return PyLong_FromLong(PyArray_CheckExact(input) ? PyArray_NDIM((PyArrayObject *)input) : 0);
}

/* What the rules of a plan need of a call. */
static PyObject *saved_by(Way *way, PyObject *given[3], int count)
{
    if (way->recipe == Py_None)
        return PyObject_Vectorcall(way->save, given, count + 1, NULL);
    Py_ssize_t rules = PyTuple_GET_SIZE(way->recipe);
    PyObject *all = way->alone ? NULL : PyTuple_New(rules);
    if (all == NULL && !way->alone)
        return NULL;
    for (Py_ssize_t rule = 0; rule < rules; rule++) {
        PyObject *places = PyTuple_GET_ITEM(way->recipe, rule), *part;
        Py_ssize_t size = PyTuple_GET_SIZE(places);
        if (way->alone && size == 0)
            return Py_NewRef(Py_None);
        if (way->alone && size == 1)
            return named(PyTuple_GET_ITEM(places, 0), given);
        part = PyTuple_New(size);
        if (part == NULL) {
            Py_XDECREF(all);
            return NULL;
        }
        for (Py_ssize_t place = 0; place < size; place++)
            PyTuple_SET_ITEM(part, place, named(PyTuple_GET_ITEM(places, place), given));
        if (way->alone)
            return part;
        PyTuple_SET_ITEM(all, rule, part);
    }
    return all;
}

/* Where the gradient of a tensor goes: the record of its op, itself, or nowhere (NULL); borrowed. */
static inline PyObject *target_of(PyObject *tensor)
{
    PyObject *node = AT(tensor, engine.node);
    return node != Py_None ? node : AT(tensor, engine.wants_grad) == Py_True ? tensor : NULL;
}

/* Whether this thread is to remember the way back; -1 where only Python can tell. */
static inline int remembers(void)
{
    PyObject *disabled = PyDict_GetItemWithError(engine.modes, word_disabled);
    if (disabled == NULL || !PyLong_Check(disabled))
        return -1;
    if (PyLong_AsLong(disabled) == 0)
        return 1;
    PyObject *enabled = PyObject_GetAttr(engine.thread, word_grad_enabled);
    if (enabled == NULL) {
        PyErr_Clear();
        return -1;
    }
    Py_DECREF(enabled);
    return enabled == Py_True;
}

/* What a recorded call needs to know of its log and its thread. All are references of their own. */
typedef struct {
    PyObject *writer, *appender, *context;
    int64_t start, backward, rows[2];
} Recorded;

static void release(Recorded *to)
{
    Py_CLEAR(to->writer);
    Py_CLEAR(to->appender);
    Py_CLEAR(to->context);
}

static int64_t number_at(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(object, name);
    int64_t number = value == NULL ? -1 : PyLong_AsLongLong(value);
    Py_XDECREF(value);
    return number;
}

/* 1: go on, recorded or not; 0: Python has to. */
static int begin(Recorded *to, PyObject **tensors, int count)
{
    if (!RECORDS(engine.log->active))
        return 1;
    PyObject *gate, *writer = to->writer = Py_NewRef(engine.log->active);
    gate = PyObject_GetAttr(writer, word_gate);
    Py_XDECREF(gate); /* the writer holds it */
    if (gate != Py_None)
        goto python;
    int64_t low = number_at(writer, word_low);
    for (int place = 0; place < count; place++) {
        to->rows[place] = PyLong_AsLongLong(AT(tensors[place], engine.row));
        if (to->rows[place] < low)
            goto python;
    }
    to->appender = PyObject_GetAttr(writer, word_append);
    if (to->appender == NULL || !Py_IS_TYPE(to->appender, engine.log->appender))
        goto python;
    to->context = PyObject_GetAttr(engine.thread, word_context);
    if (to->context == NULL)
        goto python;
    to->backward = number_at(to->context, word_backward_row);
    if (PyErr_Occurred())
        goto python;
    to->start = engine.log->now();
    return 1;
python:
    PyErr_Clear();
    release(to);
    return 0;
}

/* The row of what ran, and its call site (a new reference); -2 with an error set. */
static int64_t row_of(Call *self, Recorded *to, PyObject *result, PyObject *constant, int count, PyObject **site)
{
    PyFrameObject *frame = PyEval_GetFrame();
    frame = self->wrapped && frame != NULL ? PyFrame_GetBack(frame) : (PyFrameObject *)Py_XNewRef((PyObject *)frame);
    if (frame == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "an op was called from no Python frame");
        return -2;
    }
    int64_t row = engine.log->op(to->appender, frame, self->key, result, constant, to->context, to->start, to->backward,
                                 to->rows, count, site);
    if (row == -1) {
        PyObject *answer =
            count == 2 ? PyObject_CallFunction(engine.op_row, "OOOOOLLL", to->writer, frame, self->op, result, constant,
                                               (long long)to->start, (long long)to->rows[0], (long long)to->rows[1])
                       : PyObject_CallFunction(engine.op_row, "OOOOOLL", to->writer, frame, self->op, result, constant,
                                               (long long)to->start, (long long)to->rows[0]);
        row = -2;
        if (answer != NULL && PyTuple_Check(answer) && PyTuple_GET_SIZE(answer) == 2) {
            *site = Py_NewRef(PyTuple_GET_ITEM(answer, 0));
            row = PyLong_AsLongLong(PyTuple_GET_ITEM(answer, 1));
        }
        Py_XDECREF(answer);
    }
    Py_DECREF(frame);
    return row;
}

/* A tensor of a result, which it takes over; without a way back. */
static PyObject *tensor_of(PyObject *result, PyObject *row)
{
    PyObject *out = engine.tensor->tp_alloc(engine.tensor, 0);
    if (out == NULL) {
        Py_DECREF(result);
        return NULL;
    }
    AT(out, engine.array) = result;
    AT(out, engine.node) = Py_NewRef(Py_None);
    AT(out, engine.wants_grad) = Py_NewRef(Py_False);
    AT(out, engine.row) = Py_NewRef(row);
    return out;
}

/* Remember the way back. `goal`, `saved` and `shapes` are taken over; NULL stands for an error. */
static int remember(PyObject *out, Way *way, PyObject *goal, PyObject *saved, PyObject *shapes, PyObject *row,
                    PyObject *site)
{
    PyObject *record = PyList_New(PLACES), *moment = Py_TYPE(engine.moments)->tp_iternext(engine.moments);
    if (record == NULL || moment == NULL || goal == NULL || saved == NULL || shapes == NULL) {
        Py_XDECREF(record);
        Py_XDECREF(moment);
        Py_XDECREF(goal);
        Py_XDECREF(saved);
        Py_XDECREF(shapes);
        return -1;
    }
    PyList_SET_ITEM(record, PLAN, Py_NewRef(way->plan));
    PyList_SET_ITEM(record, TARGETS, goal);
    PyList_SET_ITEM(record, SAVED, saved);
    PyList_SET_ITEM(record, MOMENT, moment);
    PyList_SET_ITEM(record, SHAPES, shapes);
    PyList_SET_ITEM(record, ATTRS, Py_NewRef(Py_None));
    PyList_SET_ITEM(record, ROW, Py_NewRef(row));
    PyList_SET_ITEM(record, SITE, Py_NewRef(site));
    PyList_SET_ITEM(record, HOOKS, Py_NewRef(Py_None));
    PyList_SET_ITEM(record, RETAINED, Py_NewRef(Py_None));
    Py_SETREF(AT(out, engine.node), record);
    return 0;
}

/* Join a view to its base: see `Tensor.note_view`. */
static int note_view(PyObject *out, PyObject *source, int remembered)
{
    PyObject *base = PyObject_GetAttr(source, word_base), *views, *reference, *answer;
    if (base == NULL)
        return -1;
    if (base == Py_None)
        Py_SETREF(base, Py_NewRef(source));
    int failed = PyObject_SetAttr(out, word_base, base);
    views = failed ? NULL : PyObject_GetAttr(base, word_views);
    if (views != NULL && PyList_CheckExact(views) &&
        (PyList_GET_SIZE(views) < 64 || (PyList_GET_SIZE(views) & (PyList_GET_SIZE(views) - 1)))) {
        reference = PyWeakref_NewRef(out, NULL);
        failed = reference == NULL || PyList_Append(views, reference) < 0;
        Py_XDECREF(reference);
    }
    else if (views != NULL) {
        answer = PyObject_CallMethodOneArg(base, word_note_view, out);
        failed = answer == NULL;
        Py_XDECREF(answer);
    }
    else
        failed = -1;
    if (!failed && !remembered)
        failed = PyObject_SetAttr(out, word_made_without_grad, Py_True);
    Py_XDECREF(views);
    Py_DECREF(base);
    return failed ? -1 : 0;
}

/* Whether the forward function of Python is to be run, which computes in another precision than that of what it gets. */
static inline int is_widened(Call *self, PyObject *value)
{
    if (!self->accumulates)
        return 0;
    if (!PyArray_CheckExact(value))
        return Py_IS_TYPE(value, &PyHalfArrType_Type);
    char kind = PyArray_DESCR((PyArrayObject *)value)->kind;
    return PyArray_ITEMSIZE((PyArrayObject *)value) == 2 && (kind == 'f' || kind == 'V'); /* V: bfloat16 */
}

static inline PyObject *in_python(Call *self, PyObject *const *args, size_t flags, PyObject *names)
{
    return PyObject_Vectorcall(self->python, args, flags, names);
}

/* After an error of the forward function: one that Python explains is forgotten, as Python will meet it again. */
static inline int to_be_explained(void)
{
    if ((!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_TypeError) &&
         !PyErr_ExceptionMatches(PyExc_OverflowError)) ||
        is_interrupted())
        return 0;
    PyErr_Clear();
    return 1;
}

static PyObject *call_unary(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Call *self = (Call *)object;
    if (PyVectorcall_NARGS(flags) != 1 || (names != NULL && PyTuple_GET_SIZE(names)))
        return in_python(self, args, flags, names);
    PyObject *x = args[0];
    if (!Py_IS_TYPE(x, engine.tensor)) {
        if (is_floating_array(x) && !is_widened(self, x))
            return PyObject_CallOneArg(self->forward, x);
        return in_python(self, args, flags, names);
    }
    PyObject *a = AT(x, engine.array);
    int remembered = remembers();
    if (a == NULL || remembered < 0 || is_widened(self, a) ||
        !(is_floating_array(a) || (!self->view && is_floating_scalar(a))))
        return in_python(self, args, flags, names);
    Recorded to = {NULL};
    Py_INCREF(a);
    if (!begin(&to, &x, 1)) {
        Py_DECREF(a);
        return in_python(self, args, flags, names);
    }
    PyObject *result = PyObject_CallOneArg(self->forward, a);
    if (result == NULL) {
        Py_DECREF(a);
        release(&to);
        return to_be_explained() ? in_python(self, args, flags, names) : NULL;
    }
    PyObject *site = NULL, *out = NULL, *row;
    int64_t number = to.writer == NULL ? -1 : row_of(self, &to, result, Py_None, 1, &site);
    row = number == -2 ? NULL : PyLong_FromLongLong(number);
    release(&to);
    if (row == NULL) {
        Py_DECREF(result);
        goto done;
    }
    out = tensor_of(result, row);
    if (out != NULL && self->view && note_view(out, x, remembered) < 0)
        Py_CLEAR(out);
    PyObject *target = target_of(x);
    if (out == NULL || target == NULL || !self->differentiable || !remembered)
        goto done;
    Way *way = self->ways;
    PyObject *given[3] = {AT(out, engine.array), a, NULL};
    PyObject *goal = way->alone ? Py_NewRef(target) : PyTuple_Pack(1, target);
    PyObject *shapes = self->reduces ? shape_of(a) : Py_NewRef(Py_None);
    if (self->reduces && shapes != NULL)
        Py_SETREF(shapes, PyTuple_Pack(1, shapes));
    if (remember(out, way, goal, saved_by(way, given, 1), shapes, row, site == NULL ? Py_None : site) < 0)
        Py_CLEAR(out);
done:
    Py_DECREF(a);
    Py_XDECREF(row);
    Py_XDECREF(site);
    return out;
}

static inline int are_matrices(PyObject *a, PyObject *b)
{
    return is_floating_array(a) && PyArray_CheckExact(b) && PyArray_NDIM((PyArrayObject *)a) == 2 &&
           PyArray_NDIM((PyArrayObject *)b) == 2;
}

static PyObject *call_binary(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Call *self = (Call *)object;
    if (PyVectorcall_NARGS(flags) != 2 || (names != NULL && PyTuple_GET_SIZE(names)))
        return in_python(self, args, flags, names);
    PyObject *x = args[0], *y = args[1], *operands[3] = {NULL};
    if (!Py_IS_TYPE(x, engine.tensor)) {
        if (PyArray_CheckExact(x) && (PyArray_CheckExact(y) || PyFloat_CheckExact(y)) && !is_widened(self, x))
            return PyObject_Vectorcall(self->forward, args, 2, NULL);
        return in_python(self, args, flags, names);
    }
    PyObject *a = AT(x, engine.array), *b, *constant = Py_None;
    int remembered = remembers(), shapes_differ = 0, count = 1;
    if (a == NULL || remembered < 0 || is_widened(self, a))
        return in_python(self, args, flags, names);
    if (PyFloat_CheckExact(y) || PyLong_CheckExact(y)) {
        if (!is_floating_array(a) && !is_floating_scalar(a))
            return in_python(self, args, flags, names);
        b = constant = y;
    }
    else if (Py_IS_TYPE(y, engine.tensor)) {
        count = 2;
        b = AT(y, engine.array);
        if (b == NULL || Py_TYPE(a) != Py_TYPE(b) ||
            (self->floating && !is_floating_array(a) && !is_floating_scalar(a)))
            return in_python(self, args, flags, names);
        if (PyArray_CheckExact(a)) {
            PyArrayObject *one = (PyArrayObject *)a, *other = (PyArrayObject *)b;
            if (PyArray_DESCR(one) != PyArray_DESCR(other))
                return in_python(self, args, flags, names);
            if (PyArray_NDIM(one) > self->core_dims || PyArray_NDIM(other) > self->core_dims)
                shapes_differ = PyArray_NDIM(one) != PyArray_NDIM(other) ||
                                !PyArray_CompareLists(PyArray_DIMS(one), PyArray_DIMS(other), PyArray_NDIM(one));
        }
    }
    else
        return in_python(self, args, flags, names);
    Recorded to = {NULL};
    Py_INCREF(a);
    Py_INCREF(b);
    if (!begin(&to, (PyObject *[]){x, y}, count)) {
        Py_DECREF(a);
        Py_DECREF(b);
        return in_python(self, args, flags, names);
    }
    operands[1] = a;
    operands[2] = b;
    PyObject *result = self->multiplies && are_matrices(a, b)
                           ? PyArray_MatrixProduct(a, b)
                           : PyObject_Vectorcall(self->forward, operands + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    if (result == NULL) {
        Py_DECREF(a);
        Py_DECREF(b);
        release(&to);
        return to_be_explained() ? in_python(self, args, flags, names) : NULL;
    }
    PyObject *site = NULL, *out = NULL, *row;
    int64_t number = to.writer == NULL ? -1 : row_of(self, &to, result, constant, count, &site);
    row = number == -2 ? NULL : PyLong_FromLongLong(number);
    release(&to);
    if (row == NULL) {
        Py_DECREF(result);
        goto done;
    }
    out = tensor_of(result, row);
    if (out == NULL || !self->differentiable || !remembered)
        goto done;
    PyObject *target = target_of(x), *other = count == 2 ? target_of(y) : NULL;
    if (target == NULL && other == NULL)
        goto done;
    Way *way = &self->ways[other == NULL ? LEFT : target == NULL ? RIGHT : BOTH];
    PyObject *goal, *shapes = Py_NewRef(Py_None), *first, *second;
    if (target != NULL && other != NULL)
        goal = PyTuple_Pack(2, target, other);
    else if (way->alone)
        goal = Py_NewRef(target != NULL ? target : other);
    else
        goal = PyTuple_Pack(1, target != NULL ? target : other);
    if (shapes_differ) {
        first = other != NULL && target == NULL ? shape_of(b) : shape_of(a);
        second = target != NULL && other != NULL ? shape_of(b) : NULL;
        Py_SETREF(shapes, first == NULL ? NULL : PyTuple_Pack(second == NULL ? 1 : 2, first, second));
        Py_XDECREF(first);
        Py_XDECREF(second);
    }
    operands[0] = AT(out, engine.array);
    if (remember(out, way, goal, saved_by(way, operands, 2), shapes, row, site == NULL ? Py_None : site) < 0)
        Py_CLEAR(out);
done:
    Py_DECREF(a);
    Py_DECREF(b);
    Py_XDECREF(row);
    Py_XDECREF(site);
    return out;
}

/* All ways of a call, one after another. */
static inline Way *way_at(Call *self, int place)
{
    return place < WAYS ? &self->ways[place] : &self->general[place - WAYS];
}

static int read_way(Way *way, PyObject *plan)
{
    PyObject *alone = PyObject_GetAttrString(plan, "alone");
    way->plan = Py_NewRef(plan);
    way->recipe = PyObject_GetAttrString(plan, "recipe");
    way->save = PyObject_GetAttrString(plan, "save");
    way->wanted = PyObject_GetAttrString(plan, "wanted");
    way->alone = alone == Py_True;
    Py_XDECREF(alone);
    return alone == NULL || way->recipe == NULL || way->save == NULL || way->wanted == NULL ? -1 : 0;
}

#include "_general.h"

static int flag_of(PyObject *op, const char *name)
{
    PyObject *value = PyObject_GetAttrString(op, name);
    int truth = value == NULL ? -1 : PyObject_IsTrue(value);
    Py_XDECREF(value);
    return truth;
}

/* Call(python, op, forward, plans): the call of an op whose Python form is `python`; in the place of plans may stand
 * what reads the arguments of a general call. */
static int Call_init(Call *self, PyObject *args, PyObject *names)
{
    PyObject *python, *op, *forward, *plans, *key, *core_dims;
    if (!PyArg_ParseTuple(args, "OOOO", &python, &op, &forward, &plans))
        return -1;
    if (engine.tensor == NULL || self->python != NULL) {
        PyErr_SetString(PyExc_RuntimeError, engine.tensor == NULL ? "prepare() comes first" : "a call is made once");
        return -1;
    }
    Py_ssize_t count = PyTuple_Check(plans) ? PyTuple_GET_SIZE(plans) : 0;
    self->inputs = count == 1 ? 1 : 2;
    self->python = Py_NewRef(python);
    self->op = Py_NewRef(op);
    self->forward = Py_NewRef(forward);
    key = PyObject_GetAttrString(op, "key");
    core_dims = PyObject_GetAttrString(op, "core_dims");
    if (key != NULL && core_dims != NULL) {
        self->key = PyLong_AsLongLong(key);
        self->core_dims = (int)PyLong_AsLong(core_dims);
    }
    Py_XDECREF(key);
    Py_XDECREF(core_dims);
    self->wrapped = (char)flag_of(op, "wrapped");
    self->view = (char)flag_of(op, "view");
    self->reduces = (char)flag_of(op, "reduces");
    self->multiplies = (char)flag_of(op, "multiplies");
    self->accumulates = (char)flag_of(op, "accumulates");
    self->floating = (char)flag_of(op, "floating");
    self->residuals = (char)flag_of(op, "residuals");
    self->promotes = (char)flag_of(op, "promotes");
    if (!PyTuple_Check(plans)) {
        self->prepare = Py_NewRef(plans);
        self->vectorcall = call_general;
        return PyErr_Occurred() ? -1 : 0;
    }
    for (Py_ssize_t place = 0; place < count && place < WAYS; place++)
        if (read_way(&self->ways[place], PyTuple_GET_ITEM(plans, place)) < 0)
            return -1;
    PyObject *rules = PyObject_GetAttrString(self->ways[0].plan, "rules");
    self->differentiable = rules != NULL && PyObject_IsTrue(rules) == 1;
    Py_XDECREF(rules);
    self->vectorcall = self->inputs == 1 ? call_unary : call_binary;
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *Call_get(PyObject *self, PyObject *instance, PyObject *owner)
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static int Call_traverse(Call *self, visitproc visit, void *arg)
{
    Py_VISIT(self->attributes);
    Py_VISIT(self->python);
    Py_VISIT(self->op);
    Py_VISIT(self->forward);
    Py_VISIT(self->prepare);
    for (int place = 0; place < WAYS + MOST_WAYS; place++) {
        Way *way = way_at(self, place);
        Py_VISIT(way->plan);
        Py_VISIT(way->recipe);
        Py_VISIT(way->save);
        Py_VISIT(way->wanted);
    }
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int Call_clear(Call *self)
{
    Py_CLEAR(self->attributes);
    Py_CLEAR(self->python);
    Py_CLEAR(self->op);
    Py_CLEAR(self->forward);
    Py_CLEAR(self->prepare);
    for (int place = 0; place < WAYS + MOST_WAYS; place++) {
        Way *way = way_at(self, place);
        Py_CLEAR(way->plan);
        Py_CLEAR(way->recipe);
        Py_CLEAR(way->save);
        Py_CLEAR(way->wanted);
    }
    return 0;
}

static void Call_dealloc(Call *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self->references != NULL)
        PyObject_ClearWeakRefs((PyObject *)self);
    Call_clear(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyObject *Call_repr(Call *self)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)self, "__name__");
    PyObject *text = name == NULL ? NULL : PyUnicode_FromFormat("<function %U of graphscope>", name);
    Py_XDECREF(name);
    return text;
}

/* Pickled and copied by its name, as a function is. */
static PyObject *Call_reduce(PyObject *self, PyObject *none)
{
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyMethodDef Call_methods[] = {
    {"__reduce__", Call_reduce, METH_NOARGS, "The name by which it is found in its module."}, {NULL}};

static PyMemberDef Call_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Call, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Call, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Call, references), READONLY, NULL},
    {NULL}};

static PyGetSetDef Call_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL}, {NULL}};

static PyType_Slot Call_slots[] = {
    {Py_tp_doc, "The call of an op."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, Call_init},
    {Py_tp_dealloc, Call_dealloc},
    {Py_tp_traverse, Call_traverse},
    {Py_tp_clear, Call_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, Call_get},
    {Py_tp_repr, Call_repr},
    {Py_tp_members, Call_members},
    {Py_tp_methods, Call_methods},
    {Py_tp_getset, Call_getset},
    {0, NULL}};

static PyType_Spec Call_spec = {
    "graphscope.engine.core._calls.Call", sizeof(Call), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, Call_slots};

/* prepare(Tensor, modes, thread, moments, op_row, apply, plan_for, note_view): what all calls share. */
static PyObject *prepare(PyObject *module, PyObject *args)
{
    PyObject *tensor, *modes, *thread, *moments, *op_row, *apply, *plan_for, *note_view;
    if (!PyArg_ParseTuple(args, "O!O!OOOOOO", &PyType_Type, &tensor, &PyModule_Type, &modes, &thread, &moments, &op_row,
                          &apply, &plan_for, &note_view))
        return NULL;
    PyTypeObject *type = (PyTypeObject *)tensor;
    engine.array = slot_offset(type, "array");
    engine.node = slot_offset(type, "node");
    engine.row = slot_offset(type, "row");
    engine.wants_grad = slot_offset(type, "wants_grad");
    if (PyErr_Occurred())
        return NULL;
    engine.log = append_api();
    if (engine.log == NULL) {
        PyErr_SetString(PyExc_ImportError, "calls are compiled only beside a compiled appender");
        return NULL;
    }
    Py_XSETREF(engine.tensor, (PyTypeObject *)Py_NewRef(tensor));
    Py_XSETREF(engine.modes, Py_NewRef(PyModule_GetDict(modes)));
    Py_XSETREF(engine.thread, Py_NewRef(thread));
    Py_XSETREF(engine.moments, Py_NewRef(moments));
    Py_XSETREF(engine.op_row, Py_NewRef(op_row));
    Py_XSETREF(engine.apply, Py_NewRef(apply));
    Py_XSETREF(engine.plan_for, Py_NewRef(plan_for));
    Py_XSETREF(engine.note_view, Py_NewRef(note_view));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {{"prepare", prepare, METH_VARARGS, "Give what all calls share."}, {NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_calls", "The calls of ops, compiled.", -1, functions};

PyMODINIT_FUNC PyInit__calls(void)
{
    import_array();
    struct {
        PyObject **word;
        const char *text;
    } words[] = {
        {&word_low, "low"},
        {&word_gate, "gate"},         {&word_append, "append"},
        {&word_disabled, "disabled"}, {&word_grad_enabled, "grad_enabled"},
        {&word_context, "context"},   {&word_backward_row, "backward_row"},
        {&word_base, "base"},         {&word_views, "views"},
        {&word_shape, "shape"},       {&word_note_view, "note_view"},
        {&word_made_without_grad, "made_without_grad"},
    };
    for (size_t place = 0; place < Py_ARRAY_LENGTH(words); place++)
        if ((*words[place].word = PyUnicode_InternFromString(words[place].text)) == NULL)
            return NULL;
    PyObject *module = PyModule_Create(&module_definition);
    if (module == NULL)
        return NULL;
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&Call_spec);
    if (type == NULL || PyModule_AddType(module, type) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
