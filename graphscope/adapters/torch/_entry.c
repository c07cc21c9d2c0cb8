/* The entry of the engine: a backward pass of the common kind, with its marks and the walk before it.
 *
 * It does what `Backward.wrapped` does, and leaves to that whatever is not common: passes that are nested, ask for some
 * gradients alone or create a graph, roots that are leaves or unknown, a debugger at the gate, replicas of DDP, modes,
 * leaves with hooks.
 */
#include "_adapter.h"

enum { MOST_ROOTS = INLINE_INPUTS };

#define HELD(X)                                                                                                        \
    X(slow) X(original) X(session) X(writer) X(places) X(leaves) X(replicas) X(hooked) X(sharded) X(marks) X(make) X(node_class) X(table)   \
    X(fields) X(op_names) X(inside) X(push) X(pop) X(sweep) X(failed) X(passed)

#define DECLARE(name) PyObject *name;
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Frames frames;
    HELD(DECLARE)
} Entry;

/* What is known of a pass before it runs. */
typedef struct {
    Place *place;
    PyFrameObject *frame;
    PyObject *append, *roots, *marks; /* the nodes that it begins at; the templates of its two marks, and so on */
    PyObject *loss;                   /* the value that the first mark has, or None */
    int64_t rows[MOST_ROOTS];         /* of those nodes' calls */
    int count;
} Plan;

static void forget_plan(Plan *plan)
{
    Py_XDECREF((PyObject *)plan->place);
    Py_XDECREF((PyObject *)plan->frame);
    Py_XDECREF(plan->append);
    Py_XDECREF(plan->roots);
    Py_XDECREF(plan->marks);
    Py_XDECREF(plan->loss);
}

/* Whether an attribute is an empty list. */
static int is_empty(PyObject *object, Slot *slot)
{
    PyObject *list = get(object, slot);
    int empty = list != NULL && PyList_CheckExact(list) && PyList_GET_SIZE(list) == 0;
    Py_XDECREF(list);
    return empty;
}

/* The nodes and rows that a pass begins at; whether all are of the common kind. */
static int find_roots(Entry *self, PyObject *outputs, Plan *plan)
{
    plan->count = (int)PyTuple_GET_SIZE(outputs);
    plan->roots = PyList_New(plan->count);
    for (int place = 0; plan->roots != NULL && place < plan->count; place++) {
        PyObject *output = PyTuple_GET_ITEM(outputs, place);
        Known *known = known_at((Table *)self->table, output);
        if (known == NULL || referent(known->reference) != output || !is_ordinary(output) || is_overridden(output) != 0)
            return 0;
        plan->rows[place] = known->row;
        PyObject *node = ask(output, GRAD_FN);
        if (is_nothing(node)) {
            Py_XDECREF(node);
            return 0;
        }
        PyList_SET_ITEM(plan->roots, place, node);
    }
    return plan->roots != NULL;
}

/* Whether the log has what the program gives a pass to begin with: then its mark is to name that. */
static int is_given(Entry *self, PyObject *cotangents)
{
    if (!PyTuple_CheckExact(cotangents))
        return 1;
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(cotangents); place++) {
        PyObject *cotangent = PyTuple_GET_ITEM(cotangents, place);
        Known *known = known_at((Table *)self->table, cotangent);
        if (known != NULL && referent(known->reference) == cotangent)
            return 1;
    }
    return 0;
}

/* The templates of the marks of a pass, a new reference; NULL where it begins here for the first time. */
static PyObject *marks_of(Entry *self, const Plan *plan)
{
    PyCodeObject *code = PyFrame_GetCode(plan->frame);
    PyObject *key = Py_BuildValue("NiiOO", PyLong_FromVoidPtr(code), PyFrame_GetLasti(plan->frame), plan->count,
                                  plan->place->context, Py_False); /* not limited to the gradients asked for */
    PyObject *marks = key == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(self->marks, key));
    Py_XDECREF(key);
    if (marks != NULL && !(PyTuple_Check(marks) && PyTuple_GET_SIZE(marks) == 4 &&
                           is_reference_to(PyTuple_GET_ITEM(marks, 2), (PyObject *)code)))
        Py_CLEAR(marks); /* of another code that lay there */
    Py_DECREF(code);
    return marks;
}

/* The loss, where the first mark has it; 0 where the mark is for another root, or a scaled one: Python divides it. */
static int find_loss(Entry *self, Plan *plan, PyObject *root)
{
    PyObject *site = PyTuple_GET_ITEM(plan->marks, 3);
    if (site == Py_None || !PyObject_TypeCheck(site, site_type)) {
        plan->loss = Py_NewRef(Py_None);
        return 1;
    }
    PyObject *sampling = get(self->writer, &slot_sampling);
    int is_scaled = sampling == NULL || scale_of(sampling, root) != 1;
    Py_XDECREF(sampling);
    plan->loss = is_scaled ? NULL : site_value(site, root);
    return plan->loss != NULL && plan->loss != Py_NotImplemented;
}

/* Whether a pass is of the common kind. */
static int is_common(Entry *self, PyObject *const *words, Py_ssize_t count, Plan *plan)
{
    if (count != 5 || !PyTuple_CheckExact(words[0]) || PyTuple_GET_SIZE(words[0]) == 0 ||
        PyTuple_GET_SIZE(words[0]) > MOST_ROOTS || words[3] != Py_False || !PyTuple_CheckExact(words[4]) ||
        PyTuple_GET_SIZE(words[4]) != 0)
        return 0;
    Place *place = plan->place = (Place *)PyObject_GetAttr(self->places, str_here);
    if (place == NULL || !PyObject_TypeCheck((PyObject *)place, place_type) || place->busy || !place->thread ||
        !is_nothing(place->run) || is_nothing(place->calls) || is((PyObject *)place, &slot_line_calls, Py_None) != 1 ||
        is(self->session, &slot_ended, Py_False) != 1 || is(self->writer, &slot_gate, Py_None) != 1 ||
        PyList_GET_SIZE(self->replicas) != 0 || PyList_GET_SIZE(self->hooked) != 0 ||
        PyList_GET_SIZE(self->sharded) != 0 || !is_empty(self->leaves, &slot_expected))
        return 0;
    plan->append = get(self->writer, &slot_append);
    if (plan->append == NULL || appending == NULL || !Py_IS_TYPE(plan->append, appending->appender) ||
        (plan->frame = program_frame(&self->frames)) == NULL || !find_roots(self, words[0], plan) ||
        is_given(self, words[1]))
        return 0;
    plan->marks = marks_of(self, plan);
    return plan->marks != NULL && find_loss(self, plan, PyTuple_GET_ITEM(words[0], 0));
}

/* Append the mark at one end of a pass. */
static int mark(const Plan *plan, int end)
{
    Moment moment = {now(), 0, 0, plan->rows, plan->count, -1, 0};
    PyObject *template = PyTuple_GET_ITEM(plan->marks, end), *loss = PyTuple_GET_ITEM(plan->marks, 3);
    int valued = !end && plan->loss != Py_None;
    return appending->append(plan->append, valued ? ((Site *)loss)->template : template, valued ? plan->loss : Py_None,
                             &moment) < 0
               ? -1
               : 0;
}

/* The roots that others of the pass feed, too: what the program gives them is one contribution of several. */
static int receive_cotangents(const Plan *plan, const Walk *walk, PyObject *cotangents)
{
    for (int place = 0; place < plan->count; place++) {
        Rule *rule = rule_met(walk, PyList_GET_ITEM(plan->roots, place));
        if (rule == NULL || is_nothing(rule->parts) || PySequence_Size(cotangents) <= place)
            continue;
        PyObject *cotangent = PySequence_GetItem(cotangents, place), *origin = PyLong_FromLong(0), *told = Py_None;
        if (cotangent != NULL && origin != NULL && cotangent != Py_None) {
            told = PyObject_CallMethodObjArgs((PyObject *)rule, str_receive, cotangent, origin, walk->run, NULL);
            Py_XDECREF(told);
        }
        Py_XDECREF(cotangent);
        Py_XDECREF(origin);
        if (told == NULL || cotangent == NULL || origin == NULL)
            return -1;
    }
    return 0;
}

/* Append the first mark and hook what the pass goes through. */
static int begin(Entry *self, const Plan *plan, Walk *walk, PyObject *cotangents)
{
    walk->leaves = (Leaves){self->node_class, self->fields, (Table *)self->table, self->op_names};
    walk->base = number(self->writer, &slot_base);
    int failed = PyErr_Occurred() || mark(plan, 0) < 0 || walk_from(walk, plan->roots) < 0 ||
                 receive_cotangents(plan, walk, cotangents) < 0;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    leave_nodes(walk);
    PyErr_Restore(type, error, trace);
    return failed ? -1 : 0;
}

/* The scope of a place, on the backward pass. */
static PyObject *on_backward(PyObject *context)
{
    PyObject *twin = get(context, &slot_twin);
    if (twin != Py_None)
        return twin;
    Py_DECREF(twin);
    return PyObject_CallMethodNoArgs(context, str_on_backward);
}

int give_up(PyObject *told, PyObject *session)
{
    if (is_interrupted())
        return -1;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace != NULL)
        PyException_SetTraceback(error, trace);
    PyObject *answer = PyObject_CallFunctionObjArgs(told, session, error, NULL);
    if (answer == NULL)
        put_off();
    Py_XDECREF(answer);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return 0;
}

/* Run the engine, with the place of the thread in the pass meanwhile. */
static PyObject *run_engine(Entry *self, Run *run, PyObject *context, PyObject *const *words, size_t flags,
                            PyObject *names)
{
    Place *place = (Place *)run->place;
    PyObject *outer = Py_NewRef(place->context), *result = NULL;
    int64_t row = place->backward_row;
    put(&place->context, context);
    put(&place->run, (PyObject *)run);
    PyObject *mode = get(place->calls, &slot_mode);
    PyObject *pushed = mode == NULL ? NULL : PyObject_CallOneArg(self->push, mode);
    Py_XDECREF(mode);
    if (pushed != NULL)
        result = PyObject_Vectorcall(self->original, words, flags, names);
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    if (pushed != NULL) {
        int ended = is(self->session, &slot_ended, Py_True) == 1; /* then nobody knows which of ours are still there */
        PyObject *popped = PyObject_CallNoArgs(ended ? self->sweep : self->pop);
        Py_XDECREF(popped);
        put_off();
        Py_DECREF(pushed);
    }
    ask_again();
    turn(run);
    put(&place->context, outer);
    put(&place->run, Py_None);
    place->backward_row = row;
    Py_DECREF(outer);
    PyErr_Restore(type, error, trace);
    return result;
}

/* Hold nothing of a pass that is over. */
static void let_go(Run *run, Walk *walk)
{
    for (Py_ssize_t place = 0; place < walk->count; place++)
        settle_rule(walk->met[place].rule, (PyObject *)run);
    end_walk(walk);
    Py_CLEAR(run->held);
    Py_CLEAR(run->frame);
}

static PyObject *run_pass(Entry *self, Plan *plan, PyObject *const *words, size_t flags, PyObject *names)
{
    Place *place = plan->place;
    PyObject *inner = on_backward(place->context), *result = NULL;
    Run *run = inner == NULL ? NULL : (Run *)run_type->tp_alloc(run_type, 0);
    if (run == NULL) {
        Py_XDECREF(inner);
        return NULL;
    }
    put(&run->place, (PyObject *)place);
    put(&run->writer, self->writer);
    put(&run->append, plan->append);
    put(&run->frame, (PyObject *)plan->frame);
    put(&run->held, plan->roots);
    Walk walk = {.run = (PyObject *)run, .session = self->session, .make = self->make};
    int begun = begin(self, plan, &walk, words[1]) == 0 || give_up(self->failed, self->session) == 0;
    if (begun)
        result = run_engine(self, run, inner, words, flags, names);
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    let_go(run, &walk);
    if (begun && mark(plan, 1) < 0 && give_up(self->failed, self->session) < 0) {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
        Py_CLEAR(result);
    }
    else
        PyErr_Restore(type, error, trace);
    if (result != NULL && is(self->writer, &slot_gate, Py_None) == 0) { /* a debugger came during the pass */
        PyObject *looked = PyObject_CallFunctionObjArgs(self->passed, self->session, (PyObject *)plan->frame, NULL);
        if (looked == NULL)
            Py_CLEAR(result);
        Py_XDECREF(looked);
    }
    Py_DECREF(inner);
    Py_DECREF((PyObject *)run);
    return result;
}

/* _engine_run_backward(outputs, cotangents, keep, create_graph, inputs, ...) */
static PyObject *Entry_call(PyObject *object, PyObject *const *words, size_t flags, PyObject *names)
{
    Entry *self = (Entry *)object;
    Plan plan = {0};
    PyObject *result;
    if (is_common(self, words, PyVectorcall_NARGS(flags), &plan))
        result = run_pass(self, &plan, words, flags, names);
    else {
        put_off();
        result = PyObject_Vectorcall(self->slow, words, flags, names);
    }
    forget_plan(&plan);
    return result;
}

static int Entry_init(Entry *self, PyObject *args, PyObject *names)
{
    TAKE_BY_NAME(Entry, HELD)
    if (!PyDict_Check(self->marks) || !Py_IS_TYPE(self->table, table_type) || !PyDict_Check(self->op_names) ||
        !PyDict_Check(self->inside) || !PyList_Check(self->replicas) ||
        !PyList_Check(self->hooked) || !PyList_Check(self->sharded)) {
        PyErr_SetString(PyExc_TypeError, "marks, op_names, inside: dicts; table: a Table; replicas, hooked, sharded: lists");
        return -1;
    }
    self->frames.inside = self->inside;
    self->vectorcall = Entry_call;
    return 0;
}

HOLDS(Entry, HELD)

static void Entry_end(Entry *self)
{
    forget_frames(&self->frames);
    Entry_dealloc(self);
}

static PyMemberDef Entry_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Entry, vectorcall), READONLY, NULL}, {NULL}};

static PyType_Slot Entry_slots[] = {{Py_tp_doc, "What torch calls to run its engine."},
                                    {Py_tp_new, PyType_GenericNew},
                                    {Py_tp_init, Entry_init},
                                    {Py_tp_call, PyVectorcall_Call},
                                    {Py_tp_dealloc, Entry_end},
                                    {Py_tp_traverse, Entry_traverse},
                                    {Py_tp_clear, Entry_clear},
                                    {Py_tp_members, Entry_members},
                                    {0, NULL}};

static PyType_Spec Entry_spec = {"graphscope.adapters.torch._calls.Entry", sizeof(Entry), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, Entry_slots};

int add_entry(PyObject *module)
{
    PyObject *entry = PyType_FromSpec(&Entry_spec);
    int failed = entry == NULL || PyModule_AddObjectRef(module, "Entry", entry) < 0;
    Py_XDECREF(entry);
    return failed ? -1 : 0;
}
