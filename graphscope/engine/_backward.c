/* The backward pass, compiled: what the loop of `autograd.run_backward` does, for the nodes of the common kind.
 *
 * The Python loop is the specification, and both work on the same queue: `sweep` takes nodes while they are common and
 * hands the first other one back (of several outputs, with hooks, freed, retained, or while a debugger waits at nodes).
 */
#include "_engine.h"

/* Places in an arrival: see `cotangents.py`. */
enum { NODE, VALUE, ORIGIN, PARTS, OWNED, ARRIVAL };

static const int SLOT_SHIFT = 48; /* as in schema.py */

/* What all passes share, given once by `prepare`. */
static struct {
    Py_ssize_t alone, bare, single, pair, gradients, freed, special, rules, index, site_single;
    Py_ssize_t row, fresh, more, templates_writer, templates_dtype, templates_shape;
    PyTypeObject *plan, *site, *templates;
    PyObject *writes; /* the dictionary of the module whose `last` is the moment of the newest write */
    PyObject *freed_mark;
    PyObject *check_untouched, *unbroadcast, *cotangent, *add, *arrive_at_leaf, *push, *pop;
    const AppendAPI *log;
} engine;

static PyObject *word_last, *word_gate, *word_append, *word_base, *word_grad, *word_templates;

/* A pass on its way. */
typedef struct {
    PyObject *due, *heap, *leaves, *writer, *appender, *frame, *accumulate;
    int64_t base, now;
    int keeps_graph;
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
        if (pass->writer == Py_None)
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
    row = engine.log->append(pass->appender, template, value, pass->now, (int64_t[]){from, origin, 0, 0});
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
    if (!failed && pass->writer != Py_None && pass->accumulate == Py_True) {
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
        PyObject *none = number(-1);
        failed = none == NULL || PyList_SetItem(known, ORIGIN, none) < 0 || add_up(known, value) < 0;
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

/* Whether a node is of the common kind. */
static inline int is_common(PyObject *record)
{
    PyObject *plan = PyList_GET_ITEM(record, PLAN);
    return Py_IS_TYPE(plan, engine.plan) && PyList_GET_ITEM(record, SAVED) != engine.freed_mark &&
           PyList_GET_ITEM(record, HOOKS) == Py_None && PyList_GET_ITEM(record, RETAINED) == Py_None &&
           AT(plan, engine.special) == Py_False;
}

/* The GRAD row of a node; -1 where it has none, -2 for an error. Python may put another cotangent in its place. */
static int64_t cotangent_row(Pass *pass, PyObject *record, PyObject **gradient, int64_t origin, PyObject *parts)
{
    PyObject *site = PyList_GET_ITEM(record, SITE), *template = NULL;
    int64_t forward = PyLong_AsLongLong(PyList_GET_ITEM(record, ROW));
    if (parts == Py_None && origin >= 0 && forward >= pass->base && Py_IS_TYPE(site, engine.site))
        template = AT(site, engine.site_single);
    if (template != NULL && template != Py_None)
        return engine.log->append(pass->appender, template, *gradient, pass->now, (int64_t[]){forward, origin, 0, 0});
    PyObject *answer = PyObject_CallFunction(engine.cotangent, "OOOLOOL", pass->writer, record, *gradient,
                                             (long long)origin, parts, pass->frame, (long long)pass->now);
    if (answer == NULL)
        return -2;
    int64_t row = PyLong_AsLongLong(PyTuple_GET_ITEM(answer, 0));
    Py_SETREF(*gradient, Py_NewRef(PyTuple_GET_ITEM(answer, 1)));
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

/* Send the results of a node on. */
static int deliver(Pass *pass, PyObject *record, PyObject *gradient, PyObject *results, int64_t row)
{
    PyObject *plan = PyList_GET_ITEM(record, PLAN), *targets = PyList_GET_ITEM(record, TARGETS);
    PyObject *shapes = PyList_GET_ITEM(record, SHAPES);
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
        int failed = result == NULL || (PyList_CheckExact(target)
                                            ? arrive_at_node(pass, target, result, origin)
                                            : arrive_at_leaf(pass, target, result, result == gradient, origin)) < 0;
        Py_XDECREF(result);
        if (failed)
            return -1;
    }
    return 0;
}

/* The next node that is due, as new references; the record is None where there is none. */
static int next(Pass *pass, PyObject **record, PyObject **gradient, int64_t *origin, PyObject **parts)
{
    Py_CLEAR(*gradient);
    Py_CLEAR(*parts);
    if (!PyList_GET_SIZE(pass->heap)) {
        Py_XSETREF(*record, Py_NewRef(Py_None));
        *gradient = Py_NewRef(Py_None);
        *parts = Py_NewRef(Py_None);
        return 0;
    }
    PyObject *turn = PyObject_CallOneArg(engine.pop, pass->heap);
    PyObject *moment = turn == NULL ? NULL : number(-PyLong_AsLongLong(turn));
    PyObject *arrival = moment == NULL ? NULL : PyDict_GetItemWithError(pass->due, moment);
    int found = arrival != NULL && PyList_CheckExact(arrival) && PyList_GET_SIZE(arrival) == ARRIVAL;
    if (found) {
        Py_XSETREF(*record, Py_NewRef(PyList_GET_ITEM(arrival, NODE)));
        *gradient = Py_NewRef(PyList_GET_ITEM(arrival, VALUE));
        *origin = PyLong_AsLongLong(PyList_GET_ITEM(arrival, ORIGIN));
        *parts = Py_NewRef(PyList_GET_ITEM(arrival, PARTS));
        found = PyDict_DelItem(pass->due, moment) == 0;
    }
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a node is due that nothing arrived at");
    Py_XDECREF(moment);
    Py_XDECREF(turn);
    return found ? 0 : -1;
}

/* One node of a single rule whose gradient goes to the only node that is due: nothing needs to be queued. */
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

/* The results of all rules of a node, as a tuple. */
static PyObject *run_several(PyObject *plan, PyObject *gradient, PyObject *saved, PyObject *attrs)
{
    PyObject *pair = AT(plan, engine.pair), *results;
    if (pair != Py_None) {
        PyObject *first = run_rule(PyTuple_GET_ITEM(pair, 0), gradient, PyTuple_GET_ITEM(saved, 0));
        PyObject *second = first == NULL ? NULL : run_rule(PyTuple_GET_ITEM(pair, 1), gradient, PyTuple_GET_ITEM(saved, 1));
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
                 .accumulate = args[9], .now = PyLong_AsLongLong(args[7]), .keeps_graph = args[8] == Py_True};
    PyObject *record = Py_NewRef(args[3]), *gradient = Py_NewRef(args[4]), *parts = Py_NewRef(args[6]), *answer = NULL;
    int64_t origin = PyLong_AsLongLong(args[5]);
    int recorded = pass.writer != Py_None;
    if (recorded) {
        PyObject *base = PyObject_GetAttr(pass.writer, word_base);
        pass.base = base == NULL ? -1 : PyLong_AsLongLong(base);
        Py_XDECREF(base);
        pass.appender = PyObject_GetAttr(pass.writer, word_append);
    }
    int common = !PyErr_Occurred() &&
                 (!recorded || (engine.log != NULL && Py_IS_TYPE(pass.appender, engine.log->appender)));
    while (common && record != Py_None && is_common(record)) {
        PyObject *plan = PyList_GET_ITEM(record, PLAN), *saved = PyList_GET_ITEM(record, SAVED);
        PyObject *targets = PyList_GET_ITEM(record, TARGETS), *attrs = PyList_GET_ITEM(record, ATTRS);
        PyObject *last = PyDict_GetItemWithError(engine.writes, word_last);
        if (last == NULL || PyErr_CheckSignals() < 0)
            break;
        if (PyLong_AsLongLong(PyList_GET_ITEM(record, MOMENT)) < PyLong_AsLongLong(last)) {
            PyObject *untouched = PyObject_CallOneArg(engine.check_untouched, record);
            if (untouched == NULL)
                break;
            Py_DECREF(untouched);
        }
        int64_t row = -1, start = 0;
        if (recorded) {
            PyObject *gate = PyObject_GetAttr(pass.writer, word_gate);
            Py_XDECREF(gate); /* the writer holds it */
            if (gate != Py_None)
                break;
            row = cotangent_row(&pass, record, &gradient, origin, parts);
            if (row == -2)
                break;
            start = engine.log->now();
        }
        int alone = AT(plan, engine.alone) == Py_True, failed = 0;
        Py_INCREF(plan); /* another thread may go through the same record */
        Py_INCREF(saved);
        PyObject *results =
            alone ? run_alone(plan, gradient, saved, attrs) : run_several(plan, gradient, saved, attrs);
        Py_DECREF(saved);
        if (results != NULL && recorded)
            pass.now = row < 0 ? start : engine.log->finish(pass.appender, row, start);
        if (results != NULL && !pass.keeps_graph)
            PyList_SetItem(record, SAVED, Py_NewRef(AT(plan, engine.freed)));
        Py_DECREF(plan); /* the record holds it, or its like */
        if (results == NULL)
            break;
        Py_INCREF(targets);
        if (!alone)
            failed = deliver(&pass, record, gradient, results, row) < 0;
        else if (results != Py_None) {
            results = fitted(results, PyList_GET_ITEM(record, SHAPES), 0);
            int64_t from = origin_of(row, plan, 0);
            if (results == NULL)
                failed = 1;
            else if (PyList_CheckExact(targets) && !PyDict_GET_SIZE(pass.due)) {
                Py_SETREF(record, targets); /* nothing else waits: this one's turn has come */
                Py_SETREF(gradient, results);
                Py_SETREF(parts, Py_NewRef(Py_None));
                origin = from;
                continue;
            }
            else if (PyList_CheckExact(targets))
                failed = arrive_at_node(&pass, targets, results, from) < 0;
            else
                failed = arrive_at_leaf(&pass, targets, results, results == gradient, from) < 0;
        }
        Py_DECREF(targets);
        Py_XDECREF(results);
        if (failed || next(&pass, &record, &gradient, &origin, &parts) < 0)
            break;
    }
    if (!PyErr_Occurred())
        answer = Py_BuildValue("OOLOL", record, gradient, (long long)origin, parts, (long long)pass.now);
    Py_XDECREF(record);
    Py_XDECREF(gradient);
    Py_XDECREF(parts);
    Py_XDECREF(pass.appender);
    return answer;
}

/* prepare(...): what all passes share, by name. */
static PyObject *prepare(PyObject *module, PyObject *args, PyObject *names)
{
    static char *words[] = {"plan",        "rule",      "site",     "templates",      "tensor", "writes", "freed",
                            "check_untouched", "unbroadcast", "cotangent", "add", "arrive_at_leaf", "push",   "pop", NULL};
    PyTypeObject *plan, *rule, *site, *templates, *tensor;
    PyObject *writes, *others[8];
    if (!PyArg_ParseTupleAndKeywords(args, names, "$O!O!O!O!O!O!OOOOOOOO", words, &PyType_Type, &plan, &PyType_Type,
                                     &rule, &PyType_Type, &site, &PyType_Type, &templates, &PyType_Type, &tensor,
                                     &PyModule_Type, &writes, others, others + 1, others + 2, others + 3, others + 4,
                                     others + 5, others + 6, others + 7))
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
    engine.site = (PyTypeObject *)Py_NewRef(site);
    engine.templates = (PyTypeObject *)Py_NewRef(templates);
    engine.writes = Py_NewRef(PyModule_GetDict(writes));
    PyObject **places[] = {&engine.freed_mark, &engine.check_untouched, &engine.unbroadcast,    &engine.cotangent,
                           &engine.add,        &engine.arrive_at_leaf,  &engine.push, &engine.pop};
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
                 {&word_base, "base"},     {&word_grad, "grad"}, {&word_templates, "accumulate_templates"}};
    for (size_t place = 0; place < Py_ARRAY_LENGTH(words); place++)
        if ((*words[place].word = PyUnicode_InternFromString(words[place].text)) == NULL)
            return NULL;
    return PyModule_Create(&module_definition);
}
