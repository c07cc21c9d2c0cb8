/* The backward pass, compiled: what the loop of `autograd.run_backward` does, for the nodes of the common kind.
 *
 * The Python loop is the specification, and both work on the same queue: `sweep` takes nodes while they are common and
 * hands the first other one back (with hooks, freed, retained, of complex numbers, while a debugger waits at nodes, and
 * of several outputs while a log is written).
 */
#include "_engine.h"

/* Places in an arrival: see `cotangents.py`. */
enum { NODE, VALUE, ORIGIN, PARTS, OWNED, ARRIVAL };


/* What all passes share, given once by `prepare`. */
static struct {
    Py_ssize_t alone, bare, single, pair, gradients, freed, special, custom, rules, index, site_single;
    Py_ssize_t row, fresh, more, templates_writer, templates_dtype, templates_shape;
    PyTypeObject *plan, *slot_plan, *site, *templates;
    PyObject *writes; /* the dictionary of the module whose `last` is the moment of the newest write */
    PyObject *freed_mark;
    PyObject *check_untouched, *unbroadcast, *cotangent, *add, *arrive_at_leaf, *push, *pop, *specially;
    const AppendAPI *log;
} engine;

static PyObject *word_last, *word_gate, *word_append, *word_base, *word_grad, *word_templates, *word_targets;

/* A pass on its way. What the caller gave is borrowed; the appender and the node whose turn it is are its own. */
typedef struct {
    PyObject *due, *heap, *leaves, *writer, *appender, *frame, *accumulate;
    int64_t base, now;
    int keeps_graph;
    PyObject *record, *gradient, *parts; /* record: None at the end */
    int64_t origin;
} Pass;

static PyObject *number(int64_t value)
{
    return PyLong_FromLongLong(value);
}

/* Add a contribution to what has arrived: see `cotangents.add_up`. */
static int add_up(PyObject *arrival, PyObject *value)
{
    PyObject *total = PyList_GET_ITEM(arrival, VALUE), *sum;
    if (PyList_GET_ITEM(arrival, OWNED) == Py_True && PyArray_CheckExact(total))
        sum = PyNumber_InPlaceAdd(total, value);
    else
        sum = PyNumber_Add(total, value);
    if (sum == NULL)
        return -1;
    PyObject *owned = PyArray_CheckExact(sum) ? Py_True : Py_False;
    return PyList_SetItem(arrival, VALUE, sum) < 0 || PyList_SetItem(arrival, OWNED, Py_NewRef(owned)) < 0 ? -1 : 0;
}

/* [node, value, origin, None, False] */
static PyObject *arrival_of(PyObject *node, PyObject *value, int64_t origin)
{
    PyObject *arrival = PyList_New(ARRIVAL), *from = number(origin);
    if (arrival == NULL || from == NULL) {
        Py_XDECREF(arrival);
        Py_XDECREF(from);
        return NULL;
    }
    PyList_SET_ITEM(arrival, NODE, Py_NewRef(node));
    PyList_SET_ITEM(arrival, VALUE, Py_NewRef(value));
    PyList_SET_ITEM(arrival, ORIGIN, from);
    PyList_SET_ITEM(arrival, PARTS, Py_NewRef(Py_None));
    PyList_SET_ITEM(arrival, OWNED, Py_NewRef(Py_False));
    return arrival;
}

/* A gradient for another node: the node waits for its turn. */
static int arrive_at_node(Pass *pass, PyObject *node, PyObject *value, int64_t origin)
{
    PyObject *moment = PyList_GET_ITEM(node, MOMENT), *answer = NULL, *from;
    PyObject *other = PyDict_GetItemWithError(pass->due, moment);
    if (other != NULL) {
        if (!RECORDS(pass->writer))
            return add_up(other, value);
        from = number(origin);
        if (from != NULL)
            answer = PyObject_CallFunctionObjArgs(engine.add, other, value, pass->writer, from, NULL);
        Py_XDECREF(from);
    }
    else if (!PyErr_Occurred()) {
        PyObject *arrival = arrival_of(node, value, origin), *turn = number(-PyLong_AsLongLong(moment));
        if (arrival != NULL && turn != NULL && PyDict_SetItem(pass->due, moment, arrival) == 0)
            answer = PyObject_CallFunctionObjArgs(engine.push, pass->heap, turn, NULL);
        Py_XDECREF(arrival);
        Py_XDECREF(turn);
    }
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

/* The row of a contribution to a leaf of which the log knows all that it needs; -1 where it does not, -2 for an error.
 * See `backward_rows.contribution`. */
static int64_t contribution(Pass *pass, PyObject *leaf, PyObject *value, int64_t origin, int first)
{
    if (origin < 0 || !PyArray_CheckExact(value))
        return -1;
    PyObject *templates = PyObject_GetAttr(leaf, word_templates), *grad = NULL;
    int64_t row = templates == NULL ? -2 : -1, from = PyLong_AsLongLong(AT(leaf, engine.row));
    if (templates == NULL || !Py_IS_TYPE(templates, engine.templates) || from < pass->base ||
        AT(templates, engine.templates_writer) != pass->writer ||
        AT(templates, engine.templates_dtype) != (PyObject *)PyArray_DESCR((PyArrayObject *)value) ||
        !has_shape((PyArrayObject *)value, AT(templates, engine.templates_shape)))
        goto done;
    if (first && (grad = PyObject_GetAttr(leaf, word_grad)) == NULL) {
        row = -2;
        goto done;
    }
    PyObject *template = AT(templates, first && grad == Py_None ? engine.fresh : engine.more);
    if (template != Py_None)
        row = engine.log->append(pass->appender, template, value, &(Moment){pass->now, 0, from, &origin, 1, -1, 0});
done:
    Py_XDECREF(grad);
    Py_XDECREF(templates);
    return row;
}

/* A gradient for a leaf: see `autograd._arrive_at_leaf`. */
static int arrive_at_leaf(Pass *pass, PyObject *leaf, PyObject *value, int shared, int64_t origin)
{
    PyObject *key = PyLong_FromVoidPtr(leaf), *arrival;
    if (key == NULL)
        return -1;
    PyObject *known = PyDict_GetItemWithError(pass->leaves, key);
    int64_t row = -1;
    int failed = known == NULL && PyErr_Occurred();
    if (!failed && RECORDS(pass->writer) && pass->accumulate == Py_True) {
        row = contribution(pass, leaf, value, origin, known == NULL);
        if (row == -1) { /* Python tells the log, and does the rest */
            PyObject *answer = PyObject_CallFunction(engine.arrive_at_leaf, "OOOOOLOL", pass->leaves, leaf, value,
                                                     shared ? Py_True : Py_False, pass->writer, (long long)origin,
                                                     pass->accumulate, (long long)pass->now);
            Py_XDECREF(answer);
            Py_DECREF(key);
            return answer == NULL ? -1 : 0;
        }
        failed = row == -2;
    }
    if (failed) {
        Py_DECREF(key);
        return -1;
    }
    if (known != NULL) {
        PyObject *none = number(-1), *last = number(row);
        failed = none == NULL || last == NULL || PyList_SetItem(known, ORIGIN, none) < 0 ||
                 PyList_SetItem(known, PARTS, last) < 0 || add_up(known, value) < 0;
        Py_DECREF(key);
        return failed ? -1 : 0;
    }
    if (PyArray_CheckExact(value) && (shared || PyArray_BASE((PyArrayObject *)value) != NULL))
        value = PyArray_NewCopy((PyArrayObject *)value, NPY_CORDER);
    else
        Py_INCREF(value);
    arrival = value == NULL ? NULL : arrival_of(leaf, value, row);
    failed = arrival == NULL || PyDict_SetItem(pass->leaves, key, arrival) < 0;
    Py_XDECREF(arrival);
    Py_XDECREF(value);
    Py_DECREF(key);
    return failed ? -1 : 0;
}

/* The result of a rule, brought to the shape of the input that it is for; takes it over. */
static PyObject *fitted(PyObject *result, PyObject *shapes, Py_ssize_t place)
{
    if (result == NULL || shapes == Py_None || result == Py_None)
        return result;
    PyObject *shape = PyTuple_GET_ITEM(shapes, place);
    if (PyArray_CheckExact(result) && has_shape((PyArrayObject *)result, shape))
        return result;
    Py_SETREF(result, PyObject_CallFunctionObjArgs(engine.unbroadcast, result, shape, NULL));
    return result;
}

/* A rule with the cotangent and one tuple of saved values. */
static PyObject *run_rule(PyObject *rule, PyObject *gradient, PyObject *saved)
{
    PyObject *given[6] = {NULL, gradient};
    Py_ssize_t count = PyTuple_Check(saved) ? PyTuple_GET_SIZE(saved) : 5;
    if (count > 4) {
        PyErr_SetString(PyExc_RuntimeError, "what a rule saved is no tuple of up to four values");
        return NULL;
    }
    for (Py_ssize_t place = 0; place < count; place++)
        given[place + 2] = PyTuple_GET_ITEM(saved, place);
    return PyObject_Vectorcall(rule, given + 1, (count + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
}

/* Whether a cotangent is of complex numbers or of half precision: then the rules are not run as they are. */
static inline int is_converted(PyObject *value)
{
    if (PyArray_CheckExact(value))
        return PyArray_DESCR((PyArrayObject *)value)->kind == 'c' || PyArray_TYPE((PyArrayObject *)value) == NPY_HALF;
    if (Py_IS_TYPE(value, &PyFloatArrType_Type) || Py_IS_TYPE(value, &PyDoubleArrType_Type)) /* most are */
        return 0;
    return PyArray_IsScalar(value, ComplexFloating) || PyArray_IsScalar(value, Half);
}

/* Whether a node is of several outputs, or one of its slots. */
static inline int is_of_several(PyObject *plan)
{
    return AT(plan, engine.special) == Py_True;
}

/* Whether a node is of the common kind, and its cotangent of real numbers. */
static inline int is_common(Pass *pass)
{
    PyObject *record = pass->record, *plan = PyList_GET_ITEM(record, PLAN), *hooks = PyList_GET_ITEM(record, HOOKS);
    if (is_converted(pass->gradient) || PyList_GET_ITEM(record, SAVED) == engine.freed_mark ||
        PyList_GET_ITEM(record, RETAINED) != Py_None || (hooks != Py_None && PyDict_GET_SIZE(hooks)))
        return 0;
    if (Py_IS_TYPE(plan, engine.plan) && !is_of_several(plan))
        return 1;
    return !RECORDS(pass->writer) && (Py_IS_TYPE(plan, engine.plan) || Py_IS_TYPE(plan, engine.slot_plan)) &&
           AT(plan, engine.custom) == Py_None;
}

/* The GRAD row of the node; -1 where it has none, -2 for an error. Python may put another cotangent in its place. */
static int64_t cotangent_row(Pass *pass)
{
    PyObject *site = PyList_GET_ITEM(pass->record, SITE), *template = NULL;
    int64_t forward = PyLong_AsLongLong(PyList_GET_ITEM(pass->record, ROW));
    if (pass->parts == Py_None && pass->origin >= 0 && forward >= pass->base && Py_IS_TYPE(site, engine.site))
        template = AT(site, engine.site_single);
    if (template != NULL && template != Py_None)
        return engine.log->append(pass->appender, template, pass->gradient,
                                  &(Moment){pass->now, 0, forward, &pass->origin, 1, -1, 0});
    PyObject *answer = PyObject_CallFunction(engine.cotangent, "OOOLOOL", pass->writer, pass->record, pass->gradient,
                                             (long long)pass->origin, pass->parts, pass->frame, (long long)pass->now);
    if (answer == NULL)
        return -2;
    int64_t row = PyLong_AsLongLong(PyTuple_GET_ITEM(answer, 0));
    Py_SETREF(pass->gradient, Py_NewRef(PyTuple_GET_ITEM(answer, 1)));
    Py_DECREF(answer);
    return row == -1 && PyErr_Occurred() ? -2 : row;
}

static int64_t index_of(PyObject *plan, Py_ssize_t place)
{
    return PyLong_AsLongLong(AT(PyTuple_GET_ITEM(AT(plan, engine.rules), place), engine.index));
}

static inline int64_t origin_of(int64_t row, PyObject *plan, Py_ssize_t place)
{
    return row < 0 ? -1 : row | index_of(plan, place) << SLOT_SHIFT;
}

/* Send the results of several rules on. */
static int deliver(Pass *pass, PyObject *plan, PyObject *targets, PyObject *shapes, PyObject *results, int64_t row)
{
    Py_ssize_t count = PyTuple_GET_SIZE(targets);
    if (PyTuple_GET_SIZE(results) < count) {
        PyErr_SetString(PyExc_RuntimeError, "an op's rules gave fewer gradients than it has inputs");
        return -1;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *target = PyTuple_GET_ITEM(targets, place), *given = PyTuple_GET_ITEM(results, place);
        if (given == Py_None)
            continue;
        PyObject *result = fitted(Py_NewRef(given), shapes, place);
        int64_t origin = origin_of(row, plan, place);
        int shared = result == pass->gradient, failed = result == NULL;
        if (!failed)
            failed = PyList_CheckExact(target) ? arrive_at_node(pass, target, result, origin)
                                               : arrive_at_leaf(pass, target, result, shared, origin);
        Py_XDECREF(result);
        if (failed)
            return -1;
    }
    return 0;
}

/* Turn to the next node that is due. */
static int next(Pass *pass)
{
    if (!PyList_GET_SIZE(pass->heap)) {
        Py_SETREF(pass->record, Py_NewRef(Py_None));
        Py_SETREF(pass->gradient, Py_NewRef(Py_None));
        Py_SETREF(pass->parts, Py_NewRef(Py_None));
        return 0;
    }
    PyObject *turn = PyObject_CallOneArg(engine.pop, pass->heap);
    PyObject *moment = turn == NULL ? NULL : number(-PyLong_AsLongLong(turn));
    PyObject *arrival = moment == NULL ? NULL : PyDict_GetItemWithError(pass->due, moment);
    int found = arrival != NULL && PyList_CheckExact(arrival) && PyList_GET_SIZE(arrival) == ARRIVAL;
    if (found) {
        Py_INCREF(arrival); /* what was there before may run code as it goes */
        Py_SETREF(pass->record, Py_NewRef(PyList_GET_ITEM(arrival, NODE)));
        Py_SETREF(pass->gradient, Py_NewRef(PyList_GET_ITEM(arrival, VALUE)));
        pass->origin = PyLong_AsLongLong(PyList_GET_ITEM(arrival, ORIGIN));
        Py_SETREF(pass->parts, Py_NewRef(PyList_GET_ITEM(arrival, PARTS)));
        found = PyDict_DelItem(pass->due, moment) == 0;
        Py_DECREF(arrival);
    }
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a node is due that nothing arrived at");
    Py_XDECREF(moment);
    Py_XDECREF(turn);
    return found ? 0 : -1;
}

/* The result of the only rule of a node. */
static PyObject *run_alone(PyObject *plan, PyObject *gradient, PyObject *saved, PyObject *attrs)
{
    PyObject *rule = AT(plan, engine.bare);
    if (rule != Py_None)
        return PyObject_CallOneArg(rule, gradient);
    rule = AT(plan, engine.single);
    if (rule != Py_None)
        return PyObject_Vectorcall(rule, (PyObject *[]){gradient, saved}, 2, NULL);
    return PyObject_Vectorcall(AT(plan, engine.gradients), (PyObject *[]){gradient, saved, attrs}, 3, NULL);
}

/* The results of a node of several outputs, or of one of its slots, and where they go, as tuples. */
static PyObject *run_specially(PyObject *plan, PyObject *record, PyObject *gradient, PyObject **targets)
{
    PyObject *results = PyObject_CallFunction(engine.specially, "OOi", record, gradient, -1);
    if (results != NULL)
        Py_SETREF(results, PySequence_Tuple(results));
    if (results != NULL)
        Py_SETREF(*targets, PyObject_CallMethodOneArg(plan, word_targets, record));
    if (results != NULL && *targets != NULL && !PyTuple_Check(*targets))
        PyErr_SetString(PyExc_TypeError, "the targets of a plan are no tuple");
    if (results != NULL && PyErr_Occurred())
        Py_CLEAR(results);
    return results;
}

/* The results of all rules of a node, as a tuple. */
static PyObject *run_several(PyObject *plan, PyObject *gradient, PyObject *saved, PyObject *attrs)
{
    PyObject *pair = AT(plan, engine.pair), *results;
    if (pair != Py_None) {
        PyObject *first = run_rule(PyTuple_GET_ITEM(pair, 0), gradient, PyTuple_GET_ITEM(saved, 0)), *second = NULL;
        if (first != NULL)
            second = run_rule(PyTuple_GET_ITEM(pair, 1), gradient, PyTuple_GET_ITEM(saved, 1));
        results = second == NULL ? NULL : PyTuple_Pack(2, first, second);
        Py_XDECREF(first);
        Py_XDECREF(second);
        return results;
    }
    results = PyObject_Vectorcall(AT(plan, engine.gradients), (PyObject *[]){gradient, saved, attrs}, 3, NULL);
    if (results != NULL && !PyTuple_Check(results))
        Py_SETREF(results, PySequence_Tuple(results));
    return results;
}

/* Send the result of a node's only rule on, which it takes over. Where nothing else waits, as in a chain, nothing is
 * queued: 1, and the target's turn has come. */
static int deliver_alone(Pass *pass, PyObject *plan, PyObject *target, PyObject *shapes, PyObject *result, int64_t row)
{
    int64_t origin = origin_of(row, plan, 0);
    int failed;
    if (result == Py_None) {
        Py_DECREF(result);
        return 0;
    }
    result = fitted(result, shapes, 0);
    if (result == NULL)
        return -1;
    if (!PyList_CheckExact(target))
        failed = arrive_at_leaf(pass, target, result, result == pass->gradient, origin);
    else if (PyDict_GET_SIZE(pass->due))
        failed = arrive_at_node(pass, target, result, origin);
    else {
        Py_SETREF(pass->record, Py_NewRef(target));
        Py_SETREF(pass->gradient, result);
        Py_SETREF(pass->parts, Py_NewRef(Py_None));
        pass->origin = origin;
        return 1;
    }
    Py_DECREF(result);
    return failed;
}

/* Run the node whose turn it is and turn to the next one. 0: it is left to Python, untouched; -1: an error is set.
 *
 * What the record holds is held here too: Python code may run in between, and other threads through the same record. */
static int run_node(Pass *pass)
{
    PyObject *record = Py_NewRef(pass->record);
    PyObject *plan = Py_NewRef(PyList_GET_ITEM(record, PLAN)), *saved = Py_NewRef(PyList_GET_ITEM(record, SAVED));
    PyObject *targets = Py_NewRef(PyList_GET_ITEM(record, TARGETS)), *attrs = Py_NewRef(PyList_GET_ITEM(record, ATTRS));
    PyObject *shapes = Py_NewRef(PyList_GET_ITEM(record, SHAPES)), *results;
    int state = -1, recorded = RECORDS(pass->writer), alone = AT(plan, engine.alone) == Py_True;
    int64_t row = -1, start = 0;
    PyObject *last = PyDict_GetItemWithError(engine.writes, word_last);
    if (last == NULL || !PyLong_Check(last)) {
        state = PyErr_Occurred() ? -1 : 0;
        goto done;
    }
    if (PyErr_CheckSignals() < 0)
        goto done;
    if (PyLong_AsLongLong(PyList_GET_ITEM(record, MOMENT)) < PyLong_AsLongLong(last)) {
        PyObject *untouched = PyObject_CallOneArg(engine.check_untouched, record);
        if (untouched == NULL)
            goto done;
        Py_DECREF(untouched);
    }
    if (recorded) {
        PyObject *gate = PyObject_GetAttr(pass->writer, word_gate);
        Py_XDECREF(gate); /* the writer holds it */
        if (gate != Py_None) {
            state = gate == NULL ? -1 : 0;
            goto done;
        }
        row = cotangent_row(pass);
        if (row == -2)
            goto done;
        start = engine.log->now();
    }
    if (alone)
        results = run_alone(plan, pass->gradient, saved, attrs);
    else if (is_of_several(plan))
        results = run_specially(plan, record, pass->gradient, &targets);
    else
        results = run_several(plan, pass->gradient, saved, attrs);
    if (results == NULL)
        goto done;
    if (recorded)
        pass->now = row < 0 ? start : engine.log->finish(pass->appender, row, start);
    if (!pass->keeps_graph)
        PyList_SetItem(record, SAVED, Py_NewRef(AT(plan, engine.freed)));
    if (alone)
        state = deliver_alone(pass, plan, targets, shapes, results, row);
    else {
        state = deliver(pass, plan, targets, shapes, results, row);
        Py_DECREF(results);
    }
    if (state == 0)
        state = next(pass) < 0 ? -1 : 1;
done:
    Py_DECREF(record);
    Py_DECREF(plan);
    Py_DECREF(saved);
    Py_XDECREF(targets);
    Py_DECREF(attrs);
    Py_DECREF(shapes);
    return state;
}

/* sweep(due, heap, leaves, record, gradient, origin, parts, now, retain_graph, accumulate, writer, frame):
 * (record, gradient, origin, parts, now) of the first node that is not common, or with a record of None at the end. */
static PyObject *sweep(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 12 || !PyDict_CheckExact(args[0]) || !PyList_CheckExact(args[1]) || !PyDict_CheckExact(args[2])) {
        PyErr_SetString(PyExc_TypeError, "sweep(due, heap, leaves, record, gradient, origin, parts, now, retain_graph, "
                                         "accumulate, writer, frame)");
        return NULL;
    }
    Pass pass = {.due = args[0], .heap = args[1], .leaves = args[2], .writer = args[10], .frame = args[11],
                 .accumulate = args[9], .now = PyLong_AsLongLong(args[7]), .keeps_graph = PyObject_IsTrue(args[8]),
                 .record = Py_NewRef(args[3]), .gradient = Py_NewRef(args[4]), .parts = Py_NewRef(args[6]),
                 .origin = PyLong_AsLongLong(args[5])};
    PyObject *answer = NULL;
    int common = 1;
    if (RECORDS(pass.writer)) {
        PyObject *base = PyObject_GetAttr(pass.writer, word_base);
        pass.base = base == NULL ? -1 : PyLong_AsLongLong(base);
        Py_XDECREF(base);
        pass.appender = PyObject_GetAttr(pass.writer, word_append);
        common = pass.appender != NULL && engine.log != NULL && Py_IS_TYPE(pass.appender, engine.log->appender);
    }
    int state = PyErr_Occurred() ? -1 : 1;
    while (common && state == 1 && pass.record != Py_None && is_common(&pass))
        state = run_node(&pass);
    if (state >= 0)
        answer = Py_BuildValue("OOLOL", pass.record, pass.gradient, (long long)pass.origin, pass.parts,
                               (long long)pass.now);
    Py_DECREF(pass.record);
    Py_DECREF(pass.gradient);
    Py_DECREF(pass.parts);
    Py_XDECREF(pass.appender);
    return answer;
}

/* prepare(...): what all passes share, by name. */
static PyObject *prepare(PyObject *module, PyObject *args, PyObject *names)
{
    static char *words[] = {"plan",   "slot_plan", "rule",            "site",        "templates", "tensor",
                            "writes", "freed",     "check_untouched", "unbroadcast", "cotangent", "add",
                            "arrive_at_leaf", "push", "pop", "specially", NULL};
    PyTypeObject *plan, *slot_plan, *rule, *site, *templates, *tensor;
    PyObject *writes, *others[9];
    if (!PyArg_ParseTupleAndKeywords(args, names, "$O!O!O!O!O!O!O!OOOOOOOOO", words, &PyType_Type, &plan, &PyType_Type,
                                     &slot_plan, &PyType_Type, &rule, &PyType_Type, &site, &PyType_Type, &templates,
                                     &PyType_Type, &tensor, &PyModule_Type, &writes, others, others + 1, others + 2,
                                     others + 3, others + 4, others + 5, others + 6, others + 7, others + 8))
        return NULL;
    struct {
        Py_ssize_t *offset;
        PyTypeObject *type;
        const char *name;
    } slots[] = {
        {&engine.alone, plan, "alone"},
        {&engine.bare, plan, "bare"},
        {&engine.single, plan, "single"},
        {&engine.pair, plan, "pair"},
        {&engine.gradients, plan, "gradients"},
        {&engine.freed, plan, "freed"},
        {&engine.special, plan, "special"},
        {&engine.custom, plan, "custom"},
        {&engine.rules, plan, "rules"},
        {&engine.index, rule, "index"},
        {&engine.site_single, site, "single"},
        {&engine.row, tensor, "row"},
        {&engine.fresh, templates, "fresh"},
        {&engine.more, templates, "more"},
        {&engine.templates_writer, templates, "writer"},
        {&engine.templates_dtype, templates, "dtype"},
        {&engine.templates_shape, templates, "shape"},
    };
    for (size_t place = 0; place < Py_ARRAY_LENGTH(slots); place++)
        if ((*slots[place].offset = slot_offset(slots[place].type, slots[place].name)) < 0)
            return NULL;
    engine.log = append_api();
    engine.plan = (PyTypeObject *)Py_NewRef(plan);
    engine.slot_plan = (PyTypeObject *)Py_NewRef(slot_plan);
    engine.site = (PyTypeObject *)Py_NewRef(site);
    engine.templates = (PyTypeObject *)Py_NewRef(templates);
    engine.writes = Py_NewRef(PyModule_GetDict(writes));
    PyObject **places[] = {&engine.freed_mark, &engine.check_untouched, &engine.unbroadcast,    &engine.cotangent,
                           &engine.add,        &engine.arrive_at_leaf,  &engine.push,           &engine.pop,
                           &engine.specially};
    for (size_t place = 0; place < Py_ARRAY_LENGTH(places); place++)
        *places[place] = Py_NewRef(others[place]);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"prepare", (PyCFunction)(void (*)(void))prepare, METH_VARARGS | METH_KEYWORDS, "Give what all passes share."},
    {"sweep", (PyCFunction)(void (*)(void))sweep, METH_FASTCALL, "Run the nodes of the common kind."},
    {NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_backward", "The backward pass, compiled.", -1, functions};

PyMODINIT_FUNC PyInit__backward(void)
{
    import_array();
    struct {
        PyObject **word;
        const char *text;
    } words[] = {{&word_last, "last"},     {&word_gate, "gate"}, {&word_append, "append"},
                 {&word_base, "base"},     {&word_grad, "gradient"}, {&word_templates, "accumulate_templates"},
                 {&word_targets, "targets"}};
    for (size_t place = 0; place < Py_ARRAY_LENGTH(words); place++)
        if ((*words[place].word = PyUnicode_InternFromString(words[place].text)) == NULL)
            return NULL;
    return PyModule_Create(&module_definition);
}
